"""ur-admittance sim: scenarios in the embedded simulation."""

import json
import sys
from typing import Annotated, Any

import typer

from ur_admittance.cli.console import compile_first, console, wrapped
from ur_admittance.cli.options import (
    SEED,
    JsonOption,
    LogOption,
    OverwriteOption,
    SetOption,
    assignments,
    check_output,
    parameters_from,
    within,
)
from ur_admittance.outputs import PICTURES
from ur_admittance_lab.commands.lab_options import FigureOption, TwinOption, twin_from


def sim(
    name: Annotated[str, typer.Argument(metavar="SCENARIO", help="Which one; see --list.", show_default=False)] = "",
    list_them: Annotated[bool, typer.Option("--list", help="List the scenarios and exit.")] = False,
    robot: Annotated[
        str | None,
        typer.Option("--robot", "--model", help="UR type, or arm.urdf; default: ur5e, or that of the twin."),
    ] = None,
    preset: Annotated[str | None, typer.Option(help="Preset or parameter file instead of the scenario's own.")] = None,
    set_: SetOption = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="Option of the scenario, not of the controller; see --list (repeatable)."
        ),
    ] = None,
    twin: TwinOption = None,
    seed: Annotated[int, within("--seed", bounds=SEED, help="Seed of the sensor noise.")] = 0,
    as_json: JsonOption = False,
    figure: FigureOption = None,
    log: LogOption = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Run a scenario without hardware: what was measured is reported.

    Exit code 1: it ended in a safety stop, or the recording is incomplete."""
    from ur_admittance.errors import SimulationError
    from ur_admittance_lab.scenarios import SCENARIOS, Setup, run_scenario

    if list_them:
        for key, scenario in SCENARIOS.items():
            options = ", ".join(f"{name}={allowed}" for name, allowed in scenario.options.items())
            extra = f"  [options: {options}]" if options else ""
            typer.echo(wrapped(f"{key:14} {scenario.summary}{extra}", 15))
        return
    if not name:
        raise SimulationError(f"which scenario? One of {', '.join(SCENARIOS)} (see --list).")
    check_output("--figure", figure, PICTURES, overwrite)
    arm = twin_from(twin)
    if arm is not None and robot not in (None, arm.robot):
        raise SimulationError(f"--robot {robot}: the twin {twin} is of a {arm.robot}; leave --robot out.")
    progress = _Progress(name, quiet=as_json)
    setup = Setup(
        robot=arm.robot if arm is not None else robot or "ur5e",
        changes=assignments(set_ or []),
        preset=parameters_from(preset) if preset else None,
        seed=seed,
        log=log,
        progress=progress,
        options=assignments(option or []),
        twin=arm,
    )
    compile_first()
    with progress:
        outcome = run_scenario(name, setup)
    if figure is not None:
        from ur_admittance_lab.scenarios.scenario_figure import save

        save(outcome, figure)
    if as_json:
        typer.echo(json.dumps(outcome.as_dict(), indent=2))
    else:
        _print(outcome)
        for path, what in ((figure, "figure"), (log, "recording")):
            if path is not None:
                typer.echo(f"{what}: {path}")
    if outcome.trace.recording_problem:
        typer.echo(f"the recording is incomplete: {outcome.trace.recording_problem}", err=True)
    if outcome.ends_in_fault or outcome.trace.recording_problem:
        raise typer.Exit(1)


def _print(outcome: Any) -> None:
    from rich.table import Table

    out = console()
    table = Table(title=f"{outcome.scenario} on a {outcome.robot}", box=None, title_justify="left", pad_edge=False)
    table.add_column("metric", no_wrap=True)
    table.add_column("value", justify="right")
    table.add_column("unit")
    table.add_column("what it is")
    for metric in outcome.metrics:
        table.add_row(metric.name, f"{metric.value:.4g}", metric.unit, metric.meaning)
    out.print(table)
    for line in [*outcome.story, *(f"stopped: {stop}" for stop in outcome.stops)]:
        out.print(line)


class _Progress:
    """A bar on the terminal for anything that takes longer than two seconds; nothing in a pipe or with --json."""

    def __init__(self, name: str, quiet: bool) -> None:
        self._bar: Any = None
        self._task: Any = None
        self._name = name
        self._quiet = quiet or not sys.stderr.isatty()

    def __call__(self, now: float, end: float) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=now, total=end)

    def __enter__(self) -> "_Progress":
        if not self._quiet:
            from rich.progress import Progress

            self._bar = Progress(console=console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._name, total=None)
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
