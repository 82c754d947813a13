"""Where commands go: a joint trajectory controller, or the forward velocity controller.

An output owns its topic only while it is open. Each is a message prepared once (prepared.py), whose numbers are
patched.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration
from numpy.typing import NDArray
from rclpy.duration import Duration as RosDuration
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ur_admittance.core.motion.sending import plan_to_rest
from ur_admittance.errors import RobotError
from ur_admittance.robots.ros.guard import SUFFIX, Guard
from ur_admittance.robots.ros.polled import COMMANDS, incompatible
from ur_admittance.robots.ros.prepared import MARKS, Prepared

Array = NDArray[np.float64]

HELD_MARKS = tuple(100.0 + mark for mark in MARKS)
REST_MARKS = tuple(200.0 + mark for mark in MARKS[:6])
MARKED_NS = 1_234_567_500_000_000  # a time that occurs nowhere else either, exact as a double in seconds
HOLD_S = 0.01  # a message may be that late without a change of speed: 2.5 mm at 0.25 m/s
ACKNOWLEDGE_S = 0.2
UNKNOWN = "_NODE_NAME_UNKNOWN_"  # of a publisher whose node is not known yet (rcl)


class TopicOutput:
    """A publisher of prepared bytes on a topic that nobody else may publish on."""

    kind: type

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
            publisher.wait_for_all_acked(RosDuration(seconds=ACKNOWLEDGE_S))
        finally:
            self._node.destroy_publisher(publisher)

    def listeners(self) -> int:
        """How many controllers take the commands."""
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
        """Names of other nodes that command the same controller."""
        me = (self._node.get_name(), self._node.get_namespace())
        infos = self._node.get_publishers_info_by_topic(self.topic)
        names = [(info.node_name, info.node_namespace) for info in infos]
        if self._publisher is not None and me in names:
            names.remove(me)
        return [f"{space.rstrip('/')}/{name}" for name, space in names]

    def send(self, q: Array, qd: Array) -> None:
        raise NotImplementedError

    def set_duration(self, duration: float) -> None:
        """Least time in which what is sent leads to a standstill [s]."""

    def problem(self) -> str:
        """A sentence when commands are in vain for good, else empty."""
        return ""

    def destroy(self) -> None:
        self.close()


class TrajectoryOutput(TopicOutput):
    """Three points: the command, the same speed a moment later, and where the arm comes to rest if nothing follows
    (core/motion/sending.py).

    Why this shape, which every joint_trajectory_controller takes (joint_trajectory_controller.cpp, trajectory.cpp):
    a point at time 0 is the command itself, also on Humble (2.54), which samples a new message at its own time, that
    is, at the measured state when the first point lies ahead; from Jazzy on (4.x) the last point must not have a
    speed; on the master branch after 6.9 a message that begins now replaces the old one without a bridge.

    The stamp 0 means now. A time would let a message that comes late be continued where the path is by then, but only
    as long as both clocks agree: a time that lies ahead makes the controller start at the measured state, and its last
    message, after which none comes, close the whole lead.
    """

    kind = JointTrajectory

    def __init__(self, node: Node, names: Sequence[str], shortest: float, topic: str) -> None:
        """shortest: least time to standstill [s]."""
        super().__init__(node, topic)
        self._shortest, self._points = shortest, np.zeros((2, 6))
        marked = [
            (MARKS[:6], MARKS[6:], 0.0),
            (HELD_MARKS[:6], HELD_MARKS[6:], HOLD_S),
            (REST_MARKS, (0.0,) * 6, MARKED_NS * 1e-9),
        ]
        self._message = message = Prepared(trajectory(names, marked))
        self._q, self._qd = message.doubles(MARKS[:6]), message.doubles(MARKS[6:])
        self._held, self._held_qd = message.doubles(HELD_MARKS[:6]), message.doubles(HELD_MARKS[6:])
        self._rest, self._end = message.doubles(REST_MARKS), message.time_at(MARKED_NS)

    def set_duration(self, duration: float) -> None:
        self._shortest = duration

    def send(self, q: Array, qd: Array) -> None:
        braking = plan_to_rest(q, qd, self._points, HOLD_S, self._shortest)
        self._q[:], self._qd[:] = q, qd
        self._held[:], self._held_qd[:], self._rest[:] = self._points[0], qd, self._points[1]
        self._message.set_time(self._end, int(1e9 * (HOLD_S + braking)) + 1)  # after the second point, always
        self._publish(bytes(self._message.data))


class VelocityOutput(TopicOutput):
    """Six joint speeds [rad/s], watched by a guard: the controller would keep the last ones for ever."""

    kind = Float64MultiArray

    def __init__(self, node: Node, topic: str) -> None:
        super().__init__(node, topic)
        self._message = Prepared(Float64MultiArray(data=list(MARKS[:6])))
        self._qd = self._message.doubles(MARKS[:6])
        self._guard = Guard(node.get_name(), node.get_namespace(), self.topic)
        self._ready = False

    def open(self) -> None:
        """RobotError when the guard does not run."""
        if not self._ready:
            self._ready = self._guard.wait_ready()
            if not self._ready:
                raise RobotError("output = velocity: the process that stops the arm if this one dies did not start.")
        super().open()
        self._guard.arm()

    def close(self) -> None:
        super().close()
        self._guard.disarm()

    def listeners(self) -> int:
        """Those that both of us have found."""
        return min(super().listeners(), self._guard.listeners)

    def others(self) -> list[str]:
        """Without the guard, which is known by its topic a moment before it is known by its name."""
        mine = self._node.get_fully_qualified_name() + SUFFIX
        names = super().others()
        guards = [name for name in names if name == mine] or [name for name in names if name.endswith(UNKNOWN)]
        return [name for name in names if name not in guards[:1]]

    def problem(self) -> str:
        if self._guard.looks():
            return ""
        return "the process that stops the arm if this one dies has ended or hangs"

    def send(self, q: Array, qd: Array) -> None:
        self._qd[:] = qd
        self._publish(bytes(self._message.data))
        self._guard.beat(qd)

    def destroy(self) -> None:
        super().destroy()
        self._guard.close()


def trajectory(names: Sequence[str], rows: Iterable[tuple[Any, Any, float]]) -> JointTrajectory:
    """Rows: angles [rad], speeds [rad/s], time from the start [s]."""
    points = []
    for q, qd, time_s in rows:
        sec, nanosec = divmod(round(time_s * 1e9), 1_000_000_000)
        time = Duration(sec=sec, nanosec=nanosec)
        point = JointTrajectoryPoint(
            positions=[float(x) for x in q], velocities=[float(x) for x in qd], time_from_start=time
        )
        points.append(point)
    return JointTrajectory(joint_names=list(names), points=points)
