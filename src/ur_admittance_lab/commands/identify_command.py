"""ur-admittance identify: the twin of an arm from recordings of its work."""

import json
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ur_admittance.cli.console import console
from ur_admittance.cli.options import (
    JsonOption,
    OverwriteOption,
    beside,
    check_output,
)
from ur_admittance.outputs import PARAMETERS, PICTURES
from ur_admittance_lab.commands.lab_options import FigureOption

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ur_admittance_lab.twin import Twin
    from ur_admittance_lab.twin.found import Findings

POORLY = 0.05  # share of the deflection that a good twin leaves unexplained


def identify(
    logs: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Recordings (.mcap) of one arm at work.", show_default=False)
    ],
    out: Annotated[Path | None, typer.Option(help="The twin (.yaml); default: beside the first recording.")] = None,
    figure: FigureOption = None,
    overwrite: OverwriteOption = False,
    as_json: JsonOption = False,
) -> None:
    """Find the numbers of an arm in recordings of its work: delay, lag, stiffness, damping, friction, sensor, tool."""
    from ur_admittance_lab.twin import identify_twin

    out = out or beside(logs[0], ".twin.yaml")
    check_output("--out", out, PARAMETERS, overwrite)
    check_output("--figure", figure, PICTURES, overwrite)
    with _progress(quiet=as_json) as say:
        twin, findings, stretches = identify_twin(logs, say)
        twin.save(out)
        if figure is not None:
            from ur_admittance_lab.twin.twin_figure import compare, save

            say("simulating the twin")
            save(twin, compare(twin, max(stretches, key=lambda stretch: stretch.seconds)), figure)
    if as_json:
        typer.echo(json.dumps(_as_dict(twin, findings), indent=2))
        return
    _print(twin, findings)
    typer.echo(f"twin: {out}")
    if figure is not None:
        typer.echo(f"figure: {figure}")


def _as_dict(twin: "Twin", findings: "Findings") -> dict[str, Any]:
    def entry(row: Any) -> dict[str, Any]:
        known = {"deviation": row.deviation} if row.found else {"assumed": row.reason}
        return {"value": row.value, **known}

    values = {name: [entry(row) for row in rows] for name, rows in twin.values.items()}
    return {
        "robot": twin.robot,
        "seconds": twin.seconds,
        **{name: rows[0] if len(rows) == 1 else rows for name, rows in values.items()},
        "scatter_rad": findings.scatter,
        "unexplained": findings.unexplained,
    }


def _print(twin: "Twin", findings: "Findings") -> None:
    import numpy as np
    from rich.table import Table

    from ur_admittance_lab.twin.twin_figure import shown
    from ur_admittance_lab.twin.twin_file import MEANINGS

    title = f"twin of a {twin.robot}, from {twin.seconds:.1f} s of work"
    table = Table(title=title, box=None, title_justify="left", pad_edge=False)
    for column in ("number", "value", "unit", "what it is"):
        table.add_column(column, no_wrap=column != "what it is")
    for name, (count, _, unit, factor, meaning) in MEANINGS.items():
        for i, row in enumerate(twin.values[name]):
            label = name if count == 1 else f"{name} {i + 1}"
            text = (meaning if i == 0 else "") if row.found else row.reason
            table.add_row(label, shown(row, factor), unit, text, style=None if row.found else "dim")
    console().print(table)
    stiffness = ", ".join(f"{1e-3 * twin.arm(np.eye(3)[i], sliding=True).stiffness:.1f}" for i in range(3))
    friction = ", ".join(f"{force:.2f}" for force in twin.friction_at_tool())
    typer.echo(f"at the tool, along x, y, z of the base: stiffness {stiffness} kN/m, friction {friction} N")
    typer.echo(
        f"joint angles are predicted to {1e3 * findings.scatter:.2g} mrad; "
        f"{100.0 * findings.unexplained:.2g} % of the deflection is left unexplained"
    )
    if findings.unexplained > POORLY:
        typer.echo("The model explains this recording poorly: is it of this type of arm, with this tool?", err=True)


@contextmanager
def _progress(quiet: bool) -> "Iterator[Callable[[str], None]]":
    """What is being done, on a terminal; nothing in a pipe or with --json."""
    if quiet or not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.text import Text

    with console(stderr=True).status("identify") as status:
        yield lambda text: status.update(Text(f"identify: {text}"))
