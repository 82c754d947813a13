"""When the next cycle begins: absolute deadlines on a grid, so that the loop does not drift.

    deadline_k = start + k * period

A loop paced from "now" adds the duration of every cycle to its period; this one does not. After a stall the deadlines
that have passed are skipped and counted: a burst of catch-up cycles would integrate one old measurement many times.
"""

import ctypes
import sys
import time
from typing import Protocol

from ur_admittance.errors import UrAdmittanceError

NANOSECONDS = 1_000_000_000
MIN_RATE, MAX_RATE = 1.0, 5000.0  # [Hz]

# A deadline that is late by less than this share of the period is served at once; later than that, the cycle waits for
# the next one. So two cycles are never closer than half a period, and a cycle that is 10 us late costs no whole period.
LATE_SHARE = 0.5

PR_SET_TIMERSLACK, PR_GET_TIMERSLACK = 29, 30  # linux/prctl.h
FINEST_SLACK_NS = 1  # the default of 50 us would be added to every sleep of a thread without real-time priority
MAX_SPIN_NS = 100_000  # 5 % of one core at 500 Hz: no more than that is burnt for a sharper start
CALIBRATION_SLEEPS = 20
CALIBRATION_SLEEP_S = 0.001


class Clock(Protocol):
    """What paces a loop: deadlines of its own, a simulation, or the arm that it drives."""

    period_ns: int
    period: float  # [s]
    missed: int  # deadlines skipped since start
    deadline_ns: int  # of the cycle that runs now
    woke_ns: int  # when it really began

    def start(self) -> None: ...
    def stop(self) -> None: ...

    def wait(self) -> bool:
        """Until the next cycle. False: no time has passed (a simulation that is paused), so there is nothing to do
        but to listen."""
        ...

    def now_ns(self) -> int:
        """For measuring how long work takes; any origin."""
        ...

    def time_ns(self) -> int:
        """Time stamp of the current cycle."""
        ...


class RealTimeClock:
    """Waits for real deadlines: sleeps until shortly before, then polls the clock.

    The polling time is measured at ``start``: the lower quartile of how late the system wakes a sleeper (30 to
    45 us in a virtual machine), so that most cycles begin sharply and almost nothing is spent on polling.
    """

    now_ns = staticmethod(time.perf_counter_ns)

    def __init__(self, rate: float, spin_ns: int | None = None) -> None:
        """rate [Hz]; spin_ns: polling time before a deadline [ns], None: measure it."""
        self.period_ns = _period_ns(rate)
        self.period = self.period_ns / NANOSECONDS  # [s]
        self.spin_ns = 0 if spin_ns is None else spin_ns
        self.missed = 0
        self.skipped = 0  # by the last wait
        self.deadline_ns = 0  # monotonic
        self.woke_ns = 0
        self._measure = spin_ns is None
        self._epoch_offset_ns = 0
        self._slack_before_ns = -1

    def start(self) -> None:
        """Put the grid's origin one period from now."""
        self._slack_before_ns = _timer_slack(FINEST_SLACK_NS)
        if self._measure:
            self.spin_ns = _measured_spin_ns()
        self._epoch_offset_ns = time.time_ns() - time.monotonic_ns()
        self.missed = 0
        self.woke_ns = time.monotonic_ns()
        self.deadline_ns = self.woke_ns

    def stop(self) -> None:
        """Give the thread its old timer slack back."""
        if self._slack_before_ns >= 0:
            _timer_slack(self._slack_before_ns)
            self._slack_before_ns = -1

    def wait(self) -> bool:
        """Sleep until the next deadline; those that had passed are skipped and counted."""
        period = self.period_ns
        deadline = self.deadline_ns + period
        now = time.monotonic_ns()
        skipped = 0
        late = now - deadline
        if late > 0:
            skipped = late // period
            if late - skipped * period > LATE_SHARE * period:
                skipped += 1
            deadline += skipped * period
            self.missed += skipped
        remaining = deadline - now - self.spin_ns
        if remaining > 0:
            time.sleep(remaining / NANOSECONDS)
        now = time.monotonic_ns()
        while now < deadline:
            now = time.monotonic_ns()
        self.deadline_ns = deadline
        self.woke_ns = now
        self.skipped = skipped
        return True

    def time_ns(self) -> int:
        """Wall-clock time of the current cycle [ns since 1970], immune to a clock that is set while the loop runs."""
        return self.woke_ns + self._epoch_offset_ns


class LockstepClock:
    """Never waits: a simulation runs as fast as it can, in steps of exactly one period, always with the same stamps."""

    def __init__(self, rate: float) -> None:
        self.period_ns = _period_ns(rate)
        self.period = self.period_ns / NANOSECONDS  # [s]
        self.missed = 0
        self.deadline_ns = 0
        self.woke_ns = 0

    def start(self) -> None:
        self.deadline_ns = self.woke_ns = 0

    def stop(self) -> None:
        pass

    def wait(self) -> bool:
        self.deadline_ns += self.period_ns
        self.woke_ns = self.deadline_ns
        return True

    def now_ns(self) -> int:
        """Work takes no simulated time, so a recording of it is always the same."""
        return self.woke_ns

    def time_ns(self) -> int:
        """Simulated time since the start [ns]."""
        return self.woke_ns


def _period_ns(rate: float) -> int:
    if not MIN_RATE <= rate <= MAX_RATE:
        raise UrAdmittanceError(f"control rate = {rate} Hz: must be between {MIN_RATE:g} and {MAX_RATE:g} Hz")
    return round(NANOSECONDS / rate)


def _measured_spin_ns() -> int:
    """Lower quartile of the wake-up delay of a short sleep [ns]."""
    delays = []
    for _ in range(CALIBRATION_SLEEPS):
        begin = time.monotonic_ns()
        time.sleep(CALIBRATION_SLEEP_S)
        delays.append(time.monotonic_ns() - begin - int(CALIBRATION_SLEEP_S * NANOSECONDS))
    delays.sort()
    return max(0, min(MAX_SPIN_NS, delays[CALIBRATION_SLEEPS // 4]))


def _timer_slack(nanoseconds: int) -> int:
    """Set the timer slack of the calling thread; returns what it was [ns], -1 where the system has none."""
    if not sys.platform.startswith("linux"):
        return -1
    libc = ctypes.CDLL(None, use_errno=True)
    before = int(libc.prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0))
    if libc.prctl(PR_SET_TIMERSLACK, ctypes.c_ulong(nanoseconds), 0, 0, 0) != 0:
        return -1
    return before
