"""The loop's clock when the robot sets the pace: a cycle begins when a new state of the robot has arrived.

Two clocks that are never equal would let the phase between host and robot slip: now and then a state is used twice and
a command falls into a cycle that already has one. With the robot's own pace there is one command per robot cycle.
"""

import time
from typing import TYPE_CHECKING

from ur_admittance.runtime.clock import RealTimeClock

if TYPE_CHECKING:
    from ur_admittance.robots.rtde.robot import RtdeRobot


class RobotClock(RealTimeClock):
    """``runtime.loop.run(controller, robot, RobotClock(robot))``; the robot must be connected."""

    def __init__(self, robot: "RtdeRobot") -> None:
        super().__init__(1.0 / robot.period, spin_ns=0)
        self._robot = robot
        self._begun = False

    def start(self) -> None:
        super().start()
        self._robot.skip_to_now()
        self._begun = False

    def wait(self) -> bool:
        """Until the next state; after a few periods without one the cycle runs all the same, and the ages tell."""
        arrived = self._robot.wait_for_state()
        self.woke_ns = time.monotonic_ns()
        self.deadline_ns = self.woke_ns
        # what passed before the first cycle was nobody's to use
        self.skipped = max(0, self._robot.cycles_waiting - 1) if arrived and self._begun else 0
        self._begun = True
        self.missed += self.skipped
        return True
