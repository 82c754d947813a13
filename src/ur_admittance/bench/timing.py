"""Duration of single calls, free of the cost of reading the clock."""

import gc
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ur_admittance.errors import UrAdmittanceError

CLOCK_READINGS = 5001


class Missing(UrAdmittanceError):
    """A peer cannot run here; the message says what to install."""


class Peer(Protocol):
    """Somebody who can be timed."""

    name: str  # key of the result: tick, kdl_tick ...
    title: str  # for people
    calls_per_round: int

    def round(self, count: int) -> NDArray[np.float64]:
        """Durations of `count` calls [ns], starting afresh with the arm at rest."""

    def close(self) -> None: ...


@dataclass(frozen=True)
class Durations:
    """[us]"""

    least: float
    median: float
    p99: float
    p99_9: float
    calls: int

    def as_dict(self) -> dict[str, float]:
        return asdict(self)


def summary(nanoseconds: NDArray[np.float64], items: int = 1) -> Durations:
    """Of calls that each do `items` items of work: durations per item."""
    least, median, p99, p99_9 = np.percentile(nanoseconds, (0.0, 50.0, 99.0, 99.9)) / (1e3 * items)
    return Durations(float(least), float(median), float(p99), float(p99_9), nanoseconds.size)


def clock_cost() -> float:
    """Median time between two readings of the clock with nothing in between [ns]."""
    clock = time.perf_counter_ns
    costs = np.empty(CLOCK_READINGS)
    for i in range(CLOCK_READINGS):
        begin = clock()
        end = clock()
        costs[i] = end - begin
    return float(np.median(costs))


def measure(
    call: Callable[..., Any], arguments: tuple[Any, ...], prepare: Callable[[int], None], count: int
) -> NDArray[np.float64]:
    """Durations [ns] of call(*arguments) alone; prepare(i) runs before each, outside of the measurement.

    The garbage collector is off, as it is in the control loop.
    """
    clock = time.perf_counter_ns
    durations = np.empty(count)
    cost = clock_cost()
    collecting = gc.isenabled()
    gc.disable()
    try:
        for i in range(count):
            prepare(i)
            begin = clock()
            call(*arguments)
            end = clock()
            durations[i] = end - begin
    finally:
        if collecting:
            gc.enable()
    return durations - cost
