"""A recording at a glance: force, velocity, offset, joint speeds against their limits, and the mode as bands; or
several recordings laid over each other, a colour for each, a panel for each quantity and axis."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ur_admittance import figures
from ur_admittance.core.records import Mode
from ur_admittance.errors import LogError
from ur_admittance.model.look import AXIS_COLOURS, JOINT_COLOURS
from ur_admittance.recording.log import Log

BANDS = {Mode.ACTIVE: "#d9f2d9", Mode.STOPPING: "#fff2cc", Mode.FAULT: "#f8d0d0"}
MISSING = {"facecolor": "white", "edgecolor": "0.6", "hatch": "///", "linewidth": 0, "zorder": 3}
AXES = ("x", "y", "z")
MOST_POINTS = 5000  # per line: more cannot be seen, and the file stays small
COLOURS = ("#1971c2", "#e8590c", "#2f9e44", "#9c36b5")  # of the first recording, the second ...
Rows = dict[str, Callable[[NDArray[Any]], NDArray[Any]]]  # label -> of the commands (n,), x, y and z (n, 3)
ALWAYS: Rows = {
    "force on the tool [N]": lambda command: command["wrench_tcp"][:, :3],
    "torque on the tool [Nm]": lambda command: command["wrench_tcp"][:, 3:],
    "TCP velocity [m/s]": lambda command: command["twist"][:, :3],
}
ALONE: Rows = ALWAYS | {"stretch of the spring [mm]": lambda command: 1e3 * command["offset"][:, :3]}
ROWS: Rows = ALWAYS | {"TCP moved by [mm]": lambda command: 1e3 * (command["p_tcp"] - command["p_tcp"][0])}


def plot(log: Log, path: str | Path) -> Path:
    """Draw the recording to a file (the suffix chooses the format: .png, .svg, .pdf)."""
    return figures.save(draw(log), path, LogError, dpi=110)


def draw(log: Log) -> Figure:
    _check_cycles(log)
    step = max(1, len(log.ticks) // MOST_POINTS)
    t, command = log.seconds[::step], log.ticks["command"][::step]
    figure, rows = figures.panels((11, 11), len(ALONE) + 1, sharex=True)
    for row, (label, values) in zip(rows, ALONE.items(), strict=False):
        for name, curve, colour in zip(AXES, values(command).T, AXIS_COLOURS, strict=True):
            row.plot(t, curve, linewidth=1.0, label=name, color=colour)
        row.set_ylabel(label)
    _joints(rows[-1], log, t, command)
    rows[-1].set_xlabel("time [s]")
    for row in rows:
        row.legend(loc="upper right", ncols=6, fontsize=8)
        _bands(row, log)
    figures.over_time(rows)
    model, missing = log.about.get("model", ""), ", hatched: missing" if log.missing else ""
    figure.suptitle(f"{log.path.name}  {model}   (green: active, yellow: stopping, red: fault{missing})", fontsize=11)
    return figure


def _joints(row: Any, log: Log, t: Any, command: Any) -> None:
    """Joint speeds as a share of what each joint may do, so that one picture has one limit."""
    limits = _joint_limits(log)
    shares = command["qd"] / (limits if limits is not None else 1.0)
    for i in range(6):
        row.plot(t, shares[:, i], linewidth=1.0, label=f"joint {i + 1}", color=JOINT_COLOURS[i])
    if limits is not None and np.abs(shares).max() > 0.5:
        row.axhline(1.0, color="red", linestyle="--", linewidth=0.8)
        row.axhline(-1.0, color="red", linestyle="--", linewidth=0.8)
    row.set_ylabel("joint speed / limit" if limits is not None else "joint speed [rad/s]")


def _check_cycles(log: Log) -> None:
    if len(log.ticks) == 0:
        raise LogError(f"{log.path} contains no cycles to plot")


def _joint_limits(log: Log) -> NDArray[np.float64] | None:
    """Largest speeds (6,) [rad/s] at the start of the recording; None: it does not say."""
    params = next(iter(log.params.values()), None)
    if params is None:
        return None
    limits = np.asarray(params["joint_velocity"])
    return np.where(limits > 0.0, limits, 1.0)


def _bands(row: Any, log: Log) -> None:
    for gap in log.missing:
        row.axvspan(gap.start, gap.end, **MISSING)
    seconds, mode = log.seconds, np.asarray(log.ticks["command"]["mode"])
    edges = [0, *(np.flatnonzero(np.diff(mode)) + 1).tolist(), len(mode) - 1]
    for first, last in pairwise(edges):
        colour = BANDS.get(Mode(int(mode[first])))
        if colour is not None:
            row.axvspan(seconds[first], seconds[last], color=colour, linewidth=0, zorder=0)


def compare(logs: Sequence[Log], path: str | Path) -> Path:
    """Draw recordings over each other to a file (the suffix chooses the format: .png, .svg, .pdf)."""
    if not 2 <= len(logs) <= len(COLOURS):
        raise LogError(f"{len(logs)} recordings: 2 to {len(COLOURS)} can be laid over each other")
    return figures.save(draw_over(logs), path, LogError, dpi=110)


def draw_over(logs: Sequence[Log]) -> Figure:
    for log in logs:
        _check_cycles(log)
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
    limits = [_joint_limits(log) for log in logs]
    known = all(each is not None for each in limits)  # one scale for all
    joints: Any = figure.add_subplot(grid[len(ROWS), :], sharex=first)
    for log, own, colour in zip(logs, limits, COLOURS, strict=False):
        speeds = np.abs(log.ticks["command"]["qd"])
        _line(joints, log, (speeds / own if known else speeds).max(axis=1), colour)
    joints.set_ylabel("fastest joint / limit" if known else "fastest joint [rad/s]")
    joints.set_xlabel("time since the first cycle of each recording [s]")
    figures.over_time(figure.axes)
    for panel in figure.axes:
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
