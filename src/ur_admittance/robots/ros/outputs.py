"""Where commands go: the scaled joint trajectory controller, the forward velocity controller.

An output owns its topic only while it is open. Each is a message prepared once, whose numbers are patched (cdr.py).
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from builtin_interfaces.msg import Duration
from numpy.typing import NDArray
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ur_admittance.robots.ros.cdr import Prepared
from ur_admittance.robots.ros.polled import COMMANDS, incompatible

Array = NDArray[np.float64]

TRAJECTORY_TOPIC = "/scaled_joint_trajectory_controller/joint_trajectory"
VELOCITY_TOPIC = "/forward_velocity_controller/commands"
MARKS = tuple(0.7390851332151607 + i for i in range(12))  # numbers that occur nowhere else in a message
ACKNOWLEDGE_S = 0.2


class Output(Protocol):
    """One way to command the arm."""

    topic: str

    def open(self) -> None: ...
    def close(self) -> None: ...
    def listeners(self) -> int:
        """How many controllers take the commands."""
        ...

    def nobody(self) -> str: ...
    def others(self) -> list[str]:
        """Names of other nodes that command the same controller."""
        ...

    def send(self, q: Array, qd: Array) -> None: ...
    def set_duration(self, duration: float) -> None:
        """time_from_start of what is sent [s]."""
        ...

    def problem(self) -> str:
        """A sentence when the controller refuses commands for good, else empty."""
        ...


class TopicOutput:
    """A publisher of prepared bytes on a topic that nobody else may publish on."""

    kind: type = JointTrajectory

    def __init__(self, node: Node, topic: str) -> None:
        self._node = node
        self.topic: str = node.resolve_topic_name(topic)
        self._publisher: Any = None

    def open(self) -> None:
        if self._publisher is None:
            self._publisher = self._node.create_publisher(self.kind, self.topic, COMMANDS)
            self._publish = self._publisher.handle.publish_raw

    def close(self) -> None:
        """The last command must have arrived before the publisher goes."""
        if self._publisher is None:
            return
        publisher, self._publisher = self._publisher, None
        try:
            from rclpy.duration import Duration as RosDuration

            publisher.wait_for_all_acked(RosDuration(seconds=ACKNOWLEDGE_S))
        finally:
            self._node.destroy_publisher(publisher)

    def listeners(self) -> int:
        infos = self._node.get_subscriptions_info_by_topic(self.topic)
        return sum(not incompatible(COMMANDS, info.qos_profile) for info in infos)

    def nobody(self) -> str:
        """Why nobody listens, as a sentence."""
        for info in self._node.get_subscriptions_info_by_topic(self.topic):
            reason = incompatible(COMMANDS, info.qos_profile)
            if reason:
                return f"{info.node_name} listens on {self.topic}, but its quality of service does not fit: {reason}"
        return f"nobody listens on {self.topic}; is that controller active?"

    def others(self) -> list[str]:
        me = (self._node.get_name(), self._node.get_namespace())
        infos = self._node.get_publishers_info_by_topic(self.topic)
        names = [(info.node_name, info.node_namespace) for info in infos]
        if self._publisher is not None and me in names:
            names.remove(me)
        return [f"{space.rstrip('/')}/{name}" for name, space in names]

    def send(self, q: Array, qd: Array) -> None:
        raise NotImplementedError

    def set_duration(self, duration: float) -> None:
        """Velocities have none."""

    def problem(self) -> str:
        return ""


class TrajectoryOutput(TopicOutput):
    """One point with positions and (unless told otherwise) velocities, to be reached after ``duration`` [s]; the stamp
    0 means now."""

    kind = JointTrajectory

    def __init__(
        self, node: Node, names: Sequence[str], duration: float, velocities: bool = True, topic: str = TRAJECTORY_TOPIC
    ) -> None:
        super().__init__(node, topic)
        self._names, self._velocities = tuple(names), velocities
        self.set_duration(duration)

    def set_duration(self, duration: float) -> None:
        self._message = Prepared(trajectory(self._names, MARKS[:6], MARKS[6:] if self._velocities else (), duration))
        self._q = self._message.doubles(MARKS[:6])
        self._qd = self._message.doubles(MARKS[6:]) if self._velocities else np.zeros(6)

    def send(self, q: Array, qd: Array) -> None:
        self._q[:] = q
        self._qd[:] = qd
        self._publish(bytes(self._message.data))


class VelocityOutput(TopicOutput):
    """Six joint speeds [rad/s]."""

    kind = Float64MultiArray

    def __init__(self, node: Node, topic: str = VELOCITY_TOPIC) -> None:
        super().__init__(node, topic)
        self._message = Prepared(Float64MultiArray(data=list(MARKS[:6])))
        self._qd = self._message.doubles(MARKS[:6])

    def send(self, q: Array, qd: Array) -> None:
        self._qd[:] = qd
        self._publish(bytes(self._message.data))


def trajectory(
    names: Sequence[str], q: Sequence[float] | Array, qd: Sequence[float] | Array, duration: float
) -> JointTrajectory:
    """A trajectory of one point."""
    sec, nanosec = divmod(round(duration * 1e9), 1_000_000_000)
    point = JointTrajectoryPoint(
        positions=[float(x) for x in q],
        velocities=[float(x) for x in qd],
        time_from_start=Duration(sec=sec, nanosec=nanosec),
    )
    return JointTrajectory(joint_names=list(names), points=[point])
