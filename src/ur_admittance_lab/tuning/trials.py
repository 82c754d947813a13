"""Where simulations run: threads of this process, or a cluster (cluster.py). Either gives the same bits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, overload

from ur_admittance.params import Parameters
from ur_admittance_lab.episodes import Case, simulate
from ur_admittance_lab.tuning.task import Task, with_parameters

Values = dict[str, float]  # figures of one case
Count = Callable[[int, int], Any]  # done, of


@dataclass(frozen=True)
class Job:
    """A case as a recipe, a few kilobytes: the case itself, with its script, is half a megabyte."""

    seed: int
    stream: int
    index: int
    parameters: Parameters


class Jobs(Sequence[Case]):
    """Cases that are drawn when they are needed."""

    def __init__(self, task: Task, jobs: Sequence[Job]) -> None:
        self._task, self._jobs = task, jobs

    def __len__(self) -> int:
        return len(self._jobs)

    @overload
    def __getitem__(self, index: int) -> Case: ...

    @overload
    def __getitem__(self, index: slice) -> "Jobs": ...

    def __getitem__(self, index: int | slice) -> "Case | Jobs":
        if isinstance(index, slice):
            return Jobs(self._task, self._jobs[index])
        job = self._jobs[index]
        return with_parameters(self._task.case(job.seed, job.stream, job.index), job.parameters)


class Batch(Protocol):
    """Runs jobs of a task; figures in the order of the jobs."""

    candidates: int  # that are worth running at once, to keep everybody busy

    def __call__(self, task: Task, jobs: Sequence[Job], progress: Count | None = None) -> list[Values]: ...


class Threads:
    """The default: no server, no second process. None: as many as there are processors."""

    candidates = 1

    def __init__(self, threads: int | None = None) -> None:
        self._threads = threads

    def __call__(self, task: Task, jobs: Sequence[Job], progress: Count | None = None) -> list[Values]:
        return simulate(Jobs(task, jobs), task.measure, threads=self._threads, progress=progress)
