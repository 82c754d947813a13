"""Recordings laid over each other in one figure: a colour for each, a panel for each quantity and axis."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ur_admittance.core.records import Mode
from ur_admittance.errors import LogError
from ur_admittance.model.look import AXIS_COLOURS
from ur_admittance.recording.log import Log
from ur_admittance.recording.plot import AXES, MOST_POINTS, check_cycles, joint_limits, save

COLOURS = ("#1971c2", "#e8590c", "#2f9e44", "#9c36b5")  # of the first recording, the second ...
ROWS: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {  # label -> of the commands (n,), x, y and z (n, 3)
    "force on the tool [N]": lambda command: command["wrench_tcp"][:, :3],
    "torque on the tool [Nm]": lambda command: command["wrench_tcp"][:, 3:],
    "TCP velocity [m/s]": lambda command: command["twist"][:, :3],
    "TCP moved by [mm]": lambda command: 1e3 * (command["p_tcp"] - command["p_tcp"][0]),
}


def compare(logs: Sequence[Log], path: str | Path) -> Path:
    """Draw recordings over each other to a file (the suffix chooses the format: .png, .svg, .pdf)."""
    if not 2 <= len(logs) <= len(COLOURS):
        raise LogError(f"{len(logs)} recordings: 2 to {len(COLOURS)} can be laid over each other")
    return save(draw(logs), path)


def draw(logs: Sequence[Log]) -> Figure:
    for log in logs:
        check_cycles(log)
    figure = Figure(figsize=(13, 10.5), layout="constrained")
    grid = figure.add_gridspec(len(ROWS) + 1, len(AXES))
    first: Any = None
    for row, (label, values) in enumerate(ROWS.items()):
        left: Any = None
        for column, axis in enumerate(AXES):
            panel: Any = figure.add_subplot(grid[row, column], sharex=first, sharey=left)
            first, left = first or panel, left or panel
            for log, colour in zip(logs, COLOURS, strict=False):
                _line(panel, log, values(log.ticks["command"])[:, column], colour)
            if row == 0:
                panel.set_title(axis, color=AXIS_COLOURS[column], fontweight="bold")
            panel.tick_params(labelbottom=row == len(ROWS) - 1, labelleft=column == 0)
            if column == 0:
                panel.set_ylabel(label)
    limits = [joint_limits(log) for log in logs]
    known = all(each is not None for each in limits)  # one scale for all
    joints: Any = figure.add_subplot(grid[len(ROWS), :], sharex=first)
    for log, own, colour in zip(logs, limits, COLOURS, strict=False):
        speeds = np.abs(log.ticks["command"]["qd"])
        _line(joints, log, (speeds / own if known else speeds).max(axis=1), colour)
    joints.set_ylabel("fastest joint / limit" if known else "fastest joint [rad/s]")
    joints.set_xlabel("time since the first cycle of each recording [s]")
    for panel in figure.axes:
        panel.grid(alpha=0.3)
        panel.margins(x=0)
        for log, colour in zip(logs, COLOURS, strict=False):
            for t in _faults(log):
                panel.axvline(t, color=colour, linestyle=":", linewidth=1.2)
    handles, words = joints.get_lines()[: len(logs)], [_words(log, logs) for log in logs]
    figure.legend(handles, words, loc="outside upper center", ncols=len(logs), fontsize=11, frameon=False)
    return figure


def _line(panel: Any, log: Log, values: NDArray[Any], colour: str) -> None:
    step = max(1, len(values) // MOST_POINTS)
    t, values = log.seconds[::step].copy(), values[::step].astype(float)
    values[1:][np.diff(log.ticks["loop"]["sequence"][::step]) > step] = np.nan  # no line across what is missing
    panel.plot(t, values, linewidth=1.2, alpha=0.8, color=colour)


def _faults(log: Log) -> list[float]:
    """When each began [s]."""
    fault = log.ticks["command"]["mode"] == Mode.FAULT
    return [float(t) for t in log.seconds[fault & np.diff(fault, prepend=False)]]


def _words(log: Log, logs: Sequence[Log]) -> str:
    """The name of its file, with the folder where two have the same; and what else is to be known of it."""
    alike = sum(other.path.name == log.path.name for other in logs) > 1
    name = str(log.path) if alike else log.path.name
    faults = "dotted: fault" if _faults(log) else ""
    missing = f"{log.lost} cycles missing" if log.missing else ""
    return ", ".join(part for part in (f"{name} ({log.seconds[-1]:.1f} s)", faults, missing) if part)
