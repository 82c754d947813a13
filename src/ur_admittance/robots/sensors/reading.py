"""What every reader keeps: the newest reading, when it came, and counts of what was wrong."""

import time
from collections import Counter

Wrench = tuple[float, ...]
NEVER = 1e6  # [s] age of a reading that never came


class Reading:
    def __init__(self) -> None:
        self.faults: Counter[str] = Counter()  # duplicates, lost, out of order, bad checksum, sensor error ...
        self.count = 0
        self._values: Wrench = (0.0,) * 6
        self._arrived: float | None = None

    def accept(self, values: Wrench) -> None:
        self._values, self._arrived = values, time.monotonic()
        self.count += 1

    def latest(self) -> tuple[Wrench, float]:
        """As the sensor sent it [N, Nm], sensor axes, and its age [s]."""
        age = NEVER if self._arrived is None else time.monotonic() - self._arrived
        return self._values, age
