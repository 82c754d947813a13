"""Batches of episodes until the budget is used up; findings, the worst of each check, and how to repeat them."""

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np

from ur_admittance.core.records import Mode, Status
from ur_admittance.errors import LogError, SimulationError
from ur_admittance_lab.campaign.campaign_episode import Episode
from ur_admittance_lab.campaign.families import FAMILIES, episode
from ur_admittance_lab.campaign.motion_checks import MOTION
from ur_admittance_lab.campaign.status_checks import status
from ur_admittance_lab.campaign.view import Reading, View
from ur_admittance_lab.episodes import Case, Trace, simulate
from ur_admittance_lab.episodes.record_case import record_case
from ur_admittance_lab.evidence import stamp

BATCH = 40  # episodes drawn at once: a few seconds of work that Ctrl-C may lose
EXAMPLES = 3  # findings of one family and check that are kept as recordings


@dataclass(frozen=True)
class Finding:
    """A check that an episode broke."""

    family: str
    number: int
    robot: str
    reading: Reading

    @property
    def kind(self) -> tuple[str, str]:
        return self.family, self.reading.check

    @property
    def command(self) -> str:
        return f"ur-admittance campaign --repeat {self.family}:{self.number}"

    def __str__(self) -> str:
        r = self.reading
        return f"{r.check} {r.value:.4g} > {r.bound:.4g} {r.unit} at {r.at:.3f} s, {self.robot}: {self.command}"

    def as_dict(self) -> dict[str, Any]:
        r = self.reading
        named = {"family": self.family, "number": self.number, "robot": self.robot, "check": r.check}
        return named | {"value": r.value, "bound": r.bound, "unit": r.unit, "at": r.at, "during": r.during}


@dataclass(frozen=True)
class Verdict:
    """What the checks say about one episode."""

    readings: tuple[Reading, ...]
    cycles: int
    stops: tuple[str, ...]  # names of the faults that stopped the arm
    seconds: float  # of computing that the checks took

    @property
    def broken(self) -> list[Reading]:
        return [reading for reading in self.readings if reading.broken]


def judge(episode: Episode, trace: Trace) -> Verdict:
    """Run every check."""
    begin = time.thread_time()
    view = View(episode, trace)
    readings = [
        replace(reading, during=view.during(reading.at)) if reading.broken else reading
        for check in (*MOTION, status)
        for reading in check(view)
    ]
    mode = trace.command["mode"]
    entered = np.flatnonzero((mode[1:] == Mode.FAULT) & (mode[:-1] != Mode.FAULT)) + 1
    stops = tuple(Status(int(code)).name for code in trace.command["status"][entered])
    return Verdict(tuple(readings), len(trace.command), stops, time.thread_time() - begin)


@dataclass
class Tally:
    """One check in one family."""

    worst: Reading
    number: int  # of the episode with the worst reading
    readings: int = 0
    failures: int = 0

    def add(self, number: int, reading: Reading) -> None:
        self.readings += 1
        self.failures += reading.broken
        if not reading.share <= self.worst.share:
            self.worst, self.number = reading, number

    def as_dict(self) -> dict[str, Any]:
        worst = {"value": self.worst.value, "bound": self.worst.bound, "unit": self.worst.unit, "number": self.number}
        return {"readings": self.readings, "failures": self.failures, "worst": worst}


@dataclass(frozen=True)
class Budget:
    """Ends the campaign: whatever is reached first."""

    episodes: float = math.inf
    cycles: float = math.inf
    seconds: float = math.inf

    def used(self, campaign: "Campaign") -> float:
        """Share that is used up."""
        return max(campaign.episodes / self.episodes, campaign.cycles / self.cycles, campaign.seconds / self.seconds)


