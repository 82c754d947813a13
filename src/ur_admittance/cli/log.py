"""ur-admittance replay, plot, why: what a recording shows."""

from pathlib import Path
from typing import Annotated

import typer

from ur_admittance.cli.options import OverwriteOption, beside, check_output
from ur_admittance.cli.values import assignments
from ur_admittance.outputs import PICTURES

FileArgument = Annotated[Path, typer.Argument(help="Recording (.mcap).")]


def replay(
    file: FileArgument,
    set_: Annotated[list[str] | None, typer.Option("--params", help="What if? name=value (repeatable).")] = None,
) -> None:
    """Recompute every cycle of a recording and compare it with what was recorded, bit for bit.

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
    file: FileArgument,
    out: Annotated[Path | None, typer.Option(help="Picture (.png, .svg, .pdf); default: beside the recording.")] = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Draw a recording: force, velocity, offset, joint speeds against their limits."""
    from ur_admittance.recording.log import read_log
    from ur_admittance.recording.plot import plot as draw

    out = out or beside(file, ".png")
    check_output("--out", out, PICTURES, overwrite)
    log = read_log(file)
    typer.echo(f"figure: {draw(log, out)}")
    if log.lacks:
        typer.echo(log.lacks, err=True)


def why(file: FileArgument) -> None:
    """Explain in plain words what happened in a recording and why the arm stopped."""
    from ur_admittance.recording.log import read_log
    from ur_admittance.recording.why import why as story

    typer.echo(story(read_log(file)))
