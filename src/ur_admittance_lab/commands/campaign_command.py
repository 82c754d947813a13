"""ur-admittance campaign: random episodes by the thousand, checked for what must always hold."""

import json
import math
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ur_admittance.cli.console import compile_first, console, wrapped
from ur_admittance.cli.options import SEED, JsonOption, within
from ur_admittance.given import Bounds
from ur_admittance_lab.commands.lab_options import ThreadsOption

if TYPE_CHECKING:
    from ur_admittance_lab.campaign import Finding

DEFAULT_EPISODES = 100  # seven or eight of each family: some ten seconds
MANY = Bounds(1, 10**9)
SHOWN = 3  # findings of one family and check that are printed


def campaign(
    family: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Kind of episodes (repeatable); see --list. Default: all of them."),
    ] = None,
    list_them: Annotated[bool, typer.Option("--list", help="List the families and exit.")] = False,
    episodes: Annotated[int | None, within("--episodes", bounds=MANY, help="Number of episodes.")] = None,
    cycles: Annotated[
        float | None, within("--cycles", bounds=Bounds(1.0, 1e15), help="Number of controller cycles, such as 1e8.")
    ] = None,
    minutes: Annotated[
        float | None, within("--minutes", bounds=Bounds(1e-3, 1e6, "min"), help="Time to spend [min].")
    ] = None,
    seed: Annotated[int, within("--seed", bounds=SEED, help="Number of the first episode of each family.")] = 0,
    threads: ThreadsOption = None,
    keep: Annotated[Path | None, typer.Option(help="Folder for recordings of findings (.mcap).")] = None,
    repeat: Annotated[
        str | None, typer.Option(help="Run one episode again, FAMILY:NUMBER, show it and record it.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Try random robots, poses, pushes, surfaces and faults. Exit code 1: something did not hold."""
    from ur_admittance.errors import SimulationError
    from ur_admittance_lab.campaign import FAMILIES, Budget, Campaign

    if list_them:
        for name, draw in FAMILIES.items():
            typer.echo(wrapped(f"{name:11} {' '.join((draw.__doc__ or '').split())}", 12))
        return
    if repeat is not None:
        _repeat(repeat, keep or Path(), as_json)
        return
    for name in family or ():
        if name not in FAMILIES:
            raise SimulationError(f"--family {name}: must be one of {', '.join(FAMILIES)}.")
    if episodes is None and cycles is None and minutes is None:
        episodes = DEFAULT_EPISODES
    budget = Budget(episodes or math.inf, cycles or math.inf, 60.0 * minutes if minutes else math.inf)
    progress = _Progress(quiet=as_json)
    run = Campaign(family or tuple(FAMILIES), seed, threads, keep, show=progress.show)
    compile_first()
    with progress:
        run.run(budget, progress)
    if as_json:
        typer.echo(json.dumps(run.as_dict()))
    else:
        _print(run)
    if run.interrupted:
        raise typer.Exit(130)
    if run.findings:
        raise typer.Exit(1)


def _print(run: Any) -> None:
    """One row per check, one column per family with its failures, and the worst reading of all."""
    from rich.table import Table

    out = console(pipe_width=180)
    rows = Table(box=None, pad_edge=False)
    rows.add_column("failures", no_wrap=True)
    for heading in (*run.runs, "worst", "bound"):
        rows.add_column(heading, justify="right")
    for heading in ("unit", "repeat"):
        rows.add_column(heading, no_wrap=True)
    for check in dict.fromkeys(check for _, check in run.tallies):
        tallies = {family: run.tallies[family, check] for family in run.runs if (family, check) in run.tallies}
        counts = [str(tallies[family].failures or "-") if family in tallies else "" for family in run.runs]
        family, worst = max(tallies.items(), key=lambda entry: entry[1].worst.share)
        reading = worst.worst
        found = (f"{reading.value:.3g}", f"{reading.bound:.3g}", reading.unit, f"{family}:{worst.number}")
        rows.add_row(check, *counts, *found)
    rows.add_section()
    rows.add_row("episodes", *(str(run.runs[family]) for family in run.runs))
    rows.add_row("cycles", *(f"{run.family_cycles[family]:.3g}" for family in run.runs))
    out.print(rows)
    for (family, name), number in sorted(run.stops.items()):
        out.print(f"{family}: {number} stops by {name}")
    speed = f"{run.cycles / max(run.seconds, 1e-9):.0f} cycles/s"
    checks = f"checks {100.0 * run.check_seconds / max(run.seconds, 1e-9):.0f} % of a core"
    out.print(f"{run.episodes} episodes, {run.cycles} controller cycles in {run.seconds:.0f} s ({speed}, {checks})")
    broken = len({(finding.family, finding.number) for finding in run.findings})
    end = "interrupted; " if run.interrupted else ""
    out.print(f"{end}{len(run.findings)} findings in {broken} episodes" if broken else f"{end}nothing found")


def _repeat(name: str, folder: Path, as_json: bool) -> None:
    """One episode: what it is, what each check read, its recording."""
    from ur_admittance_lab.campaign.run_campaign import record, repeat

    episode, verdict = repeat(name)
    path = record(episode, folder)
    if as_json:
        readings = [asdict(reading) | {"broken": reading.broken} for reading in verdict.readings]
        shown = episode.as_dict() | {"readings": readings, "stops": verdict.stops, "recording": str(path)}
        typer.echo(json.dumps(shown, indent=2))
    else:
        _print_episode(episode.as_dict())
        for r in verdict.readings:
            mark = "BROKEN" if r.broken else "ok"
            line = f"{mark:7}{r.check:30} {r.value:10.4g} of {r.bound:10.4g} {r.unit:6} at {r.at:.3f} s"
            typer.echo(f"{line}; {r.during}" if r.during else line)
        typer.echo(f"stops: {', '.join(verdict.stops) or 'none'}")
        typer.echo(f"recording: {path} (try: ur-admittance why {path})")
    if verdict.broken:
        raise typer.Exit(1)


def _print_episode(shown: dict[str, Any]) -> None:
    sets, story = shown.pop("parameters"), shown.pop("story")
    for key, value in shown.items():
        typer.echo(f"{key}: {value}")
    for i, values in enumerate(sets):
        typer.echo(f"parameters{f', change {i}' if i else ''}:")
        for name, value in values.items():
            if i == 0 or sets[i - 1].get(name) != value:
                typer.echo(f"  {name} = {value}")
    typer.echo("story:")
    for line in story:
        typer.echo(f"  {line}")


class _Progress:
    """A bar on the terminal with cycles and findings so far; findings as lines above it."""

    def __init__(self, quiet: bool) -> None:
        self._quiet, self._bar, self._task = quiet, None, None  # type: Any, Any, Any
        self._shown: Counter[tuple[str, str]] = Counter()

    def show(self, finding: "Finding") -> None:
        self._shown[finding.kind] += 1
        if not self._quiet and self._shown[finding.kind] <= SHOWN:
            (self._bar.console.print if self._bar is not None else typer.echo)(str(finding))

    def __call__(self, run: Any, used: float) -> None:
        if self._bar is not None:
            words = f"{run.cycles:.3g} cycles, {len(run.findings)} findings"
            self._bar.update(self._task, completed=used, description=words)

    def __enter__(self) -> "_Progress":
        if not self._quiet and sys.stderr.isatty():
            from rich.progress import Progress

            self._bar = Progress(console=console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task("starting", total=1.0)
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
