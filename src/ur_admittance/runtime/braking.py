"""How an arm brakes by itself: when commands stay away, and all joints together."""

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.motion.drive_record import BRAKING as BRAKING

WATCHDOG_S = 0.1  # without a command for this long the arm brakes by itself


class Watchdog:
    """Expires when no command has come for ``limit`` [s]; half a period is granted for rounding."""

    def __init__(self, period: float, limit: float = WATCHDOG_S) -> None:
        self.period, self.limit = period, limit
        self.silence = 0.0  # [s] since the last command

    def kick(self) -> None:
        """A command has come."""
        self.silence = 0.0

    def tick(self) -> bool:
        """A period has passed; True when the limit is exceeded."""
        self.silence += self.period
        return self.expired

    @property
    def expired(self) -> bool:
        return self.silence >= self.limit + 0.5 * self.period


def slow_down(qd: NDArray[np.float64], step: float) -> None:
    """qd := slower by ``step`` [rad/s] of the fastest joint, in place; the direction of the motion stays."""
    fastest = max(qd.max(), -qd.min())
    if fastest > 0.0:
        qd *= max(0.0, 1.0 - step / fastest)
