"""The stability map: damping against stiffness of the surface, where contact dies down and where it bounces."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ur_admittance import figures
from ur_admittance.analysis.axis_loop import Loop
from ur_admittance.analysis.compliance import edge_of_stability
from ur_admittance.errors import SimulationError
from ur_admittance_lab.stability.eigenvalues import largest_safe_stiffness

Array = NDArray[np.float64]

DAMPING = np.geomspace(5.0, 5000.0, 120)  # [Ns/m]
SOFT, STIFF = 1e2, 1e6  # [N/m]
SURFACES = {"foam": 3e2, "rubber": 3e3, "wood": 3e4, "steel": 3e5}  # [N/m] under a finger-sized tool, rough
STABLE_COLOUR, SAFE_COLOUR, BOUNCE_COLOUR = "#e6f2d5", "#b7dd8f", "#f8d0d0"


def boundaries(loop: Loop, damping: Array = DAMPING) -> tuple[Array, Array]:
    """Stable and safe stiffness [N/m] at each damping [Ns/m], cut off at STIFF."""
    loops = [loop.with_damping(float(d)) for d in damping]
    stable = np.array([min(edge_of_stability(one), STIFF) for one in loops])
    safe = np.array([min(largest_safe_stiffness(one), STIFF) for one in loops])
    return stable, np.minimum(safe, stable)


def draw(loop: Loop, title: str, mark: float | None = None) -> Figure:
    """`mark`: a stiffness [N/m] to be marked at the loop's own damping."""
    stable, safe = boundaries(loop)
    figure, ax = figures.panels((8, 6))
    ax.fill_between(DAMPING, stable, STIFF, color=BOUNCE_COLOUR, label="bounces")
    ax.fill_between(DAMPING, safe, stable, color=STABLE_COLOUR, label="dies down, rings")
    ax.fill_between(DAMPING, SOFT, safe, color=SAFE_COLOUR, label="safe: half the damping would be enough")
    ax.plot(DAMPING, stable, color="black", linewidth=1.0)
    ax.axvline(loop.damping, color="tab:blue", linewidth=1.5)
    edge = edge_of_stability(loop)
    if edge < STIFF:
        ax.plot([loop.damping], [edge], "o", color="tab:blue", markersize=9)
        ax.annotate(
            f"  D = {loop.damping:.0f} Ns/m: up to {edge / 1e3:.2g} kN/m", (loop.damping, edge), color="tab:blue"
        )
    if mark is not None:
        ax.plot([loop.damping], [mark], "x", color="tab:red", markersize=10, markeredgewidth=2.5)
    for name, stiffness in SURFACES.items():
        ax.axhline(stiffness, color="0.5", linewidth=0.6, linestyle=":")
        ax.text(DAMPING[0] * 1.1, stiffness * 1.05, name, fontsize=8, color="0.3")
    ax.set(xscale="log", yscale="log", xlim=(DAMPING[0], DAMPING[-1]), ylim=(SOFT, STIFF))
    ax.set_xlabel("damping of the law [Ns/m]")
    ax.set_ylabel("stiffness of the surface [N/m]")
    ax.set_title(f"{title}: loop delay {1e3 * loop.loop_delay:.1f} ms, mass {loop.mass:.1f} kg", fontsize=10)
    ax.legend(loc="lower right", fontsize=8)
    return figure


def save(loop: Loop, title: str, path: Path, mark: float | None = None) -> None:
    figures.save(draw(loop, title, mark), path, SimulationError)
