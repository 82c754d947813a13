"""Diagrams: one tick, the processes and what flows between them, the layers, the life cycle."""

import re
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from figures.look import FAULTY, IDEAL, NEUTRAL, OURS

SOFT = {"green": "#e0f2f1", "grey": "#f1f3f4", "red": "#fbe9e7", "blue": "#e8eaf6", "yellow": "#fff8e1"}


def canvas(width: float, height: float) -> tuple[Figure, Any]:
    """Axes in which one unit is one inch."""
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(0, height))
    axes.axis("off")
    return figure, axes


def box(
    axes: Any,
    x: float,
    y: float,
    w: float,
    h: float,
    title: str,
    text: str = "",
    colour: str = "green",
    small: float = 8.8,
) -> None:
    """A box with its lower left corner at (x, y) [inch]."""
    axes.add_patch(
        FancyBboxPatch((x, y), w, h, boxstyle="round,pad=0,rounding_size=0.07", fc=SOFT[colour], ec=NEUTRAL, lw=1.0)
    )
    top = y + h - 0.19 if text else y + h / 2
    axes.text(x + w / 2, top, title, ha="center", va="center", fontsize=10.5, fontweight="bold", color=IDEAL)
    if text:
        axes.text(
            x + w / 2, y + (h - 0.25) / 2, text, ha="center", va="center", fontsize=small, color=IDEAL, linespacing=1.35
        )


def arrow(
    axes: Any,
    start: tuple[float, float],
    end: tuple[float, float],
    text: str = "",
    bend: float = 0.0,
    colour: str = IDEAL,
    side: tuple[float, float] = (0.0, 0.1),
    dashed: bool = False,
) -> None:
    axes.add_patch(
        FancyArrowPatch(
            start,
            end,
            arrowstyle="-|>",
            mutation_scale=12,
            color=colour,
            lw=1.3,
            connectionstyle=f"arc3,rad={bend}",
            ls="--" if dashed else "-",
            shrinkA=0,
            shrinkB=0,
        )
    )
    if text:
        x, y = (start[0] + end[0]) / 2 + side[0], (start[1] + end[1]) / 2 + side[1]
        axes.text(x, y, text, ha="center", va="center", fontsize=8.8, color=colour)


def one_tick() -> Figure:
    figure, axes = canvas(9.6, 4.9)
    steps = (
        ("0  check", "period, finite,\nrecent enough,\nrobot healthy?", "checks.py", "yellow"),
        ("1  wrench", "one of two sensors\n- bias - weight\nlow-pass, to the TCP", "wrench/", "green"),
        ("2  law", "soft deadband\nM a + D v + K x\n= F_ext - F_des", "law/, contact/", "green"),
        ("3  bounds", "joints, walls, edge\nof the reach: braking\ndistance for each", "limits/", "green"),
        ("4  joints", "J qd = V inside all\nbounds: slide, then\nslow down", "limits/choose.py", "green"),
        ("5, 6  output", "q = last q + qd dt\nnear the arm, no jump\nmode, status, limits", "motion/", "green"),
    )
    w, h, gap, y = 1.38, 1.35, 0.18, 2.25
    for i, (title, text, file, colour) in enumerate(steps):
        x = 0.2 + i * (w + gap)
        box(axes, x, y, w, h, title, text, colour, 7.9)
        axes.text(x + w / 2, y - 0.13, file, ha="center", va="center", fontsize=8.2, color=NEUTRAL, family="monospace")
        if i:
            arrow(axes, (x - gap, y + h / 2), (x, y + h / 2))
    right = 0.2 + 5 * (w + gap) + w / 2
    law_x, twist_x = 0.2 + 2 * (w + gap) + w / 2, 0.2 + 4 * (w + gap) + w / 2
    box(axes, 0.2, 4.1, 2.9, 0.62, "SAMPLE", "q, qd, wrench, ages, references", "blue")
    box(axes, 3.35, 4.1, 2.9, 0.62, "PARAMS", "mass, damping, stiffness, limits ...", "blue")
    box(axes, 6.5, 4.1, 2.9, 0.62, "COMMAND", "q, qd, twist, status, limits that acted", "blue")
    arrow(axes, (0.9, 4.1), (0.9, y + h))
    arrow(axes, (4.8, 4.1), (4.8, y + h))
    arrow(axes, (right, y + h), (right - 0.2, 4.1))
    box(axes, 2.0, 0.35, 5.6, 0.62, "STATE", "offset, rate, reference pose, filter, ramps, last command", "blue")
    arrow(
        axes,
        (twist_x, y - 0.25),
        (law_x, y - 0.25),
        "what the arm cannot do goes back into v and x",
        -0.28,
        FAULTY,
        (0.0, -0.6),
    )
    arrow(axes, (2.3, 0.97), (1.6, y - 0.25), "", 0.0, NEUTRAL)
    arrow(axes, (right - 0.1, y - 0.25), (7.2, 0.97), "", 0.0, NEUTRAL)
    axes.text(
        0.2,
        0.12,
        "tick(params, state, sample, command): no allocation, no I/O, no exceptions; same records in, same bits out",
        fontsize=9,
        color=IDEAL,
    )
    return figure


