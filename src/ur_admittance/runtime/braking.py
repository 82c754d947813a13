"""How an arm brakes by itself: when commands stay away, and all joints together. Without the compiler: the guard of a
ROS 2 arm loads it, in a process of its own."""

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.motion.drive_record import BRAKING as BRAKING

WATCHDOG_S = 0.1  # without a command for this long the arm brakes by itself


def slow_down(qd: NDArray[np.float64], step: float) -> None:
    """qd := slower by ``step`` [rad/s] of the fastest joint, in place; the direction of the motion stays."""
    fastest = max(qd.max(), -qd.min())
    if fastest > 0.0:
        qd *= max(0.0, 1.0 - step / fastest)
