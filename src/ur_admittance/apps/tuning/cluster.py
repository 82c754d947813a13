"""The same batches on a Dask cluster: a scheduler anywhere, workers with the same version of this package.

A case is pure (its bits depend on nothing but itself), so that whatever a dead worker was doing is done again by
another one, with the same result. Cases travel in small groups: one message carries some seconds of work.
"""

from collections.abc import Sequence
from types import TracebackType
from typing import Any

from ur_admittance.apps.tuning.batch import Count, Measure
from ur_admittance.apps.tuning.certificate import versions
from ur_admittance.errors import SimulationError
from ur_admittance.simulation import Case, simulate

GROUP = 4  # cases of one message: half a second of work, against about a millisecond of overhead
RETRIES = 5  # of a group whose worker died; Dask gives up on one that kills this many workers
CONNECT = 10.0  # [s] until a scheduler must have answered


def run_group(cases: Sequence[Case], measure: Measure) -> list[dict[str, float]]:
    """On a worker. One thread: Dask itself decides how many groups run side by side."""
    return simulate(cases, measure, threads=1)


def worker_versions() -> dict[str, str]:
    return versions()


class Cluster:
    """`with Cluster("tcp://host:8786") as batch`: a Batch."""

    def __init__(self, address: str) -> None:
        try:
            import distributed
        except ImportError:
            raise SimulationError("--scheduler needs Dask: pip install 'ur-admittance[cluster]'.") from None
        try:
            self._client: Any = distributed.Client(address, timeout=CONNECT)
        except (OSError, ValueError, TimeoutError) as error:
            raise SimulationError(f"--scheduler {address}: no Dask scheduler answers there ({error}).") from None
        self.candidates = 1000  # a whole generation

    def __enter__(self) -> "Cluster":
        found = self._client.run(worker_versions)
        if not found:
            self._client.close()
            raise SimulationError("the scheduler has no workers; start some with: dask worker ADDRESS.")
        mine = versions()
        for worker, theirs in found.items():
            different = [name for name in mine if mine[name] != theirs.get(name)]
            if different:
                self._client.close()
                what = ", ".join(f"{name} {theirs.get(name)}, here {mine[name]}" for name in different)
                raise SimulationError(f"worker {worker} has {what}: the same cases would give other bits.")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def __call__(
        self, cases: Sequence[Case], measure: Measure, progress: Count | None = None
    ) -> list[dict[str, float]]:
        from distributed import as_completed

        groups = [list(cases[i : i + GROUP]) for i in range(0, len(cases), GROUP)]
        futures = [self._client.submit(run_group, group, measure, pure=False, retries=RETRIES) for group in groups]
        order = {future.key: i for i, future in enumerate(futures)}
        results: list[list[dict[str, float]]] = [[] for _ in groups]
        done = 0
        try:
            for future, result in as_completed(futures, with_results=True):
                results[order[future.key]] = result
                done += len(result)
                if progress is not None:
                    progress(done, len(cases))
        except BaseException:
            self._client.cancel(futures)
            raise
        return [values for group in results for values in group]
