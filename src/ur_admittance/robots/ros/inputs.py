"""What an arm says on ROS 2 topics: joint states, wrench, perhaps time. Polled as raw bytes, without an executor.

Ages count from the moment a message was taken, on the monotonic clock (on /clock with use_sim_time): stamps of other
computers are not trusted.
"""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from ur_admittance.core.views import SampleFields
from ur_admittance.errors import RobotError
from ur_admittance.robots.ros.cdr import JointStateReader, Malformed, Reader, WrenchReader
from ur_admittance.robots.ros.polled import FEW, NANOSECONDS, Polled, Waiter

# Relative names: a node in a namespace has the arm of that namespace. Time and /tf are common to all of them.
JOINT_TOPIC = "joint_states"
WRENCH_TOPIC = "wrist_ft_sensor"
CLOCK_TOPIC = "/clock"
NEW_NS = NANOSECONDS  # in which a new publisher of joint states shows whose joints they are


def wrench_topic(node: Node, source: str, default: str = WRENCH_TOPIC) -> str:
    """Where to listen: the topic of sensor.source, or the default where it names none. RobotError: it is no topic, or
    the default was remapped to another one, for which the calibration does not hold."""
    topic = source.removeprefix("probe:")
    if not topic:
        return default
    if not topic.startswith("/"):
        raise RobotError(f"sensor.source = {source}: here the wrench comes from a topic; calibrate with it.")
    listens, plain = node.resolve_topic_name(default), node.resolve_topic_name(default, only_expand=True)
    if listens not in (plain, topic):
        raise RobotError(f"sensor.source = {source}: was calibrated, but {plain} is remapped to {listens}.")
    return topic


def second_topic(source: str) -> str | None:
    """Where to listen for second.source; None: there is no second sensor."""
    if source and not source.startswith("/"):
        raise RobotError(f"second.source = {source}: here wrenches come from topics; name one, such as /netft/raw.")
    return source or None


class WrenchTopic:
    """The newest wrench of one force sensor."""

    def __init__(self, node: Node, topic: str) -> None:
        self.polled = Polled(node, WrenchStamped, topic)
        self.wrench = np.zeros(6)
        self.count = 0  # taken since the start
        self.taken_ns = 0
        self.only_frame: str | None = None  # wrenches in another one are not taken; None: all are
        self._reader, self._in = WrenchReader(), np.zeros(6)

    @property
    def frame(self) -> str:
        """Of the newest message, be it taken or not."""
        return self._reader.frame_id

    def take(self, now_ns: int) -> int:
        """What has arrived; returns how many messages were not what they should be."""
        self.taken_ns = min(self.taken_ns, now_ns)  # simulated time may go back
        data = self.polled.take()
        if data is None:
            return 0
        try:
            self._reader.read(data, self._in)
        except Malformed:
            return 1
        if self.only_frame is None or self.frame == self.only_frame:
            self.wrench[:] = self._in
            self.taken_ns = now_ns
            self.count += 1
        return 0

    def missing(self) -> str:
        """A sentence as long as none was taken."""
        return "" if self.count else f"waiting for a wrench on {self.polled.topic} ({self.polled.publishers()})"


