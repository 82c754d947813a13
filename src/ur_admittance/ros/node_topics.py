"""Topics of a running controller. It tells velocity and pose error for plots, the joint references, the state in words,
diagnostics; its loop takes ~/desired_pose, ~/desired_twist and ~/desired_wrench, in turn."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
from numpy.typing import NDArray
from rclpy.node import Node
from std_msgs.msg import String

from ur_admittance.control import AdmittanceController
from ur_admittance.core.faults import remedy
from ur_admittance.core.leader import WORDS
from ur_admittance.core.records import Mode, new
from ur_admittance.core.views import scalar, vector
from ur_admittance.errors import UrAdmittanceError
from ur_admittance.params import Parameters
from ur_admittance.robots.ros import prepared
from ur_admittance.robots.ros.cdr import Malformed, Reader
from ur_admittance.robots.ros.known_frames import pose_from_quaternion
from ur_admittance.robots.ros.polled import LATCHED, NEWEST, Polled
from ur_admittance.runtime.interfaces import LOOP

VELOCITY_TOPIC = "admittance_cartesian_velocity"
ERROR_TOPIC = "admittance_pose_error"
INACTIVE = int(Mode.INACTIVE)
LOOK_EVERY = 50  # cycles between two looks for a listener: 10 times a second
Array = NDArray[np.float64]


class Monitor:
    """Two streams of six numbers, published from the loop in every n-th cycle; and the joint references, in every
    one."""

    def __init__(
        self, node: Node, controller: AdmittanceController, every: int, joints: Sequence[str] | None = None
    ) -> None:
        """joints: their names in ROS; None: those of the model."""
        frame, command = controller.parameters.base_link, controller.command
        self._every, self._count = every, 0
        self.loop: Any = new(LOOP)  # how the loop fares
        self._streams = [
            (prepared.twists(node, VELOCITY_TOPIC, frame), vector(command, "twist")),
            (prepared.twists(node, ERROR_TOPIC, frame), vector(command, "pose_error")),
        ]
        self._references = JointReferences(node, controller, joints or controller.model.joint_names)

    def publish(self, controller: Any, loop: Any) -> None:
        self.loop = loop
        self._references.publish(loop)
        self._count += 1
        if self._count < self._every:
            return
        self._count = 0
        for stream, numbers in self._streams:
            stream.send(int(loop["time_ns"][0]), numbers)

    def destroy(self) -> None:
        for stream, _ in self._streams:
            stream.destroy()
        self._references.stream.destroy()


class JointReferences:
    """~/joint_references: positions and speeds as they were sent in this cycle, for a next stage in another program. In
    every cycle while the controller is active or slows down, and only while somebody listens."""

    def __init__(self, node: Node, controller: AdmittanceController, joints: Sequence[str]) -> None:
        self.stream = prepared.joint_states(node, "~/joint_references", joints)
        self._mode = scalar(controller.command, "mode")
        self._q, self._qd = vector(controller.command, "q"), vector(controller.command, "qd")
        self._cycle, self._heard = 0, False

    def publish(self, loop: Any) -> None:
        self._cycle += 1
        if self._cycle % LOOK_EVERY == 0:
            self._heard = self.stream.publisher.get_subscription_count() > 0
        if not self._heard or self._mode[0] == INACTIVE:
            return
        behind = loop["stages"][0] > 0
        q, qd = (loop["q_sent"][0], loop["qd_sent"][0]) if behind else (self._q, self._qd)
        self.stream.send(int(loop["time_ns"][0]), q, qd)


class StateTopic:
    """~/state: one line of JSON, when something changes and once per second; /diagnostics where it exists."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._publisher = node.create_publisher(String, "~/state", LATCHED)
        self._last = ""
        try:
            from diagnostic_msgs.msg import DiagnosticArray

            self._diagnostics = node.create_publisher(DiagnosticArray, "/diagnostics", 1)
        except ImportError:
            self._diagnostics = None

    def publish(self, state: dict[str, Any], force: bool = False) -> None:
        text = json.dumps({key: value for key, value in state.items() if key not in ("ticks", "stamp")})
        if text != self._last or force:
            self._last = text
            state["stamp"] = self._node.get_clock().now().nanoseconds * 1e-9  # [s] a sign of life
            self._publisher.publish(String(data=json.dumps(state)))
            if self._diagnostics is not None:
                self._diagnose(state)

    def _diagnose(self, state: dict[str, Any]) -> None:
        from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

        level = DiagnosticStatus.OK
        if state["mode"] == Mode.FAULT.name.lower():
            level = DiagnosticStatus.ERROR
        elif state["life"] != "active":
            level = DiagnosticStatus.WARN
        status = DiagnosticStatus(
            level=level,
            name=f"{self._node.get_fully_qualified_name().strip('/')}: admittance control",
            message=str(state["reason"]),
            hardware_id=str(state.get("robot", "")),
            values=[KeyValue(key=key, value=str(value)) for key, value in state.items()],
        )
        message = DiagnosticArray(status=[status])
        message.header.stamp = self._node.get_clock().now().to_msg()
        assert self._diagnostics is not None
        self._diagnostics.publish(message)


def state_of(controller: AdmittanceController | None, life: str, refusal: str) -> dict[str, Any]:
    """What ~/state says. `reason` is the sentence for people, `remedy` what to do about it, `leader` who leads the
    reference."""
    if controller is None or not controller.configured:
        nothing = {"mode": "unconfigured", "status": "OK", "reason": refusal or life, "remedy": "", "leader": ""}
        return {"life": life, **nothing}
    return {
        "life": life,
        "mode": controller.mode.name.lower(),
        "status": controller.status.name,
        "reason": refusal or controller.reason,
        "remedy": remedy(controller.status),
        "leader": WORDS[controller.references.leader],
    }


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