def processes() -> Figure:
    figure, axes = canvas(9.4, 4.3)
    axes.add_patch(
        FancyBboxPatch((2.55, 0.3), 3.6, 3.75, boxstyle="round,pad=0,rounding_size=0.1", fc="white", ec=OURS, lw=1.6)
    )
    axes.text(
        4.35, 3.86, "control process, 500 Hz", ha="center", va="center", fontsize=10, color=OURS, fontweight="bold"
    )
    box(axes, 2.8, 2.75, 3.1, 0.85, "read, tick, write", "SCHED_FIFO, locked memory,\nfrozen collector", "green")
    box(axes, 2.8, 1.6, 3.1, 0.8, "telemetry ring", "shared memory, one writer,\nnever waits", "blue")
    box(
        axes,
        2.8,
        0.5,
        3.1,
        0.8,
        "mailbox",
        "polled after the command is out:\nparameters, requests, references",
        "blue",
    )
    box(axes, 0.1, 2.6, 1.55, 1.1, "robot", "simulated, RTDE\nor ROS 2", "grey")
    arrow(axes, (1.65, 3.35), (2.8, 3.35), "q, qd, wrench", side=(-0.12, 0.13))
    arrow(axes, (2.8, 2.98), (1.65, 2.98), "q, qd", side=(-0.12, -0.13))
    for i, (title, text) in enumerate(
        (("recorder", "MCAP file"), ("page", "browser, sliders"), ("status", "terminal"))
    ):
        y = 3.05 - 0.95 * i
        box(axes, 7.2, y, 2.0, 0.75, title, text, "yellow")
        arrow(axes, (5.9, 2.05), (7.2, y + 0.4), dashed=True)
    box(axes, 7.2, 0.2, 2.0, 0.75, "your program", "send(...)", "yellow")
    arrow(axes, (7.2, 0.6), (5.9, 0.85))
    arrow(axes, (7.2, 2.3), (5.9, 1.1), bend=0.12)
    arrow(axes, (4.35, 2.75), (4.35, 2.4))
    axes.text(6.55, 3.35, "read only", fontsize=8.5, color=NEUTRAL, ha="center")
    axes.text(
        0.15, 0.55, "dashed: readers that the\nloop does not know;\nnone can delay it", fontsize=8.8, color=NEUTRAL
    )
    return figure


