"""~/desired_pose, ~/desired_twist, ~/desired_wrench: taken by the loop, in turn."""

from collections.abc import Callable

import numpy as np
from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
from numpy.typing import NDArray
from rclpy.node import Node

from ur_admittance.control import AdmittanceController
from ur_admittance.errors import UrAdmittanceError
from ur_admittance.robots.ros.cdr import Malformed, Reader
from ur_admittance.robots.ros.frames import pose_from_quaternion
from ur_admittance.robots.ros.polled import NEWEST, Polled

Array = NDArray[np.float64]


class References:
    """Poses and twists are in the base frame, wrenches in control axes; another frame_id is refused, not converted."""

    def __init__(self, node: Node, base_link: str) -> None:
        self.base_link = base_link
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
        reader = Reader(data)
        reader.time_ns()
        reader.string()
        controller.set_reference_wrench(reader.doubles(6))

    def _in_base(self, data: bytes) -> Reader:
        reader = Reader(data)
        reader.time_ns()
        frame = reader.string()
        if frame not in ("", self.base_link):
            raise Malformed(f"frame_id is {frame!r}, must be {self.base_link!r} or empty.")
        return reader

    def destroy(self) -> None:
        for polled, _ in self._inputs:
            polled.destroy()
