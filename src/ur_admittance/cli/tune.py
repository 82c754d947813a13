"""ur-admittance tune: parameters for a task, found in simulation, with a certificate."""

import contextlib
import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ur_admittance.cli.options import JsonOption
from ur_admittance.cli.ranges import numbers, parse_range

if TYPE_CHECKING:
    from ur_admittance.apps.tuning.batch import Batch
    from ur_admittance.apps.tuning.knowledge import Knowledge
    from ur_admittance.apps.tuning.result import Result
    from ur_admittance.apps.tuning.search import Progress
    from ur_admittance.simulation import Tool

SPEEDS = {"guide": "100..350mm/s"}  # [of a hand]; of all other tasks:
SPEED = "20..50mm/s"


def tune(
    task: Annotated[str, typer.Argument(help="press, follow, insert, or guide (by hand).")],
    robot: Annotated[list[str] | None, typer.Option(help="UR type; repeat it for several. Default: ur5e.")] = None,
    stiffness: Annotated[
        str, typer.Option(help="Stiffness of what is touched [N/m]: a value or a range.")
    ] = "1e3..1e5",
    delay: Annotated[str, typer.Option(help="Pure delay of the robot: 10ms or a range.")] = "5..20ms",
    force: Annotated[float, typer.Option(help="Force to press with [N].")] = 10.0,
    speed: Annotated[
        str | None, typer.Option(help="Along the surface, or of the hand, such as 20..50mm/s; default: by task.")
    ] = None,
    tool: Annotated[
        str | None,
        typer.Option(help="Tool: mass [kg], centre and TCP [m], as 1.2,0.05,0.15 (along z) or with all seven numbers."),
    ] = None,
    mass: Annotated[str | None, typer.Option(help="Mass of the tool [kg]: a value or a range such as 0.5..3.")] = None,
    pose: Annotated[
        list[str] | None, typer.Option(help="Six joint angles [rad] to start from (repeatable). Default: a spread.")
    ] = None,
    params: Annotated[
        Path | None, typer.Option(help="Parameter file to start from: tool, sensor, limits. Calibration files too.")
    ] = None,
    cases: Annotated[int, typer.Option(help="Random cases that every candidate meets.")] = 40,
    trials: Annotated[int, typer.Option(help="Candidates, at most.")] = 160,
    minutes: Annotated[float, typer.Option(help="End the search after this time.")] = math.inf,
    reserve: Annotated[
        float, typer.Option(help="Damping in contact over the least that the stability model needs, at least.")
    ] = 2.0,
    fresh: Annotated[int, typer.Option(help="Fresh cases of the certificate.")] = 1000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same parameters.")] = 0,
    out: Annotated[Path, typer.Option(help="Parameter file to write; the search is kept beside it (.journal).")] = Path(
        "tuned.yaml"
    ),
    report: Annotated[Path | None, typer.Option(help="New folder for figure, certificate, worst case.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the search kept beside --out.")] = False,
    threads: Annotated[int | None, typer.Option(help="Threads; default: one per processor.")] = None,
    scheduler: Annotated[str | None, typer.Option(help="Dask scheduler to use instead: tcp://host:8786.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Find parameters that hold in every contact of the given ranges, and certify them with fresh cases."""
    from ur_admittance.apps.tuning.knowledge import Range
    from ur_admittance.apps.tuning.report import check_folder, write_report
    from ur_admittance.apps.tuning.search import Budget
    from ur_admittance.apps.tuning.tasks import TASKS
    from ur_admittance.apps.tuning.tune import tune as run
    from ur_admittance.errors import ParameterError

    if task not in TASKS:
        raise ParameterError(f"task {task!r} is unknown: choose one of {', '.join(TASKS)}.")
    if report is not None:
        check_folder(report)
    knowledge = _knowledge(
        robot or ["ur5e"],
        {
            "stiffness": Range(*parse_range("--stiffness", stiffness, "N/m")),
            "delay": Range(*parse_range("--delay", delay, "s")),
            "speed": Range(*parse_range("--speed", speed or SPEEDS.get(task, SPEED), "m/s")),
            "force": force,
            "reserve": reserve,
            "poses": tuple(numbers("--pose", text, (6,)) for text in pose or []),
        },
        tool,
        mass,
        params,
    )
    with _batch(threads, scheduler) as batch, _Bar(trials, quiet=as_json) as bar:
        result = run(
            TASKS[task](knowledge),
            seed,
            Budget(cases, trials, minutes),
            batch,
            out,
            fresh=fresh,
            resume=resume,
            show=bar.searching,
            say=bar.counting,
        )
        if report is not None and result.certificate is not None:
            bar.counting("report", 0, 1)
            write_report(result, report)
    if as_json:
        typer.echo(json.dumps(result.summary(), indent=2))
    else:
        _print(result, out, report)
    if result.certificate is None:
        raise typer.Exit(130)


def _knowledge(
    robots: list[str], known: dict[str, Any], tool: str | None, mass: str | None, params: Path | None
) -> "Knowledge":
    from dataclasses import replace

    from ur_admittance.apps.tuning.knowledge import Knowledge, Range, of_parameters
    from ur_admittance.cli.values import parameters_from
    from ur_admittance.errors import ParameterError
    from ur_admittance.model import robot_model
    from ur_admittance.simulation import Tool

    for name in robots:
        robot_model(name)  # an unknown type is refused before anything else
    if tool is not None and params is not None:
        raise ParameterError("--tool and --params: the tool is in the parameter file; give one of them.")
    if params is not None:
        known |= of_parameters(parameters_from(str(params)))
    if tool is not None:
        known["tool"] = _tool(numbers("--tool", tool, (1, 3, 7)))
    weighed = known.get("tool", Tool())
    known["mass"] = Range(*parse_range("--mass", mass, "kg")) if mass else Range(weighed.mass, weighed.mass)
    return replace(Knowledge(robots=tuple(robots)), **known)


def _tool(given: tuple[float, ...]) -> "Tool":
    """From mass; mass, centre and TCP along z; or mass, x y z of the centre, x y z of the TCP."""
    from ur_admittance.simulation import Tool

    mass, *rest = given
    if not rest:
        return Tool(mass=mass)
    if len(rest) == 2:
        return Tool(mass=mass, com=(0.0, 0.0, rest[0]), tcp=(0.0, 0.0, rest[1]))
    return Tool(mass=mass, com=(rest[0], rest[1], rest[2]), tcp=(rest[3], rest[4], rest[5]))


@contextlib.contextmanager
def _batch(threads: int | None, scheduler: str | None) -> "Iterator[Batch]":
    from ur_admittance.apps.tuning.batch import Threads
    from ur_admittance.errors import ParameterError

    if threads is not None and threads < 1:
        raise ParameterError(f"--threads {threads}: must be >= 1.")
    if scheduler is None:
        yield Threads(threads)
        return
    from ur_admittance.apps.tuning.cluster import Cluster

    with Cluster(scheduler) as cluster:
        yield cluster


def _print(result: "Result", out: Path, report: Path | None) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(width=None if sys.stdout.isatty() else 120)
    found, figures = result.found, result.task.figures
    console.print(
        f"{found.trials} candidates, {found.simulated} simulations in {found.seconds:.0f} s "
        f"({found.refused} candidates refused without simulation); score {found.score:.3g}",
        highlight=False,
    )
    if result.contest:
        count = len(result.contest[0].costs)
        table = Table(title=f"worst tenth on {count} fresh cases", box=None, title_justify="left", pad_edge=False)
        for name in ("who", "failed", *(f"{name} [{f.unit}]" for name, f in figures.items())):
            head = Text(name.replace(" [", "\n["))  # [s] would be taken for markup
            table.add_column(head, justify="left" if name == "who" else "right")
        for rival in result.contest:
            values = [f"{rival.certificate.worst_tenth[name]:.3g}" for name in figures]
            table.add_row(rival.name, str(rival.certificate.failed), *values)
        console.print(table)
    if result.certificate is None:
        console.print("interrupted: no certificate; go on with --resume")
    else:
        console.print(f"certificate: {result.certificate.sentence()}", highlight=False)
    console.print(f"parameters: {out}", highlight=False)
    if report is not None and result.certificate is not None:
        console.print(f"report: {report}", highlight=False)


class _Bar:
    """A bar on the terminal with the best score so far; nothing in a pipe or with --json."""

    def __init__(self, trials: int, quiet: bool) -> None:
        self._bar: Any = None
        self._task: Any = None
        self._trials = trials
        self._quiet = quiet or not sys.stderr.isatty()

    def searching(self, progress: "Progress") -> None:
        best = f"best {progress.best:.3g}" if math.isfinite(progress.best) else "the first run compiles for a minute"
        self._update(f"candidates, {best}", progress.trials + progress.share, self._trials)

    def counting(self, what: str, done: int, total: int) -> None:
        self._update(what, done, total)

    def _update(self, what: str, done: float, total: int) -> None:
        if self._bar is not None:
            self._bar.update(self._task, description=what, completed=done, total=total)

    def __enter__(self) -> "_Bar":
        if not self._quiet:
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task("preparing", total=None)
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
