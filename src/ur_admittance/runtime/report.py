"""How a loop ran: why it ended, and its timing, counted without allocation in histograms with bins of 1 us."""

from array import array
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.records import Mode, Status

BIN_NS = 1000
RECENT = 1024  # cycles between two counts
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


class Timings:
    """Durations of every cycle: period, lateness, latency, publishing [ns]; negative: there was none.

    ``add`` notes four numbers and allocates nothing the garbage collector looks at; they are counted in histograms once
    in 1024 cycles (50 us then), so that the loop does not fetch four cold histograms in every cycle.
    """

    KINDS = 4

    def __init__(self) -> None:
        self._recent = array("q", bytes(8 * self.KINDS * RECENT))
        self._used = 0
        self._counts = np.zeros((self.KINDS, BINS), dtype=np.int64)
        self._largest = np.zeros(self.KINDS, dtype=np.int64)

    def add(self, period: int, lateness: int, latency: int, publish: int) -> None:
        at, recent = self._used, self._recent
        recent[at], recent[at + 1], recent[at + 2], recent[at + 3] = period, lateness, latency, publish
        self._used = at + 4
        if self._used == len(recent):
            self._count()

    def _count(self) -> None:
        recent = np.frombuffer(self._recent, dtype=np.int64)[: self._used].reshape(-1, self.KINDS)
        for kind in range(self.KINDS):
            durations = recent[:, kind][recent[:, kind] >= 0]
            np.add.at(self._counts[kind], np.minimum(durations // BIN_NS, BINS - 1), 1)
            self._largest[kind] = max(self._largest[kind], durations.max(initial=0))
        self._used = 0

    def distributions(self) -> "list[Distribution]":
        """Of period, lateness, latency and publishing."""
        self._count()
        return [
            _distribution(counts, int(largest)) for counts, largest in zip(self._counts, self._largest, strict=True)
        ]


def _distribution(counts: NDArray[np.int64], largest_ns: int) -> Distribution:
    total = int(counts.sum())
    if total == 0:
        return Distribution(0, 0.0, 0.0, 0.0, 0.0)
    cumulative = np.cumsum(counts)

    def percentile(share: float) -> float:
        bin_ = int(np.searchsorted(cumulative, share * total))
        upper_edge_ns = largest_ns if bin_ >= BINS - 1 else (bin_ + 1) * BIN_NS
        return min(upper_edge_ns, largest_ns) * 1e-9

    return Distribution(total, percentile(0.5), percentile(0.99), percentile(0.999), largest_ns * 1e-9)


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
    recording_problem: str = ""  # why the recording ended early, empty: it did not, or there was none
    slowest_stages: dict[str, float] = field(default_factory=dict)  # the longest that each has taken

    def __str__(self) -> str:
        lines = [
            f"{self.ticks} cycles; ended: {self.ended_because}; {self.reason}",
            f"period        {self.period}",
            f"start late by {self.lateness}",
            f"read to write {self.latency}",
            f"publishing    {self.publish}",
            f"{self.missed} deadlines missed, {self.overruns} cycles longer than the period, {self.stalls} stalls",
        ]
        if self.slowest_stages:
            times = (f"{name} {1e6 * slowest:.0f} us" for name, slowest in self.slowest_stages.items())
            lines.append(f"slowest stages {', '.join(times)}")
        if self.publish_problem:
            lines.append(f"publishing ended early: {self.publish_problem}")
        if self.recording_problem:
            lines.append(f"the recording is incomplete: {self.recording_problem}")
        return "\n".join(lines)