class Inputs:
    """The newest joint state and wrench of one arm. Every method is for one and the same thread."""

    def __init__(
        self,
        node: Node,
        names: Sequence[str],
        wrench_topic: str | None,
        sim_time: bool,
        second_topic: str | None = None,
    ) -> None:
        """wrench_topic None: an arm without a sensor, its wrench is always zero; second_topic: of a second sensor."""
        self.malformed = 0  # messages that were not what they should be, since the start
        self._joints = Polled(node, JointState, JOINT_TOPIC, FEW)
        self._number, self._mixed_ns = 0, -NEW_NS  # of the newest joint state; when an older one came after it
        self._publishers: list[str] = []  # of joint states
        self._publishers_ns = 0  # since when they are these
        self._strangers = ""  # whose joint states are left alone, as far as was told
        self._wrench = WrenchTopic(node, wrench_topic) if wrench_topic else None
        self._second = WrenchTopic(node, second_topic) if second_topic else None
        self._wrenches = [topic for topic in (self._wrench, self._second) if topic is not None]
        self._clock = Polled(node, Clock, CLOCK_TOPIC) if sim_time else None
        self._waiter = Waiter(node, self._wrench.polled if self._wrench else self._joints)
        self._joint_reader = JointStateReader(names)
        self.q, self.qd = np.zeros(6), np.zeros(6)
        self._bound: Any = None  # the sample that they are part of
        self.states = 0  # taken since the start
        self._sim_ns = -1  # unknown
        self.begin()

    def begin(self) -> None:
        """Ages and periods count from now."""
        self._take_clock()  # nobody may have looked at it for a while
        self._joint_ns = self._read_ns = self.now_ns()
        for topic in self._wrenches:
            topic.taken_ns = self._read_ns

    def now_ns(self) -> int:
        return time.monotonic_ns() if self._clock is None else self._sim_ns

    def stamp_ns(self) -> int:
        """ROS time for headers."""
        return time.time_ns() if self._clock is None else self._sim_ns

    def read(self, fields: SampleFields) -> None:
        """Take what has arrived, and fill the sample with it."""
        if fields.sample is not self._bound:
            self._bind(fields)
        self.take()
        now, before = self.now_ns(), self._read_ns
        self._read_ns = now
        fields.dt[0] = 1e-9 * (now - before)
        fields.joint_age[0] = 1e-9 * (now - self._joint_ns)
        fields.wrench_age[0] = 0.0 if self._wrench is None else 1e-9 * (now - self._wrench.taken_ns)
        fields.stamp_ns[0] = self.stamp_ns()
        if self._second is not None:
            fields.second_age[0], fields.second_read[0] = 1e-9 * (now - self._second.taken_ns), 1

    @property
    def read_ns(self) -> int:
        """Time of the last `read`: that of the sample, and so of the command that answers it."""
        return self._read_ns

    @property
    def wrench_frame(self) -> str:
        return "" if self._wrench is None else self._wrench.frame

    def keep_frame(self) -> None:
        """From now on wrenches in another frame than that of the newest one are not taken."""
        if self._wrench is not None:
            self._wrench.only_frame = self._wrench.frame

    def joint_age(self) -> float:
        """Of the newest joint state [s]."""
        return 1e-9 * (self.now_ns() - self._joint_ns)

    def wrench_source(self) -> str:
        """Topic of the wrench, and the nodes that publish there."""
        polled = None if self._wrench is None else self._wrench.polled
        return "" if polled is None else " ".join([polled.topic, *polled.publisher_names()])

    def crowd(self, patient: bool = False) -> str:
        """Our joint states or wrenches of two publishers would be mixed: that sentence, or empty. patient: a new
        publisher of joint states has a moment to show that it is one of other joints."""
        for polled in (self._joints, *(topic.polled for topic in self._wrenches)):
            names = polled.publisher_names()
            apart = polled is self._joints and self._apart(sorted(names), patient)
            if len(names) < 2 or apart:
                continue
            twice = "; one that was killed is forgotten after some 20 s" if len(set(names)) < len(names) else ""
            what = ", and not each was seen to send other joints" if polled is self._joints else ""
            nodes = ", ".join(sorted(names))
            return f"{len(names)} nodes publish on {polled.topic} ({nodes}){what}: must be one{twice}"
        return ""

    def _apart(self, publishers: list[str], patient: bool) -> bool:
        """Whether all but one publisher of joint states are known to have other joints than ours."""
        now = time.monotonic_ns()
        if publishers != self._publishers:
            if any(publishers.count(name) < self._publishers.count(name) for name in self._publishers):
                self._joint_reader.forget_others()  # the one that went may be one of them
            self._publishers, self._publishers_ns = publishers, now
        if now - self._mixed_ns < NEW_NS:
            return False
        return len(publishers) - 1 <= len(self._joint_reader.others) or (patient and now - self._publishers_ns < NEW_NS)

    def strangers(self) -> str:
        """Joint states that are left alone, as a sentence; empty: as when this was last asked."""
        told = self._strangers
        self._strangers = "; ".join(", ".join(names[:4]) or "no names" for names in tuple(self._joint_reader.others))
        if not self._strangers or self._strangers == told:
            return ""
        return f"joint states without all of this arm's joints are left alone ({self._joints.topic}: {self._strangers})"

    def other_frame(self) -> str:
        """Wrenches come in another frame than they did: that sentence, or empty."""
        topic = self._wrench
        if topic is None or topic.only_frame in (None, topic.frame):
            return ""
        return f"the wrench now comes in frame {topic.frame!r}, was {topic.only_frame!r}; activate again to use it"

    def wait(self, timeout_ns: int) -> bool:
        """Until a wrench (without a sensor: a joint state) is there; False: none came in time."""
        return self._waiter.wait(timeout_ns)

    def _bind(self, fields: SampleFields) -> None:
        """From now on messages are decoded straight into this sample."""
        if self._wrench is None:
            fields.wrench[:] = 0.0
        fields.q[:], fields.qd[:] = self.q, self.qd
        self.q, self.qd = fields.q, fields.qd
        for topic, place in ((self._wrench, fields.wrench), (self._second, fields.second_wrench)):
            if topic is not None:
                place[:] = topic.wrench
                topic.wrench = place
        self._bound = fields.sample

    def poll(self) -> bool:
        """Take what has arrived, the time too, for whoever has no loop; False while simulated time stands still."""
        moved = self.time_moves()
        self.take()
        return moved

    def time_moves(self) -> bool:
        """Look at the time; False while simulated time stands still."""
        return self._clock is None or self._take_clock()

    def take(self) -> None:
        """Take what has arrived."""
        now = self.now_ns()
        self._joint_ns = min(self._joint_ns, now)  # simulated time may go back: the tick will see a negative dt
        self._take_joints(now)
        for topic in self._wrenches:
            self.malformed += topic.take(now)
        if self._second is not None and self._second.only_frame is None:
            # the first one's: for another frame second.rotation and second.position do not hold
            self._second.only_frame = self._second.frame or None

    def _take_joints(self, now: int) -> None:
        """All that has come: ours may be followed by those of a gripper."""
        while (taken := self._joints.take_numbered()) is not None:
            data, number = taken
            try:
                found, with_speeds = self._joint_reader.read(data, self.q, self.qd)
            except Malformed:
                self.malformed += 1
                continue
            if not found:
                continue
            if number and number <= self._number:
                self._mixed_ns = time.monotonic_ns()
            self._number = number
            if not with_speeds:
                self.qd[:] = 0.0
            self._joint_ns = now
            self.states += 1

    def _take_clock(self) -> bool:
        """Whether the time on /clock has changed."""
        data = self._clock.take() if self._clock is not None else None
        if data is None:
            return False
        previous = self._sim_ns
        try:
            self._sim_ns = Reader(data).time_ns()
        except Malformed:
            self.malformed += 1
            return False
        if previous < 0:
            self.begin()
        return self._sim_ns != previous

    def missing(self) -> str:
        """What has not arrived yet, as a sentence; empty: everything has."""
        if self._clock is not None and self._sim_ns < 0:
            return f"waiting for time on {self._clock.topic} (use_sim_time is true)"
        if not self.states:
            return self._missing_joints()
        return next(filter(None, (topic.missing() for topic in self._wrenches)), "")

    def _missing_joints(self) -> str:
        topic, reader = self._joints.topic, self._joint_reader
        if reader.others:
            seen = next(reversed(reader.others))
            absent = [name for name in reader.names if name not in seen]
            names = ", ".join(seen[:12]) or "none"
            return f"waiting for joint {absent[0]} on {topic}; the joints there are: {names}"
        return f"waiting for joint states on {topic} ({self._joints.publishers()})"

    def destroy(self) -> None:
        self._waiter.destroy()
        for polled in (self._joints, self._clock, *(topic.polled for topic in self._wrenches)):
            if polled is not None:
                polled.destroy()
