"""~/desired_pose, ~/desired_twist, ~/desired_wrench: taken by the loop, in turn."""

from collections.abc import Callable

import numpy as np
from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
from numpy.typing import NDArray
from rclpy.node import Node

from ur_admittance.control import AdmittanceController
from ur_admittance.errors import UrAdmittanceError
from ur_admittance.params import Parameters
from ur_admittance.robots.ros.cdr import Malformed, Reader
from ur_admittance.robots.ros.known_frames import pose_from_quaternion
from ur_admittance.robots.ros.polled import NEWEST, Polled

Array = NDArray[np.float64]


class References:
    """Poses and twists are in the base frame, wrenches in control axes; another frame_id is refused, not converted.
    Twists and wrenches end when they are not renewed. Stamps are not looked at: other computers have other clocks."""

    def __init__(self, node: Node, base_link: str, tcp_frame: str) -> None:
        """tcp_frame: name of the TCP's frame, empty: it has none."""
        self.base_link, self._tcp_frame = base_link, tcp_frame
        self.refused = ""
        self._node = node
        self._inputs: list[tuple[Polled, Callable[[AdmittanceController, bytes], None]]] = [
            (Polled(node, PoseStamped, "~/desired_pose", NEWEST), self._pose),
            (Polled(node, TwistStamped, "~/desired_twist", NEWEST), self._twist),
            (Polled(node, WrenchStamped, "~/desired_wrench", NEWEST), self._wrench),
        ]
        self._turn = 0

    def poll(self, controller: AdmittanceController) -> None:
        """In the loop's thread, one topic at a time. Never raises."""
        self._turn = (self._turn + 1) % 3
        polled, use = self._inputs[self._turn]
        data = polled.take()
        if data is not None:
            try:
                use(controller, data)
            except UrAdmittanceError as error:
                self.refused = f"{polled.topic}: {error}"

    def _pose(self, controller: AdmittanceController, data: bytes) -> None:
        reader = self._in_base(data)
        numbers = reader.doubles(7)
        pose = pose_from_quaternion(numbers[:3], numbers[3:])
        if pose is None:
            raise Malformed(f"pose {np.round(numbers, 4).tolist()}: must be finite, with a unit quaternion (x y z w).")
        controller.set_target_pose(pose.position, pose.rotation)

    def _twist(self, controller: AdmittanceController, data: bytes) -> None:
        controller.set_reference_twist(self._in_base(data).doubles(6))

    def _wrench(self, controller: AdmittanceController, data: bytes) -> None:
        p = controller.parameters
        name = control_axes(p, self._tcp_frame)
        reader = _in_frame(data, name, f" for the axes of control_frame = {p.control_frame}")
        controller.set_reference_wrench(reader.doubles(6))

    def _in_base(self, data: bytes) -> Reader:
        return _in_frame(data, self.base_link)

    def destroy(self) -> None:
        for polled, _ in self._inputs:
            polled.destroy()


def control_axes(p: Parameters, tcp_frame: str) -> str:
    """Name of the frame whose axes are the control axes; empty: ROS has none. tcp_frame: of the TCP, if it has one."""
    if p.control_frame == "tcp":
        return tcp_frame or ("" if any(p.tool.tcp[3:]) else p.tip_link)
    return p.base_link if p.control_frame == "base" else ""


def _in_frame(data: bytes, name: str, what: str = "") -> Reader:
    """After the header of a message that is in this frame, or in none."""
    reader = Reader(data)
    reader.time_ns()
    frame = reader.string()
    if frame not in ("", name):
        allowed = f"{name!r} or empty" if name else "empty"
        raise Malformed(f"frame_id is {frame!r}, must be {allowed}{what}.")
    return reader
