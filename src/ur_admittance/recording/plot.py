"""A recording at a glance: force, velocity, offset, joint speeds against their limits, and the mode as bands."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ur_admittance.core.records import Mode
from ur_admittance.errors import LogError
from ur_admittance.model.look import AXIS_COLOURS, JOINT_COLOURS
from ur_admittance.recording.log import Log

BANDS = {Mode.ACTIVE: "#d9f2d9", Mode.STOPPING: "#fff2cc", Mode.FAULT: "#f8d0d0"}
MISSING = {"facecolor": "white", "edgecolor": "0.6", "hatch": "///", "linewidth": 0, "zorder": 3}
AXES = ("x", "y", "z")
MOST_POINTS = 5000  # per line: more cannot be seen, and the file stays small


def plot(log: Log, path: str | Path) -> Path:
    """Draw the recording to a file (the suffix chooses the format: .png, .svg, .pdf)."""
    return save(draw(log), path)


def save(figure: Figure, path: str | Path) -> Path:
    path = Path(path)
    try:
        figure.savefig(path, dpi=110)
    except (OSError, ValueError) as error:
        raise LogError(f"the figure {path} cannot be written: {error}") from None
    return path


def draw(log: Log) -> Figure:
    check_cycles(log)
    step = max(1, len(log.ticks) // MOST_POINTS)
    t, command = log.seconds[::step], log.ticks["command"][::step]
    figure = Figure(figsize=(11, 11), layout="constrained")
    rows: Any = figure.subplots(5, 1, sharex=True)
    force, turning, velocity, offset, joints = rows
    _three(force, t, command["wrench_tcp"][:, :3], "force on the tool [N]")
    _three(turning, t, command["wrench_tcp"][:, 3:], "torque on the tool [Nm]")
    _three(velocity, t, command["twist"][:, :3], "TCP velocity [m/s]")
    _three(offset, t, 1e3 * command["offset"][:, :3], "stretch of the spring [mm]")
    _joints(joints, log, t, command)
    joints.set_xlabel("time [s]")
    for row in rows:
        _bands(row, log)
        row.grid(alpha=0.3)
        row.margins(x=0)
    model, missing = log.about.get("model", ""), ", hatched: missing" if log.missing else ""
    figure.suptitle(f"{log.path.name}  {model}   (green: active, yellow: stopping, red: fault{missing})", fontsize=11)
    return figure


def _three(row: Any, t: Any, values: Any, label: str) -> None:
    for i, axis in enumerate(AXES):
        row.plot(t, values[:, i], linewidth=1.0, label=axis, color=AXIS_COLOURS[i])
    row.set_ylabel(label)
    row.legend(loc="upper right", ncols=3, fontsize=8)


def _joints(row: Any, log: Log, t: Any, command: Any) -> None:
    """Joint speeds as a share of what each joint may do, so that one picture has one limit."""
    limits = joint_limits(log)
    label = "joint speed / limit" if limits is not None else "joint speed [rad/s]"
    shares = command["qd"] / (limits if limits is not None else 1.0)
    for i in range(6):
        row.plot(t, shares[:, i], linewidth=1.0, label=f"joint {i + 1}", color=JOINT_COLOURS[i])
    if limits is not None and np.abs(shares).max() > 0.5:
        row.axhline(1.0, color="red", linestyle="--", linewidth=0.8)
        row.axhline(-1.0, color="red", linestyle="--", linewidth=0.8)
    row.set_ylabel(label)
    row.legend(loc="upper right", ncols=6, fontsize=8)


def check_cycles(log: Log) -> None:
    if len(log.ticks) == 0:
        raise LogError(f"{log.path} contains no cycles to plot")


def joint_limits(log: Log) -> NDArray[np.float64] | None:
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
