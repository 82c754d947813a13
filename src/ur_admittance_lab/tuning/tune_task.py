"""The whole command: search, parameter file, certificate, comparison, report."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ur_admittance.errors import ParameterError
from ur_admittance.params import Parameters
from ur_admittance_lab.tuning.certificate import certify
from ur_admittance_lab.tuning.optimise import Budget, Progress, search
from ur_admittance_lab.tuning.score import cost
from ur_admittance_lab.tuning.screen import reserve
from ur_admittance_lab.tuning.task import FRESH, LARGEST_SEED, Task
from ur_admittance_lab.tuning.trials import Batch, Job
from ur_admittance_lab.tuning.tuning_result import Result, Rival, make_folder, parameter_text, write_text

TUNED = "tuned"
MOST = 10**6  # cases or candidates: more are a slip of the finger
COMPARED = 300  # fresh cases on which the presets and plain admittance run too

Say = Callable[[str, int, int], Any]  # what is going on, done, of


def tune(
    task: Task,
    seed: int,
    budget: Budget,
    batch: Batch,
    out: Path,
    *,
    fresh: int = 1000,
    resume: bool = False,
    show: Callable[[Progress], Any] = lambda progress: None,
    say: Say = lambda what, done, total: None,
) -> Result:
    """Search, then certify with fresh cases. Ctrl-C ends it there, and keeps the best found so far."""
    _check(seed, budget, out, fresh, resume)
    began = time.monotonic()
    make_folder(out)
    found = search(task, seed, budget, batch, journal_of(out), resume=resume, show=show)
    result = Result(task, seed, budget, found)
    write_text(out, parameter_text(result))
    try:
        if not found.interrupted:
            tuned = _run(task, seed, batch, TUNED, found.parameters, fresh, say)
            least = min(reserve(task, found.parameters, task.case(seed, FRESH, i)) for i in range(fresh))
            result = replace(result, certificate=replace(tuned.certificate, reserve=least))
            write_text(out, parameter_text(result))
            few = min(fresh, COMPARED)
            rivals = [_run(task, seed, batch, *rival, few, say) for rival in task.rivals().items()]
            result = replace(result, contest=(_first(task, tuned, few), *rivals))
    except KeyboardInterrupt:
        result = replace(result, found=replace(found, interrupted=True))
    return replace(result, seconds=time.monotonic() - began)


def journal_of(out: Path) -> Path:
    """Where the search is kept: beside the parameter file."""
    return out.with_suffix(".journal")


def _run(task: Task, seed: int, batch: Batch, name: str, parameters: Parameters, cases: int, say: Say) -> Rival:
    jobs = [Job(seed, FRESH, i, parameters) for i in range(cases)]
    results = batch(task, jobs, lambda done, total: say(f"{name} on fresh cases", done, total))
    costs = [cost(task.figures, values) for values in results]
    return Rival(name, parameters, results, costs, certify(task.figures, results, costs))


def _first(task: Task, rival: Rival, cases: int) -> Rival:
    """The same on the first cases only."""
    results, costs = rival.results[:cases], rival.costs[:cases]
    return replace(rival, results=results, costs=costs, certificate=certify(task.figures, results, costs))


def _check(seed: int, budget: Budget, out: Path, fresh: int, resume: bool) -> None:
    if not 0 <= seed < LARGEST_SEED:
        raise ParameterError(f"--seed {seed}: must be from 0 to {LARGEST_SEED - 1}.")
    for name, value in (("--cases", budget.cases), ("--trials", budget.trials), ("--fresh", fresh)):
        if not 1 <= value <= MOST:
            raise ParameterError(f"{name} {value}: must be >= 1 and at most {MOST}.")
    if not budget.minutes > 0.0:
        raise ParameterError(f"--minutes {budget.minutes:g}: must be > 0.")
    if out.suffix not in (".yaml", ".yml"):
        raise ParameterError(f"--out {out}: must end with .yaml.")
    if out.exists() and not resume:
        raise ParameterError(f"--out {out}: exists already; choose another name, or go on with --resume.")