WHAT = {
    "cli": ("commands of the terminal", "yellow"),
    "ros": ("ROS 2 nodes", "yellow"),
    "page": ("the page in the browser", "yellow"),
    "recording": ("logs, replay, why", "grey"),
    "robots": ("arms: simulated, over RTDE, over ROS 2; driving them", "grey"),
    "runtime": ("clock, loop, ring, mailbox", "grey"),
    "calibration": ("tool identification", "grey"),
    "teaching": ("what a hand has shown, and its replay", "blue"),
    "control": ("life cycle, zeroing, chaining", "blue"),
    "analysis": ("stability of contact", "blue"),
    "params": ("which numbers", "blue"),
    "model": ("which robot", "blue"),
    "compiler": ("the kernels made into a library", "blue"),
    "core": ("the maths: numpy and numba only", "green"),
    "figures": ("drawing", "green"),
    "front_door": ("names", "green"),
    "given": ("arguments", "green"),
    "library": ("the compiled kernels", "green"),
    "outputs": ("files", "green"),
    "errors": ("the exceptions", "green"),
}


def contract() -> list[list[str]]:
    """Rows of the layer contract in pyproject.toml, top to bottom."""
    text = (Path(__file__).resolve().parents[2] / "pyproject.toml").read_text()
    rows = re.search(r"^layers = \[(.*?)^\]", text, re.MULTILINE | re.DOTALL)
    assert rows
    return [row.split(" | ") for row in re.findall(r'"([^"]+)"', rows[1])]


def layers() -> Figure:
    rows, width, step = contract(), 8.2, 0.42
    figure, axes = canvas(9.0, step * len(rows) + 0.2)
    for i, names in enumerate(rows):
        y, w = 0.1 + step * (len(rows) - 1 - i), width / len(names)
        for j, name in enumerate(names):
            x = 0.7 + j * w
            what, colour = WHAT[name]
            box(axes, x, y, w - 0.08, step - 0.08, "", "", colour)
            middle = y + (step - 0.08) / 2
            axes.text(x + 0.12, middle, name, va="center", fontsize=10.5, fontweight="bold", color=IDEAL)
            axes.text(x + w - 0.2, middle, what, va="center", ha="right", fontsize=8.8, color=IDEAL)
    arrow(axes, (0.45, step * len(rows) + 0.05), (0.45, 0.1))
    axes.text(0.25, 0.1 + step * len(rows) / 2, "imports", rotation=90, va="center", ha="center", fontsize=9.5)
    return figure


def life_cycle() -> Figure:
    figure, axes = canvas(8.8, 3.3)
    box(axes, 0.2, 1.9, 1.55, 0.8, "unconfigured", "nothing compiled", "grey")
    box(axes, 2.75, 1.9, 1.4, 0.8, "inactive", "holds", "blue")
    box(axes, 5.4, 1.9, 1.4, 0.8, "active", "yields to forces", "green")
    box(axes, 4.05, 0.6, 1.4, 0.8, "stopping", "slows down", "yellow")
    box(axes, 7.2, 0.6, 1.4, 0.8, "fault", "slows down,\nholds", "red")
    arrow(axes, (1.75, 2.45), (2.75, 2.45), "configure", side=(0, 0.12))
    arrow(axes, (2.75, 2.1), (1.75, 2.1), "cleanup", side=(0, -0.12))
    arrow(axes, (4.15, 2.4), (5.4, 2.4), "activate", side=(0, 0.12))
    arrow(axes, (6.0, 1.9), (5.2, 1.4), "deactivate", side=(0.5, -0.06))
    arrow(axes, (4.4, 1.4), (3.8, 1.9), "at rest", side=(0.35, 0.06))
    arrow(axes, (6.6, 1.9), (7.7, 1.4), "anything wrong", side=(0.65, 0.06), colour=FAULTY)
    axes.plot([7.9, 7.9, 3.2], [0.6, 0.3, 0.3], color=IDEAL, lw=1.3)
    arrow(axes, (3.2, 0.3), (3.2, 1.9))
    axes.text(5.6, 0.18, "reset_fault: at rest, and the cause is gone", ha="center", fontsize=8.8)
    axes.text(
        0.2,
        3.05,
        "every stop brakes inside the acceleration limits; none drops the velocity to zero in one tick",
        fontsize=9,
        color=NEUTRAL,
    )
    return figure


DIAGRAMS = {"one_tick": one_tick, "processes": processes, "layers": layers, "life_cycle": life_cycle}