@dataclass
class Campaign:
    """Runs episodes and counts. ``number`` is the first one of each family; one after the other, families in turn."""

    families: Sequence[str] = tuple(FAMILIES)
    number: int = 0
    threads: int | None = None
    keep: Path | None = None  # folder for recordings of findings
    show: Callable[[Finding], None] = lambda finding: None
    findings: list[Finding] = field(default_factory=list)
    tallies: dict[tuple[str, str], Tally] = field(default_factory=dict)
    stops: Counter[tuple[str, str]] = field(default_factory=Counter)
    runs: Counter[str] = field(default_factory=Counter)
    family_cycles: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    check_seconds: float = 0.0
    interrupted: bool = False

    @property
    def episodes(self) -> int:
        return self.runs.total()

    @property
    def cycles(self) -> int:
        return self.family_cycles.total()

    def run(self, budget: Budget, progress: Callable[["Campaign", float], None] | None = None) -> None:
        """Until the budget is used up or Ctrl-C, which loses the batch at work only."""
        names = ((family, number) for number in count(self.number) for family in self.families)
        begin = time.monotonic()
        try:
            while (used := budget.used(self)) < 1.0:
                if progress is not None:
                    progress(self, used)
                left = min(BATCH, budget.episodes - self.episodes)
                self._batch([episode(*name) for name in islice(names, math.ceil(left))])
                self.seconds = time.monotonic() - begin
        except KeyboardInterrupt:
            self.interrupted = True

    def _batch(self, batch: list[Episode]) -> None:
        by_case = {id(drawn.case): drawn for drawn in batch}

        def measure(case: Case, trace: Trace) -> Verdict:
            return judge(by_case[id(case)], trace)

        verdicts = simulate([drawn.case for drawn in batch], measure, threads=self.threads)
        for drawn, verdict in zip(batch, verdicts, strict=True):
            self.count(drawn, verdict)

    def count(self, episode: Episode, verdict: Verdict) -> None:
        """Take one verdict into the sums; say and keep the first findings of a kind."""
        self.runs[episode.family] += 1
        self.family_cycles[episode.family] += verdict.cycles
        self.check_seconds += verdict.seconds
        self.stops.update((episode.family, stop) for stop in verdict.stops)
        for reading in verdict.readings:
            tally = self.tallies.setdefault((episode.family, reading.check), Tally(reading, episode.number))
            tally.add(episode.number, reading)
            if reading.broken:
                finding = Finding(episode.family, episode.number, episode.case.robot, reading)
                self.findings.append(finding)
                self.show(finding)
                if self.keep is not None and tally.failures <= EXAMPLES:
                    record(episode, self.keep)

    def as_dict(self) -> dict[str, Any]:
        table: dict[str, dict[str, Any]] = {family: {} for family in self.runs}
        for (family, check), tally in self.tallies.items():
            table[family][check] = tally.as_dict()
        stops: dict[str, dict[str, int]] = {family: {} for family in self.runs}
        for (family, name), number in self.stops.items():
            stops[family][name] = number
        return {
            "evidence": stamp("campaign"),
            "episodes": dict(self.runs),
            "cycles": self.cycles,
            "family_cycles": dict(self.family_cycles),
            "seconds": self.seconds,
            "check_seconds": self.check_seconds,
            "first_number": self.number,
            "interrupted": self.interrupted,
            "checks": table,
            "stops": stops,
            "findings": [finding.as_dict() for finding in self.findings],
        }


def record(episode: Episode, folder: Path) -> Path:
    """The episode as a recording; one that is there already is the same."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{episode.family}_{episode.number}.mcap"
    if not path.exists():
        try:
            record_case(episode.case, path)
        except LogError:
            path.unlink(missing_ok=True)  # half of it would be taken for the whole the next time
            raise
    return path


def repeat(name: str) -> tuple[Episode, Verdict]:
    """The episode FAMILY:NUMBER once more."""
    family, _, number = name.partition(":")
    if not number.isdigit():
        raise SimulationError(f"--repeat {name}: must be FAMILY:NUMBER, such as limits:17.")
    again = episode(family, int(number))
    [verdict] = simulate([again.case], lambda case, trace: judge(again, trace), threads=1)
    return again, verdict
