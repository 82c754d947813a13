"""The robot's beat: a cycle begins when a new state of the robot has arrived.

Two clocks are never equal: the phase between host and robot would slip, so that now and then a state is used twice and
a command falls into a cycle that already has one. With the robot's own beat there is one command per robot cycle.

A running arm is waited for here and nowhere else; ``RtdeRobot.read`` takes the newest state and returns at once. Only
letting go of a lost connection, or starting the program again, takes longer, and the arm stands then.
"""

import time
from typing import Protocol

from ur_admittance.robots.rtde.states import States
from ur_admittance.runtime.clock import RealTimeClock


class Beat:
    """``robot.beat``. states: None when there is no connection."""

    def __init__(self, period: float, patience: float, states: States | None = None) -> None:
        self.period, self.patience = period, patience  # [s]
        self._states = states
        self.timestamp = -1.0 if states is None else states.timestamp  # robot time of the state in use [s]
        self.arrival = time.monotonic()  # when it was seen [s]

    def end(self) -> None:
        """The connection is closed; the state in use grows old."""
        self._states = None

    @property
    def silence(self) -> float:
        """Age of the state in use [s]."""
        return time.monotonic() - self.arrival

    @property
    def waiting(self) -> int:
        """Robot cycles between the state in use and the newest one."""
        return 0 if self._states is None else round((self._states.timestamp - self.timestamp) / self.period)

    def wait(self) -> bool:
        """Until there is a newer state than the one in use; False when none comes in time."""
        if self._states is None:
            time.sleep(self.period)
            return False
        return self._states.wait(self.timestamp, self.patience)

    def take(self, timestamp: float) -> float:
        """Use this state; returns the robot time since the one before [s] (one period when it is the same one)."""
        elapsed = timestamp - self.timestamp
        if elapsed == 0.0:
            return self.period
        self.timestamp, self.arrival = timestamp, time.monotonic()
        return elapsed if 0.0 < elapsed < 10.0 else self.period  # a restarted robot starts its time from zero

    def skip(self) -> None:
        """Leave out what the robot has sent so far: the next dt counts from here."""
        if self._states is not None:
            self._states.refresh()
            self.take(self._states.timestamp)


class Beating(Protocol):
    """What the clock needs of a robot."""

    period: float  # [s]
    beat: Beat


class RobotClock(RealTimeClock):
    """``runtime.loop.run(controller, robot, RobotClock(robot))``; the robot must be connected."""

    def __init__(self, robot: Beating) -> None:
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
