"""What every reader keeps: the newest reading, when it came, its zero, and counts of what was wrong."""

import time
from collections import Counter

from ur_admittance.errors import RobotError

Wrench = tuple[float, ...]
NEVER = 1e6  # [s] age of a reading that never came
MEAN_WEIGHT = 0.02  # of a new reading in the mean that zeroing uses


class Reading:
    def __init__(self) -> None:
        self.faults: Counter[str] = Counter()  # duplicates, lost, out of order, bad checksum, sensor error ...
        self.count = 0
        self._values: Wrench = (0.0,) * 6
        self._mean = [0.0] * 6
        self._zero = [0.0] * 6
        self._arrived: float | None = None

    def accept(self, values: Wrench) -> None:
        self._values, self._arrived = values, time.monotonic()
        weight = MEAN_WEIGHT if self.count else 1.0
        for i in range(6):
            self._mean[i] += weight * (values[i] - self._mean[i])
        self.count += 1

    def latest(self) -> tuple[Wrench, float]:
        """Reading minus zero [N, Nm], sensor axes, and its age [s]."""
        age = NEVER if self._arrived is None else time.monotonic() - self._arrived
        return tuple(value - zero for value, zero in zip(self._values, self._zero, strict=True)), age

    def take_zero(self) -> None:
        if self._arrived is None:
            raise RobotError("the force sensor cannot be zeroed: it has sent nothing yet.")
        self._zero = list(self._mean)
