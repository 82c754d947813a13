"""What the controller tells: velocity and pose error for plots, the state in words, diagnostics."""

import json
from collections.abc import Sequence
from typing import Any

from rclpy.node import Node
from std_msgs.msg import String

from ur_admittance.control import AdmittanceController
from ur_admittance.core.faults import remedy
from ur_admittance.core.leader import WORDS
from ur_admittance.core.records import Mode, new
from ur_admittance.core.views import scalar, vector
from ur_admittance.robots.ros import prepared
from ur_admittance.robots.ros.polled import LATCHED
from ur_admittance.runtime.interfaces import LOOP

VELOCITY_TOPIC = "admittance_cartesian_velocity"
ERROR_TOPIC = "admittance_pose_error"
INACTIVE = int(Mode.INACTIVE)
LOOK_EVERY = 50  # cycles between two looks for a listener: 10 times a second


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
