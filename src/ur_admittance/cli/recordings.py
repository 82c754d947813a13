"""ur-admittance replay, plot, export, why: what a recording shows."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ur_admittance.cli.console import console
from ur_admittance.cli.demo import Served
from ur_admittance.cli.options import OverwriteOption, assignments, beside, check_output, shared_options
from ur_admittance.errors import LogError
from ur_admittance.outputs import PICTURES, TABLES

if TYPE_CHECKING:
    from ur_admittance.recording.log import Log

MOST_SHOWN = 2
FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="Recording (.mcap).")]


def replay(
    file: FileArgument,
    set_: Annotated[
        list[str] | None, typer.Option("--params", metavar="NAME=VALUE", help="What if it had been so? (repeatable)")
    ] = None,
) -> None:
    """Recompute every cycle of a recording: the same as recorded, bit for bit?

    Exit code 1: something differs, or cycles are missing in the file."""
    import numpy as np

    from ur_admittance.recording import replay as replaying
    from ur_admittance.recording.log import read_log

    log = read_log(file)
    if not set_:
        result = replaying.replay(log)
        largest = max([*result.differences.values(), *result.state_differences.values()], default=0.0)
        typer.echo(str(result))
        typer.echo(f"largest difference: {largest:g}")
        if not result.exact or log.lacks:
            raise typer.Exit(1)
        return
    result = replaying.what_if(log, assignments(set_))
    typer.echo(str(result))
    done = result.recomputed
    for name, unit, field in (("tool speed", "m/s", "twist"), ("stretch of the spring", "m", "offset")):
        was = np.linalg.norm(log.ticks["command"][field][done, :3], axis=1)
        would = np.linalg.norm(result.commands[field][done, :3], axis=1)
        typer.echo(f"{name}: largest was {was.max():.4g} {unit}, would have been {would.max():.4g} {unit}")


def plot(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILES", help="Recording (.mcap), or up to four to lay over each other.")
    ],
    out: Annotated[Path | None, typer.Option(help="Picture (.png, .svg, .pdf); default: beside the recording.")] = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Draw a recording: force, velocity, offset, joint speeds against their limits.

    Several are laid over each other, each from its first cycle on."""
    from ur_admittance.recording.log import read_log
    from ur_admittance.recording.plot import compare
    from ur_admittance.recording.plot import plot as draw

    name = beside(files[0], ".png")
    out = out or name.with_name("_".join([name.stem, *(beside(file, "").name for file in files[1:])]) + ".png")
    check_output("--out", out, PICTURES, overwrite)
    logs = [read_log(file) for file in files]
    typer.echo(f"figure: {draw(logs[0], out) if len(logs) == 1 else compare(logs, out)}")
    for log in logs:
        _tell_lacks(log)


def export(
    file: FileArgument,
    out: Annotated[Path | None, typer.Option(help="Table (.csv); default: beside the recording.")] = None,
    signals: Annotated[
        str,
        typer.Option(help="Which, with commas: force,velocity,q; default: all. A wrong name lists them."),
    ] = "",
    overwrite: OverwriteOption = False,
) -> None:
    """Write a recording as a table (.csv): one row per cycle, units in the head of each column."""
    from rich.progress import Progress

    from ur_admittance.recording.export import export as write
    from ur_admittance.recording.log import read_log

    out = out or beside(file, ".csv")
    check_output("--out", out, TABLES, overwrite)
    log = read_log(file)
    chosen = [name.strip() for name in signals.split(",") if name.strip()]
    with Progress(console=console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        rows = bar.add_task("rows", total=len(log.ticks))
        write(log, out, chosen, lambda count: bar.advance(rows, count), overwrite=overwrite)
    typer.echo(f"table: {out}")
    _tell_lacks(log)


def _tell_lacks(log: "Log") -> None:
    if log.lacks:
        typer.echo(f"{log.path.name}: {log.lacks}", err=True)


def why(file: FileArgument) -> None:
    """Explain what happened in a recording: in plain words, and why the arm stopped."""
    from ur_admittance.recording.log import read_log
    from ur_admittance.recording.why import why as story

    typer.echo(story(read_log(file)))


@shared_options
def show(
    files: Annotated[list[Path], typer.Argument(metavar="FILES", help="Recording (.mcap), or two to compare.")],
    served: Served,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    shadows: Annotated[bool, typer.Option(help="Draw shadows; use --no-shadows without a graphics card.")] = True,
) -> None:
    """Play a recording in the browser: the arm moves as it did, with its curves and what happened beside it.

    Two are shown side by side, each from its first cycle on. Ctrl-C ends it."""
    import contextlib
    import io
    import threading
    import webbrowser

    from ur_admittance.page.playback import RecordingPage
    from ur_admittance.recording.log import read_log

    if len(files) > MOST_SHOWN:
        raise LogError(f"{len(files)} recordings: at most {MOST_SHOWN} can be shown side by side; `plot` takes four.")
    with contextlib.redirect_stdout(io.StringIO()):  # viser introduces itself
        page = RecordingPage([read_log(file) for file in files], served.host, served.port, served.token, shadows)
    typer.echo(page.address.sentence)
    if browser:
        webbrowser.open(page.address.url)
    with contextlib.redirect_stdout(io.StringIO()):
        page.run(threading.Event())
