"""When the next state of the robot comes: sleep until shortly before, then look often.

The arrival of the next state is predicted from the robot's own clock: expected += period, corrected by a small share of
each deviation, so that one late wake-up of this machine does not shift the cycles that follow.
"""

import time
from collections.abc import Callable

LEAD = 0.0002  # [s] before the expected arrival at which looking begins
LOOK = 0.00004  # [s] between looks
GAIN = 0.05  # share of an arrival's deviation that moves the expectation of the next


class Pace:
    def __init__(self, period: float, timestamp: float, patience: float) -> None:
        self.period, self.patience = period, patience  # [s]
        self.timestamp = timestamp  # robot time of the state in use [s]
        self.arrival = time.monotonic()  # when it was seen [s]
        self._expected = self.arrival + period

    @property
    def silence(self) -> float:
        """Age of the state in use [s]."""
        return time.monotonic() - self.arrival

    def wait(self, newest: Callable[[], float]) -> bool:
        """Until ``newest()`` is another time stamp than the one in use; False when none comes in time."""
        end = time.monotonic() + self.patience
        early = self._expected - time.monotonic() - LEAD
        if 0.0 < early < self.period:
            time.sleep(early)
        while newest() == self.timestamp:
            if time.monotonic() > end:
                return False
            time.sleep(LOOK)
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
        return elapsed if 0.0 < elapsed < 10.0 else self.period  # a restarted robot begins its time anew
