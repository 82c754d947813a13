"""The search: CMA-ES in generations, by Optuna's ask and tell, kept in a journal that --resume goes on from.

Generation 0 are the presets and the defaults; the best of them is where CMA-ES starts. All candidates meet the same
cases. Each generation is asked as a whole before any of it is told, from a sampler seeded by the seed and the number of
the generation: however often a search was interrupted, the same candidates come in the same order.
"""

import json
import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ur_admittance.errors import ParameterError
from ur_admittance.params import Parameters
from ur_admittance_lab.tuning.journal import BEGUN, COMPLETE, in_use, repair
from ur_admittance_lab.tuning.score import REFUSED, cost, worst_tenth
from ur_admittance_lab.tuning.screen import refused_share
from ur_admittance_lab.tuning.task import SEARCH, Task
from ur_admittance_lab.tuning.trials import Batch, Job

if TYPE_CHECKING:
    from optuna import Study

POPULATION = 12  # candidates of a generation: CMA-ES' own choice for 5 to 8 unknowns is 8 to 10
FIRST_STEP = 0.2  # of the range of each unknown: the first generation covers most of it
STUDY = "tune"


@dataclass(frozen=True)
class Budget:
    cases: int = 40  # that every candidate meets
    trials: int = 160  # candidates
    minutes: float = math.inf


@dataclass
class Progress:
    """What a progress bar shows."""

    trials: int = 0  # told so far, in all runs
    simulated: int = 0  # cases in this run
    refused: int = 0  # candidates refused without simulation, in this run
    best: float = math.inf
    share: float = 0.0  # of the present batch that is done


@dataclass(frozen=True)
class Found:
    parameters: Parameters
    values: dict[str, float]  # of the unknowns
    score: float
    trials: int
    simulated: int  # in this run
    refused: int  # in this run
    seconds: float  # of this run
    interrupted: bool

    @property
    def hopeless(self) -> bool:
        """Every candidate was refused without simulation."""
        return self.score >= REFUSED


def search(
    task: Task,
    seed: int,
    budget: Budget,
    batch: Batch,
    journal: Path,
    *,
    resume: bool = False,
    show: Callable[[Progress], Any] = lambda progress: None,
) -> Found:
    """The best candidate within the budget. Ctrl-C ends it early and keeps the best."""
    _check(journal, resume)
    with in_use(journal):
        study = _open(task, seed, budget, journal)
        return _search(study, task, seed, budget, batch, show)


def _search(
    study: "Study", task: Task, seed: int, budget: Budget, batch: Batch, show: Callable[[Progress], Any]
) -> Found:
    began, progress, interrupted = time.monotonic(), Progress(), False
    score = _Scorer(task, seed, budget.cases, batch, progress, show)
    try:
        while True:
            trials = study.get_trials(deepcopy=False)
            progress.trials = sum(trial.state.is_finished() for trial in trials)
            progress.best = min((trial.value for trial in trials if trial.value is not None), default=math.inf)
            waiting = [t for t in trials if not t.state.is_finished()] or _ask(study, task, seed, budget.trials)
            if not waiting or time.monotonic() - began > 60.0 * budget.minutes:
                break
            some = waiting[: batch.candidates]
            for trial, value in zip(some, score([task.candidate(t.params) for t in some]), strict=True):
                study.tell(trial.number, value)
    except KeyboardInterrupt:
        interrupted = True
    if not _told(study):
        raise KeyboardInterrupt
    best = study.best_trial
    assert best.value is not None
    return Found(
        task.candidate(best.params),
        dict(best.params),
        best.value,
        _told(study),
        progress.simulated,
        progress.refused,
        time.monotonic() - began,
        interrupted,
    )


