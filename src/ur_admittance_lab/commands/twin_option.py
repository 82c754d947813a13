"""--twin: an arm that was identified."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ur_admittance_lab.twin import Twin

TwinOption = Annotated[Path | None, typer.Option("--twin", help="An arm found by identify (.yaml).")]


def twin_from(path: Path | None) -> "Twin | None":
    """The arm of a twin file; None: no file was given."""
    if path is None:
        return None
    from ur_admittance_lab.twin import Twin

    return Twin.load(path)
