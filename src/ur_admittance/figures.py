"""What all figures share: their axes, their look and the way to a file. Each of them is its data and its labels.

matplotlib is loaded with this module; import it where a figure is drawn.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from ur_admittance.errors import UrAdmittanceError


def panels(size: tuple[float, float], rows: int = 1, columns: int = 1, **options: Any) -> tuple[Figure, Any]:
    """A figure of this size [inch] and its axes, an array when there are several; options of Figure.subplots."""
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, **options)


def over_time(axes: Iterable[Any]) -> None:
    """The look of curves over time."""
    for panel in axes:
        panel.grid(alpha=0.3)
        panel.margins(x=0)


def save(figure: Figure, path: str | Path, error: type[UrAdmittanceError], dpi: int = 120) -> Path:
    """Write it; the suffix chooses the format (.png, .svg, .pdf)."""
    try:
        figure.savefig(path, dpi=dpi)
    except (OSError, ValueError) as problem:
        raise error(f"the figure {path} cannot be written: {problem}.") from None
    return Path(path)
