"""The robot's beat: a cycle begins when a new state of the robot has arrived.

Two clocks are never equal: the phase between host and robot would slip, so that now and then a state is used twice and
a command falls into a cycle that already has one. With the robot's own beat there is one command per robot cycle.

Waiting happens here and nowhere else; ``RtdeRobot.read`` takes the newest state and returns at once. The arrival of the
next state is predicted from the robot's own clock, expected += period, corrected by a small share of each deviation, so
that one late wake-up of this machine does not shift the cycles that follow.
"""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ur_admittance.runtime.clock import RealTimeClock

if TYPE_CHECKING:
    from ur_admittance.robots.rtde.robot import RtdeRobot

LEAD = 0.0002  # [s] before the expected arrival at which polling begins
POLL = 0.00004  # [s] between polls
GAIN = 0.05  # share of an arrival's deviation that moves the expectation of the next


class Beat:
    """``robot.beat``. newest: time stamp of the newest state [s]; None: there is no connection."""

    def __init__(self, period: float, patience: float, newest: Callable[[], float] | None = None) -> None:
        self.period, self.patience = period, patience  # [s]
        self._newest = newest
        self.timestamp = -1.0 if newest is None else newest()  # robot time of the state in use [s]
        self.arrival = time.monotonic()  # when it was seen [s]
        self._expected = self.arrival + period

    def end(self) -> None:
        """The connection is closed; the state in use grows old."""
        self._newest = None

    @property
    def silence(self) -> float:
        """Age of the state in use [s]."""
        return time.monotonic() - self.arrival

    @property
    def waiting(self) -> int:
        """Robot cycles between the state in use and the newest one."""
        return 0 if self._newest is None else round((self._newest() - self.timestamp) / self.period)

    def wait(self) -> bool:
        """Until there is a newer state than the one in use; False when none comes in time."""
        if self._newest is None:
            time.sleep(self.period)
            return False
        end = time.monotonic() + self.patience
        early = self._expected - time.monotonic() - LEAD
        if 0.0 < early < self.period:
            time.sleep(early)
        while self._newest() == self.timestamp:
            if time.monotonic() > end:
                return False
            time.sleep(POLL)
        return True

    def take(self, timestamp: float) -> float:
        """Use this state; returns the robot time since the one before [s] (one period when it is the same one)."""
        elapsed = timestamp - self.timestamp
        if elapsed == 0.0:
            return self.period
        now = time.monotonic()
        late = now - self._expected
        if abs(late) > self.period:
            self._expected = now + self.period
        else:
            self._expected += self.period + GAIN * late
        self.timestamp, self.arrival = timestamp, now
        return elapsed if 0.0 < elapsed < 10.0 else self.period  # a restarted robot starts its time from zero

    def skip(self) -> None:
        """Leave out what the robot has sent so far: the next dt counts from here."""
        if self._newest is not None:
            self.take(self._newest())


class RobotClock(RealTimeClock):
    """``runtime.loop.run(controller, robot, RobotClock(robot))``; the robot must be connected."""

    def __init__(self, robot: "RtdeRobot") -> None:
        super().__init__(1.0 / robot.period, spin_ns=0)
        self._robot = robot
        self._begun = False

    def start(self) -> None:
        super().start()
        self._robot.beat.skip()
        self._begun = False

    def wait(self) -> bool:
        """Until the next state; after a few periods without one the cycle runs all the same, and the ages show it."""
        beat = self._robot.beat
        arrived = beat.wait()
        self.woke_ns = time.monotonic_ns()
        self.deadline_ns = self.woke_ns
        # what passed before the first cycle does not count as missed
        self.skipped = max(0, beat.waiting - 1) if arrived and self._begun else 0
        self._begun = True
        self.missed += self.skipped
        return True
