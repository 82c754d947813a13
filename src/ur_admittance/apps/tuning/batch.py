"""Where simulations run: threads of this process, or a cluster (cluster.py). Either gives the same bits."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ur_admittance.simulation import Case, Trace, simulate

Measure = Callable[[Case, Trace], dict[str, float]]
Count = Callable[[int, int], Any]  # done, of


class Batch(Protocol):
    """Runs cases and measures each; results in the order of the cases."""

    candidates: int  # that are worth running at once, to keep everybody busy

    def __call__(
        self, cases: Sequence[Case], measure: Measure, progress: Count | None = None
    ) -> list[dict[str, float]]: ...


class Threads:
    """The default: no server, no second process. None: as many as there are processors."""

    candidates = 1

    def __init__(self, threads: int | None = None) -> None:
        self._threads = threads

    def __call__(
        self, cases: Sequence[Case], measure: Measure, progress: Count | None = None
    ) -> list[dict[str, float]]:
        return simulate(cases, measure, threads=self._threads, progress=progress)
