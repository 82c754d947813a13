"""What a scenario reports: metrics with units, what happened in words, and curves for the figure."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.faults import sentence
from ur_admittance.core.records import Mode
from ur_admittance_lab.episodes import Trace

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Metric:
    name: str
    value: float
    unit: str
    meaning: str


@dataclass(frozen=True)
class Curve:
    """A line of the figure next to what was measured: the ideal, a limit, the truth."""

    panel: str  # force, distance or speed
    t: Array  # [s]
    y: Array  # in the unit of the panel: N, mm, mm/s
    label: str


@dataclass(frozen=True)
class Outcome:
    scenario: str
    robot: str
    seed: int
    metrics: list[Metric]
    trace: Trace
    axis: Array  # direction along which force, distance and speed are drawn, base axes (3,)
    curves: list[Curve] = field(default_factory=list)
    story: list[str] = field(default_factory=list)  # what happened, one sentence each

    @property
    def stops(self) -> list[str]:
        """The sentence of every fault, in order."""
        mode, command = self.trace.command["mode"], self.trace.command
        begins = np.flatnonzero((mode == Mode.FAULT) & (np.roll(mode, 1) != Mode.FAULT))
        return [sentence(int(command["status"][i]), command["evidence"][i]) for i in begins]

    @property
    def ends_in_fault(self) -> bool:
        """A safety stop that nobody reset: whatever was measured, the task was not done."""
        return bool(self.trace.command["mode"][-1] == Mode.FAULT)

    def as_dict(self) -> dict[str, Any]:
        values = {metric.name: metric.value for metric in self.metrics}
        units = {metric.name: metric.unit for metric in self.metrics}
        return {
            "scenario": self.scenario,
            "robot": self.robot,
            "seed": self.seed,
            **values,
            "units": units,
            "stops": self.stops,
            "realtime_factor": self.trace.realtime_factor,
        }


def rms(values: Array) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def settling_time(t: Array, values: Array, final: float, band: float) -> float:
    """Time after which the values stay within the band around the final one [s]."""
    outside = np.flatnonzero(np.abs(values - final) > band)
    return float(t[outside[-1]] - t[0]) if len(outside) else 0.0


def best_lag(measured: Array, ideal: Array, longest: int) -> tuple[int, float]:
    """The shift in samples that explains most of the difference, and the RMS that is left."""
    left = [rms(measured[k:] - ideal[: len(ideal) - k]) for k in range(longest + 1)]
    return int(np.argmin(left)), float(min(left))
