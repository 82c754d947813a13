"""Options that several commands of the laboratory share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ur_admittance.cli.options import within
from ur_admittance.given import Bounds

if TYPE_CHECKING:
    from ur_admittance_lab.twin import Twin

FigureOption = Annotated[Path | None, typer.Option("--figure", help="Write a picture (.png, .svg, .pdf).")]
ThreadsOption = Annotated[
    int | None, within("--threads", bounds=Bounds(1, 1024), help="Threads; default: one per core.")
]
TwinOption = Annotated[Path | None, typer.Option("--twin", help="An arm found by identify (.yaml).")]


def twin_from(path: Path | None) -> "Twin | None":
    """The arm of a twin file; None: no file was given."""
    if path is None:
        return None
    from ur_admittance_lab.twin import Twin

    return Twin.load(path)
