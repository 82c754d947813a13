"""The same batches on a Dask cluster: a scheduler anywhere, workers with the same version of this package.

A job is pure (its bits depend on nothing but itself), so that whatever a dead worker was doing is done again by
another one, with the same result. Jobs travel in small groups: one message carries a good part of a second of work.
"""

import platform
import re
from collections.abc import Sequence
from types import TracebackType
from typing import Any, cast

from ur_admittance.errors import SimulationError
from ur_admittance_lab.tuning.certificate import versions
from ur_admittance_lab.tuning.task import Task
from ur_admittance_lab.tuning.trials import Count, Job, Threads, Values

GROUP = 5  # jobs of one message: 0.3 s of work, against a few milliseconds of overhead
RETRIES = 5  # of a group whose worker died
CONNECT = 10.0  # [s] until a scheduler must have answered
ADDRESS = r"(tcp|tls|ucx|ws|wss)://.+:[0-9]+/?"
WHOLE_GENERATION = 1000  # candidates at once


def run_group(task: Task, jobs: Sequence[Job], wanted: dict[str, str]) -> list[Values]:
    """On a worker. One thread: Dask itself decides how many groups run side by side. A worker may have joined late:
    it looks for itself whether it has the ``wanted`` versions."""
    _same_versions({platform.node(): versions()}, wanted)
    return Threads(1)(task, jobs)


class Cluster:
    """`with Cluster("tcp://host:8786") as batch`: a Batch."""

    candidates = WHOLE_GENERATION

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise SimulationError("--scheduler needs Dask: pip install 'ur-admittance[cluster]'.") from None
        if not re.fullmatch(ADDRESS, address):  # Dask's own client would hang for 20 s after its refusal
            raise SimulationError(f"--scheduler {address}: must be an address such as tcp://10.0.0.1:8786.")
        try:
            connect: Any = Client  # has no types
            self._client: Any = connect(address, timeout=CONNECT, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise SimulationError(f"--scheduler {address}: no Dask scheduler answers there ({reason}).") from None

    def __enter__(self) -> "Cluster":
        try:
            _same_versions(self._client.run(versions), versions())
        except ImportError as error:
            self._client.close()
            raise SimulationError(f"a Dask worker cannot import what it needs ({error}).") from None
        except BaseException:
            self._client.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def __call__(self, task: Task, jobs: Sequence[Job], progress: Count | None = None) -> list[Values]:
        import distributed
        from distributed.scheduler import KilledWorker

        wanted = versions()
        groups = [list(jobs[i : i + GROUP]) for i in range(0, len(jobs), GROUP)]
        futures = [self._client.submit(run_group, task, group, wanted, pure=False, retries=RETRIES) for group in groups]
        order = {future.key: i for i, future in enumerate(futures)}
        results: list[list[Values]] = [[] for _ in groups]
        done, as_completed = 0, cast(Any, distributed).as_completed  # has no types
        try:
            for future, result in as_completed(futures, loop=self._client.loop, with_results=True):
                if not isinstance(result, list):  # Dask hands over the error of a cancelled group as its result
                    raise SimulationError("the Dask scheduler is gone; go on with --resume, with or without a cluster.")
                results[order[future.key]] = result
                done += len(result)
                if progress is not None:
                    progress(done, len(jobs))
        except KilledWorker as error:
            raise SimulationError(f"the cluster gave up: {error}") from None
        finally:
            if self._client.status == "running":
                self._client.cancel([future for future in futures if not future.done()])
        return [values for group in results for values in group]


def _same_versions(found: dict[str, dict[str, str]], mine: dict[str, str]) -> None:
    """Other versions would give other bits, and a certificate names only one."""
    if not found:
        raise SimulationError("the Dask scheduler has no workers; start some with: dask worker ADDRESS.")
    for worker, theirs in found.items():
        different = [
            f"{name} {theirs.get(name)} (here {mine[name]})" for name in mine if mine[name] != theirs.get(name)
        ]
        if different:
            raise SimulationError(f"the Dask worker {worker} has {', '.join(different)}: it would give other bits.")
