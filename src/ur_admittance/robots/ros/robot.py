"""The arm as ROS topics: joint states and wrench in, commands out. Read and write run in every cycle.

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

from ur_admittance.core.views import scalar, vector
from ur_admittance.robots.ros.cdr import JointStateReader, Malformed, Reader, WrenchReader
from ur_admittance.robots.ros.outputs import Output
from ur_admittance.robots.ros.polled import Polled, Waiter

JOINT_TOPIC = "/joint_states"
WRENCH_TOPIC = "/wrist_ft_sensor"
CLOCK_TOPIC = "/clock"
FASTEST = 0.95  # of a period from tick to tick in the long run, however fast the sensor
BURST = 2  # ticks that may follow each other at once, after a pause of the sensor
PATIENCE = 1.5  # periods that a punctual sensor may be late before the tick runs without it
PACING_PERIODS = 1.6  # a sensor whose messages come at most this far apart sets the pace


class RosArm:
    """Inputs of one arm, and the output that is open, if any. Every method is for one and the same thread."""

    def __init__(
        self,
        node: Node,
        names: Sequence[str],
        period: float,
        wrench_topic: str | None = WRENCH_TOPIC,
        sim_time: bool = False,
    ) -> None:
        """period [s]; wrench_topic None: an arm without a sensor, its wrench is always zero."""
        self.period_ns = round(period * 1e9)
        self.output: Output | None = None
        self.malformed = 0  # messages that were not what they should be, since the start
        self.last_problem = ""
        self._joints = Polled(node, JointState, JOINT_TOPIC)
        self._wrench = Polled(node, WrenchStamped, wrench_topic) if wrench_topic else None
        self._clock = Polled(node, Clock, CLOCK_TOPIC) if sim_time else None
        self._waiter = Waiter(node, self._wrench or self._joints)
        self.joint_reader, self.wrench_reader = JointStateReader(names), WrenchReader()
        self._q, self._qd, self._w = np.zeros(6), np.zeros(6), np.zeros(6)
        self._sample: Any = None
        self._command: Any = None
        self.has_joints = self.has_wrench = self.has_clock = False
        self.sim_ns = 0
        self.begin()

    def begin(self) -> None:
        """Ages and periods count from now."""
        now = self._now()
        self._joint_ns = self._wrench_ns = self._previous_ns = now
        self._woke_ns = self._last_wrench_ns = self._full_ns = time.monotonic_ns()
        self._paced = False

    def _now(self) -> int:
        return time.monotonic_ns() if self._clock is None else self.sim_ns

    def stamp_ns(self) -> int:
        """ROS time for headers."""
        return time.time_ns() if self._clock is None else self.sim_ns

    def wait(self) -> None:
        """Until the next tick: a punctual sensor sets the pace, else the clock. Monotonic time."""
        period = self.period_ns
        patience = int(PATIENCE * period) if self._paced else period
        arrived = self._waiter.wait(self._woke_ns + patience - time.monotonic_ns())
        now = time.monotonic_ns()
        if arrived:
            self._paced = now - self._last_wrench_ns <= PACING_PERIODS * period
            self._last_wrench_ns = now
            early = self._full_ns - BURST * period - now
            if early > 0:  # a sensor faster than the loop
                time.sleep(early * 1e-9)
                now = time.monotonic_ns()
        else:
            self._paced = False
        self._woke_ns = now
        self._full_ns = max(self._full_ns, now) + int(FASTEST * period)

    def poll(self) -> bool:
        """Take what has arrived; False while simulated time stands still."""
        previous = self.sim_ns
        if self._clock is not None:
            self._take_clock()
        now = self._now()
        if now < self._joint_ns or now < self._wrench_ns:  # simulated time went back: the tick will see a negative dt
            self._joint_ns = self._wrench_ns = now
        data = self._joints.take()
        if data is not None:
            try:
                found, with_speeds = self.joint_reader.read(data, self._q, self._qd)
            except Malformed as error:
                self._refuse(error)
            else:
                if found:
                    if not with_speeds:
                        self._qd[:] = 0.0
                    self._joint_ns, self.has_joints = now, True
        data = None if self._wrench is None else self._wrench.take()
        if data is not None:
            try:
                self.wrench_reader.read(data, self._w)
                self._wrench_ns, self.has_wrench = now, True
            except Malformed as error:
                self._refuse(error)
        elif self._wrench is None:
            self._wrench_ns = now
        return self._clock is None or self.sim_ns != previous

    def _take_clock(self) -> None:
        data = self._clock.take() if self._clock is not None else None
        if data is not None:
            try:
                self.sim_ns = Reader(data).time_ns()
                if not self.has_clock:
                    self.has_clock = True
                    self.begin()
            except Malformed as error:
                self._refuse(error)

    def _refuse(self, error: Malformed) -> None:
        self.malformed += 1
        self.last_problem = str(error)

    def read(self, sample: Any) -> None:
        """Complete the sample: ``poll`` has written angles, speeds and wrench into it."""
        if sample is not self._sample:
            self._bind(sample)
        now = self._now()
        self._s_dt[0] = (now - self._previous_ns) * 1e-9
        self._s_joint_age[0] = (now - self._joint_ns) * 1e-9
        self._s_wrench_age[0] = (now - self._wrench_ns) * 1e-9
        self._s_stamp[0] = self.stamp_ns()
        self._s_status[0] = 0
        self._previous_ns = now

    def posture(self, q: Any, qd: Any) -> None:
        """Newest joint angles [rad] and speeds [rad/s], copied."""
        q[:], qd[:] = self._q, self._qd

    def write(self, command: Any) -> Any:
        """Send the command if an output is open."""
        if command is not self._command:
            self._command = command
            self._c_q, self._c_qd = vector(command, "q"), vector(command, "qd")
        if self.output is not None:
            self.output.send(self._c_q, self._c_qd)
        return self._c_q

    def _bind(self, sample: Any) -> None:
        """From now on messages are decoded straight into this sample."""
        self._sample = sample
        sample["q"], sample["qd"], sample["wrench"] = self._q, self._qd, self._w
        self._q, self._qd, self._w = (vector(sample, field) for field in ("q", "qd", "wrench"))
        self._s_dt, self._s_stamp = scalar(sample, "dt"), scalar(sample, "stamp_ns")
        self._s_joint_age, self._s_wrench_age = scalar(sample, "joint_age"), scalar(sample, "wrench_age")
        self._s_status = scalar(sample, "external_status")

    def missing(self) -> str:
        """What has not arrived yet, as a sentence; empty: everything has."""
        if self._clock is not None and not self.has_clock:
            return f"waiting for time on {self._clock.topic} (use_sim_time is true)"
        if not self.has_joints:
            return self._missing_joints()
        if self._wrench is not None and not self.has_wrench:
            return f"waiting for a wrench on {self._wrench.topic} ({self._wrench.publishers()})"
        return ""

    def _missing_joints(self) -> str:
        topic = self._joints.topic
        if self.joint_reader.seen:
            absent = [name for name in self.joint_reader.names if name not in self.joint_reader.seen]
            names = ", ".join(self.joint_reader.seen[:12]) or "none"
            return f"waiting for joint {absent[0]} on {topic}; the joints there are: {names}"
        return f"waiting for joint states on {topic} ({self._joints.publishers()})"

    def destroy(self) -> None:
        self._waiter.destroy()
        for polled in (self._joints, self._wrench, self._clock):
            if polled is not None:
                polled.destroy()
