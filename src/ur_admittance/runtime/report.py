"""How a loop ran: why it ended, and its timing, counted without allocation in histograms with bins of 1 us."""

from array import array
from dataclasses import dataclass

import numpy as np

from ur_admittance.core.records import Mode, Status

BIN_NS = 1000
BINS = 20_000  # up to 20 ms; longer values share the last bin, the largest is kept exactly


@dataclass(frozen=True)
class Distribution:
    """Percentiles of a duration [s]."""

    count: int
    p50: float
    p99: float
    p999: float
    max: float

    def __str__(self) -> str:
        values = (self.p50, self.p99, self.p999, self.max)
        return "p50 {:.0f}, p99 {:.0f}, p99.9 {:.0f}, max {:.0f} us".format(*(1e6 * value for value in values))


class Histogram:
    """Counts durations; ``add`` costs 0.2 us and allocates nothing the garbage collector looks at."""

    def __init__(self) -> None:
        self._counts = array("q", bytes(8 * BINS))
        self.largest_ns = 0

    def add(self, duration_ns: int) -> None:
        if duration_ns > self.largest_ns:
            self.largest_ns = duration_ns
        bin_ = duration_ns // BIN_NS
        if bin_ >= BINS:
            bin_ = BINS - 1
        elif bin_ < 0:
            bin_ = 0
        self._counts[bin_] += 1

    def distribution(self) -> Distribution:
        counts = np.frombuffer(self._counts, dtype=np.int64)
        total = int(counts.sum())
        if total == 0:
            return Distribution(0, 0.0, 0.0, 0.0, 0.0)
        cumulative = np.cumsum(counts)

        def percentile(share: float) -> float:
            bin_ = int(np.searchsorted(cumulative, share * total))
            upper_edge_ns = self.largest_ns if bin_ >= BINS - 1 else (bin_ + 1) * BIN_NS
            return min(upper_edge_ns, self.largest_ns) * 1e-9

        return Distribution(total, percentile(0.5), percentile(0.99), percentile(0.999), self.largest_ns * 1e-9)


@dataclass(frozen=True)
class LoopReport:
    """How the loop ran; durations in seconds."""

    ticks: int
    ended_because: str
    mode: Mode
    status: Status
    reason: str  # the controller's sentence
    period: Distribution
    lateness: Distribution
    latency: Distribution  # read to write
    publish: Distribution
    missed: int  # deadlines skipped
    overruns: int  # cycles longer than the period
    stalls: int  # pauses longer than 0.1 s: each is a fault
    bad_periods: int  # samples whose dt was outside 0 < dt <= 0.1 s
    publish_problem: str  # why publishing ended early, empty: it did not

    def __str__(self) -> str:
        lines = [
            f"{self.ticks} cycles; ended: {self.ended_because}; {self.reason}",
            f"period        {self.period}",
            f"start late by {self.lateness}",
            f"read to write {self.latency}",
            f"publishing    {self.publish}",
            f"{self.missed} deadlines missed, {self.overruns} cycles longer than the period, {self.stalls} stalls",
        ]
        if self.publish_problem:
            lines.append(f"publishing ended early: {self.publish_problem}")
        return "\n".join(lines)
