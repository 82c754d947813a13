"""How every figure of the documentation looks: vector graphics, one palette, units on every axis."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

OURS, FAULTY, IDEAL, NEUTRAL = "#00695c", "#c0392b", "#222222", "#7f8c8d"
FOLDER = Path(__file__).resolve().parent.parent / "assets" / "figures"

mpl.rcParams.update(
    {
        "svg.hashsalt": "ur_admittance",  # the same figure gives the same file
        "font.size": 10.5,
        "axes.titlesize": 10.5,
        "axes.grid": True,
        "grid.alpha": 0.3,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "lines.linewidth": 1.8,
        "legend.frameon": False,
    }
)


def panels(
    rows: int = 1, columns: int = 1, height: float = 3.0, width: float = 7.6, **options: Any
) -> tuple[Figure, Any]:
    """A figure and its axes (an array when there are several)."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, **options)


def save(figure: Figure, name: str, folder: Path = FOLDER) -> Path:
    """Write name.svg without a date, so that an unchanged figure is an unchanged file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.svg"
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    return path