class _Scorer:
    """Scores of candidates on the same cases, all of them in one batch."""

    def __init__(
        self, task: Task, seed: int, cases: int, batch: Batch, progress: Progress, show: Callable[[Progress], Any]
    ) -> None:
        self._task, self._batch, self._progress, self._show = task, batch, progress, show
        self._seed, self._cases = seed, [task.case(seed, SEARCH, i) for i in range(cases)]
        hardest = [task.at_corner(case, stiff=True, late=True) for case in self._cases]
        self._screened = [*self._cases, *hardest]  # the reserve is demanded in every arm and pose

    def __call__(self, candidates: Sequence[Parameters]) -> list[float]:
        shares = [refused_share(self._task, parameters, self._screened) for parameters in candidates]
        live = [p for p, share in zip(candidates, shares, strict=True) if share == 0.0]
        jobs = [Job(self._seed, SEARCH, i, parameters) for parameters in live for i in range(len(self._cases))]
        results = self._batch(self._task, jobs, self._count) if jobs else []
        self._progress.simulated += len(jobs)
        self._progress.refused += len(candidates) - len(live)
        costs = iter([cost(self._task.figures, values) for values in results])
        return [
            REFUSED * (1.0 + share) if share else worst_tenth([next(costs) for _ in self._cases]) for share in shares
        ]

    def _count(self, done: int, total: int) -> None:
        self._progress.share = done / total
        self._show(self._progress)


def _told(study: "Study") -> int:
    return sum(trial.state.is_finished() for trial in study.get_trials(deepcopy=False))


def _ask(study: "Study", task: Task, seed: int, most: int) -> list[Any]:
    """The next generation; none if it would go beyond `most` trials in all."""
    import optuna

    distributions: dict[str, Any] = {
        u.name: optuna.distributions.FloatDistribution(u.low, u.high, log=u.log) for u in task.unknowns
    }
    count = len(study.get_trials(deepcopy=False))
    if count == 0:
        study.set_user_attr(BEGUN, 0)
        ours = [p for name, p in task.rivals().items() if p.contact.stabilizer]
        starts = [{u.name: u.of(parameters) for u in task.unknowns} for parameters in ours]
        for start in [start for i, start in enumerate(starts) if start not in starts[:i]]:
            study.enqueue_trial(start)
            study.ask(distributions)
    elif count + POPULATION <= most:  # generations are never cut: a longer search goes on the same way
        generation = study.user_attrs.get(BEGUN, 0) + 1
        study.set_user_attr(BEGUN, generation)
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", FutureWarning
            )  # x0 and sigma0 leave with Optuna 6; pyproject.toml stays below
            study.sampler = _sampler(study, seed, generation)
            for _ in range(POPULATION):
                study.ask(distributions)
    else:
        return []
    study.set_user_attr(COMPLETE, study.user_attrs[BEGUN])
    return [t for t in study.get_trials(deepcopy=False) if not t.state.is_finished()]


def _sampler(study: "Study", seed: int, generation: int) -> Any:
    import optuna

    started = study.user_attrs.get("start")
    if started is None:
        started = study.best_trial.params
        study.set_user_attr("start", started)
    return optuna.samplers.CmaEsSampler(
        x0=started, sigma0=FIRST_STEP, popsize=POPULATION, seed=(seed * 1_000_003 + generation) % 2**32
    )


def _check(journal: Path, resume: bool) -> None:
    """Before anything is written."""
    try:
        import cmaes  # noqa: F401  (Optuna needs it for CMA-ES and says so only when asked for a candidate)
        import optuna  # noqa: F401
    except ImportError:
        raise ParameterError("tune needs Optuna and cmaes: pip install 'ur-admittance[tune]'.") from None
    if journal.exists() and not resume:
        raise ParameterError(f"{journal}: a search is kept there; go on with --resume, or remove it or choose --out.")
    if resume and not journal.exists():
        raise ParameterError(f"{journal}: there is no search to resume; leave out --resume or check --out.")


def _open(task: Task, seed: int, budget: Budget, journal: Path) -> "Study":
    """The study of this journal. A journal of another task, seed, range or number of cases is refused."""
    import optuna
    from optuna.storages.journal import JournalFileBackend

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    repair(journal)
    asked = fingerprint(task, seed, budget.cases)
    storage = optuna.storages.JournalStorage(JournalFileBackend(str(journal)))
    study = optuna.create_study(storage=storage, study_name=STUDY, load_if_exists=True)
    if study.user_attrs.get("asked", asked) != asked:
        raise ParameterError(f"{journal}: was made for another task, seed or range; start anew with another --out.")
    study.set_user_attr("asked", asked)
    return study


def fingerprint(task: Task, seed: int, cases: int) -> str:
    """Everything that decides the score of a candidate."""
    known = task.knowledge.as_dict() | {"base": task.knowledge.base.flat()}
    return json.dumps({"task": task.name, "seed": seed, "cases": cases, "known": known}, sort_keys=True)
