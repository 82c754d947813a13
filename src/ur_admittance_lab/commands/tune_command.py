"""ur-admittance tune: parameters for a task, found in simulation, with a certificate."""

import contextlib
import json
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ur_admittance.cli.console import compile_first, console
from ur_admittance.cli.options import JsonOption, shared_options
from ur_admittance.errors import ParameterError
from ur_admittance_lab.commands.lab_options import ThreadsOption
from ur_admittance_lab.commands.ranges import numbers, parse_range

if TYPE_CHECKING:
    from ur_admittance.robots.simulated import Tool
    from ur_admittance_lab.tuning.optimise import Progress
    from ur_admittance_lab.tuning.task import Task
    from ur_admittance_lab.tuning.trials import Batch
    from ur_admittance_lab.tuning.tuning_result import Result

FORCE, DELAY = 10.0, "5..20ms"  # [N]
SPEEDS = {"guide": "100..350mm/s"}  # of a hand; of every other task:
SPEED = "20..50mm/s"


@dataclass(frozen=True)
class KnownOptions:
    """What the user knows of arm, tool and task."""

    robot: Annotated[
        list[str] | None,
        typer.Option(
            "--robot", "--model", metavar="TYPE", help="UR type, or arm.urdf; repeat it for several. Default: ur5e."
        ),
    ] = None
    stiffness: Annotated[
        str, typer.Option("--stiffness", help="Stiffness of what is touched [N/m]: a value or a range.")
    ] = "1e3..1e5"
    delay: Annotated[
        str | None, typer.Option("--delay", help="Pure delay of the robot: 10ms or a range; default: 5..20ms.")
    ] = None
    force: Annotated[float | None, typer.Option("--force", help="Force to press with [N]; default: 10.")] = None
    speed: Annotated[
        str | None, typer.Option("--speed", help="Along the surface, or of the hand: 20..50mm/s; default: by task.")
    ] = None
    tool: Annotated[
        str | None,
        typer.Option(
            "--tool", help="Mass [kg], centre and TCP [m]: 1.2,0.05,0.15 (along z), or with all seven numbers."
        ),
    ] = None
    mass: Annotated[
        str | None, typer.Option("--mass", help="Mass of the tool [kg]: a value or a range such as 0.5..3.")
    ] = None
    pose: Annotated[
        list[str] | None,
        typer.Option(
            "--pose", metavar="ANGLES", help="Six joint angles [rad] to start from (repeatable). Default: a spread."
        ),
    ] = None
    params: Annotated[
        Path | None,
        typer.Option("--params", help="Parameter file to start from: tool, sensor, limits. Calibration files too."),
    ] = None
    twin: Annotated[
        Path | None, typer.Option("--twin", help="The arm as `identify` found it: type, servo, delay, sensor, tool.")
    ] = None
    reserve: Annotated[
        float,
        typer.Option("--reserve", help="Damping in contact over the least that the stability model needs, at least."),
    ] = 2.0

    def task(self, name: str) -> "Task":
        """The task with all this. ParameterError names the option that is wrong."""
        from ur_admittance.cli.options import parameters_from
        from ur_admittance.model import robot_model
        from ur_admittance.params import Parameters
        from ur_admittance_lab.tuning.knowledge import Knowledge, Range, of_parameters, of_twin
        from ur_admittance_lab.tuning.tasks import TASKS
        from ur_admittance_lab.twin import Twin

        if name not in TASKS:
            raise ParameterError(f"task {name!r} is unknown: choose one of {', '.join(TASKS)}.")
        for option, value in (("force", self.force), ("speed", self.speed)):
            if value is not None and option not in TASKS[name].uses:
                raise ParameterError(f"--{option} {value}: {name} has no {option}; leave it out.")
        for robot in self.robot or []:
            robot_model(robot)  # an unknown type is refused before anything else
        if self.tool is not None and self.params is not None:
            raise ParameterError("--tool and --params: the tool is in the parameter file; give one of them.")
        if self.twin is not None and self.robot:
            raise ParameterError("--twin and --robot: the twin says which arm it is; give one of them.")
        known: dict[str, Any] = {"robots": ("ur5e",), "delay": Range(*parse_range("--delay", DELAY, "s"))}
        known |= {} if self.params is None else of_parameters(parameters_from(str(self.params)))
        if self.twin is not None:
            calibrated = {"tool": known["tool"]} if "tool" in known else {}  # comes before that of the twin
            known |= of_twin(Twin.load(self.twin), known.get("base", Parameters())) | calibrated
        known |= {"robots": tuple(self.robot)} if self.robot else {}
        known |= {"delay": Range(*parse_range("--delay", self.delay, "s"))} if self.delay else {}
        if self.tool is not None:
            known["tool"] = _tool(numbers("--tool", self.tool, (1, 3, 7)))
        weighed = known["tool"].mass if "tool" in known else Knowledge().tool.mass
        mass = parse_range("--mass", self.mass, "kg") if self.mass else (weighed, weighed)
        knowledge = Knowledge(
            stiffness=Range(*parse_range("--stiffness", self.stiffness, "N/m")),
            speed=Range(*parse_range("--speed", self.speed or SPEEDS.get(name, SPEED), "m/s")),
            mass=Range(*mass),
            force=FORCE if self.force is None else self.force,
            poses=tuple(numbers("--pose", text, (6,)) for text in self.pose or []),
            reserve=self.reserve,
            **known,
        )
        return TASKS[name](knowledge)


