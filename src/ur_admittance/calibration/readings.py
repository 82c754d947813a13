"""What was measured in one pose at rest: the input of every identification."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

STANDARD_GRAVITY = 9.80665  # [m/s2]


@dataclass(frozen=True, eq=False)
class Reading:
    """Mean and spread of the raw wrench over the time that the arm stood still."""

    q: Array  # (6,) [rad]
    R_base_flange: Array  # (3, 3)
    wrench: Array  # (6,) mean raw reading, sensor axes [N, Nm]
    spread: Array  # (6,) standard deviation of one sample [N, Nm]
    count: int  # samples


def stacked(readings: Sequence[Reading], sign: float) -> tuple[Array, Array]:
    """R_flange_base (n, 3, 3) and the wrenches on the tool (n, 6), the sensor's sign applied."""
    R_flange_base = np.array([reading.R_base_flange.T for reading in readings])
    return R_flange_base, sign * np.array([reading.wrench for reading in readings])


def noise(readings: Sequence[Reading]) -> tuple[float, float]:
    """Standard deviation of one sample: force [N] and torque [Nm], pooled over poses and axes."""
    square = np.array([reading.spread for reading in readings]) ** 2
    return float(np.sqrt(square[:, :3].mean())), float(np.sqrt(square[:, 3:].mean()))


def cross_matrix(v: Array) -> Array:
    """[v]x with [v]x u = v x u, also for stacks (..., 3) -> (..., 3, 3)."""
    x, y, z = np.moveaxis(np.asarray(v, dtype=float), -1, 0)
    zero = np.zeros_like(x)
    rows = [[zero, -z, y], [z, zero, -x], [-y, x, zero]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
