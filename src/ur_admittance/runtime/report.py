"""How a loop ran: why it ended, and its timing."""

from dataclasses import dataclass

from ur_admittance.core.records import Mode, Status
from ur_admittance.runtime.statistics import Distribution


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
            f"{self.ticks} cycles; ended: {self.ended_because}; {self.mode.name.lower()}: {self.reason}",
            f"period        {self.period}",
            f"start late by {self.lateness}",
            f"read to write {self.latency}",
            f"publishing    {self.publish}",
            f"{self.missed} deadlines missed, {self.overruns} cycles longer than the period, {self.stalls} stalls",
        ]
        if self.publish_problem:
            lines.append(f"publishing ended early: {self.publish_problem}")
        return "\n".join(lines)