@shared_options
def tune(
    task: Annotated[str, typer.Argument(metavar="TASK", help="press, follow, insert, or guide (by hand).")],
    arm: KnownOptions,
    cases: Annotated[int, typer.Option(help="Random cases that every candidate meets.")] = 40,
    trials: Annotated[int, typer.Option(help="Candidates, at most.")] = 160,
    minutes: Annotated[float, typer.Option(help="End the search after this time [min].")] = math.inf,
    fresh: Annotated[int, typer.Option(help="Fresh cases of the certificate.")] = 1000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same parameters.")] = 0,
    out: Annotated[Path, typer.Option(help="Parameter file to write; the search is kept beside it (.journal).")] = Path(
        "tuned.yaml"
    ),
    report: Annotated[Path | None, typer.Option(help="New folder for figure, certificate, worst case.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the search kept beside --out.")] = False,
    threads: ThreadsOption = None,
    scheduler: Annotated[str | None, typer.Option(help="Dask scheduler to use instead: tcp://host:8786.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Find parameters for a task: they hold in every contact of the given ranges, certified with fresh cases."""
    from ur_admittance_lab.tuning.optimise import Budget
    from ur_admittance_lab.tuning.tune_task import tune as run
    from ur_admittance_lab.tuning.tuning_report import check_folder, write_report

    if report is not None:
        check_folder(report, out)
    chosen, budget = arm.task(task), Budget(cases, trials, minutes)
    compile_first()
    with _batch(threads, scheduler) as batch, _Bar(trials, quiet=as_json) as bar:
        result = run(chosen, seed, budget, batch, out, fresh=fresh, resume=resume, show=bar.searching, say=bar.counting)
        if report is not None and not result.found.interrupted:
            bar.counting("report", 0, 1)
            write_report(result, report)
    if as_json:
        typer.echo(json.dumps(result.summary(), indent=2))
    else:
        _print(result, out, report)
    if result.found.interrupted:
        raise typer.Exit(130)


def _tool(given: tuple[float, ...]) -> "Tool":
    """From mass; mass, centre and TCP along z; or mass, x y z of the centre, x y z of the TCP."""
    from ur_admittance.robots.simulated import Tool

    mass, *rest = given
    if not rest:
        return Tool(mass=mass)
    if len(rest) == 2:
        return Tool(mass=mass, com=(0.0, 0.0, rest[0]), tcp=(0.0, 0.0, rest[1]))
    return Tool(mass=mass, com=(rest[0], rest[1], rest[2]), tcp=(rest[3], rest[4], rest[5]))


@contextlib.contextmanager
def _batch(threads: int | None, scheduler: str | None) -> "Iterator[Batch]":
    from ur_admittance_lab.tuning.trials import Threads

    if scheduler is None:
        yield Threads(threads)
        return
    from ur_admittance_lab.tuning.cluster import Cluster

    with Cluster(scheduler) as cluster:
        yield cluster


def _print(result: "Result", out: Path, report: Path | None) -> None:
    from rich.table import Table

    page = console()
    found, figures = result.found, result.task.figures
    page.print(
        f"{found.trials} candidates, {found.simulated} simulations in {found.seconds:.0f} s "
        f"({found.refused} candidates refused without simulation); score {found.score:.3g}",
    )
    if found.hopeless:
        page.print("no candidate has the demanded --reserve in all of these ranges: narrow them, or ask for less")
    if result.contest:
        count = len(result.contest[0].costs)
        table = Table(title=f"worst tenth on {count} fresh cases", box=None, title_justify="left", pad_edge=False)
        for name in ("who", "failed", *(f"{name} [{f.unit}]" for name, f in figures.items())):
            table.add_column(name.replace(" [", "\n["), justify="left" if name == "who" else "right")
        for rival in result.contest:
            values = [f"{rival.certificate.worst_tenth[name]:.3g}" for name in figures]
            table.add_row(rival.name, str(rival.certificate.failed), *values)
        page.print(table)
    if result.certificate is not None:
        page.print(f"certificate: {result.certificate.sentence()}")
    if found.interrupted:
        missing = "certificate" if result.certificate is None else "comparison, no report"
        page.print(f"interrupted: no {missing}; go on with --resume")
    page.print(f"parameters: {out}")
    if report is not None and not found.interrupted:
        page.print(f"report: {report}")


class _Bar:
    """A bar on the terminal with the best score so far; nothing in a pipe or with --json."""

    def __init__(self, trials: int, quiet: bool) -> None:
        self._bar: Any = None
        self._task: Any = None
        self._trials = trials
        self._quiet = quiet or not sys.stderr.isatty()

    def searching(self, progress: "Progress") -> None:
        best = f"best {progress.best:.3g}" if math.isfinite(progress.best) else "none yet"
        self._update(f"candidates, {best}", progress.trials + progress.share, self._trials)

    def counting(self, what: str, done: int, total: int) -> None:
        self._update(what, done, total)

    def _update(self, what: str, done: float, total: int) -> None:
        if self._bar is not None:
            self._bar.update(self._task, description=what, completed=done, total=total)

    def __enter__(self) -> "_Bar":
        if not self._quiet:
            from rich.progress import Progress

            self._bar = Progress(console=console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task("preparing", total=None)
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
