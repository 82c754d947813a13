"""A recording as a table: one row per cycle, one column per number, the units in the head of the column.

Numbers are written so that reading them gives the same bits. pandas.read_csv and numpy.genfromtxt(..., delimiter=",",
names=True) read it as it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance import given
from ur_admittance.errors import LogError, ParameterError
from ur_admittance.outputs import at_once, refusal
from ur_admittance.recording.log import Log
from ur_admittance.recording.messages import quaternions, sent

Values = Callable[[NDArray[Any]], NDArray[Any]]  # of ticks (n,): numbers (n,) or (n, columns)
BLOCK = 5000  # rows between two calls of `progress`
XYZ = ("x", "y", "z")
JOINTS = ("1", "2", "3", "4", "5", "6")
LINEAR, ANGULAR = slice(0, 3), slice(3, 6)


@dataclass(frozen=True)
class Signal:
    """Some columns of the table: one for each part, or one alone."""

    unit: str
    values: Values
    parts: tuple[str, ...] = ()

    def columns(self, name: str) -> list[str]:
        unit = f" [{self.unit}]" if self.unit else ""
        return [f"{name}_{part}{unit}" for part in self.parts] or [f"{name}{unit}"]


def _of(record: str, field: str, part: slice = slice(None)) -> Values:
    return lambda ticks: ticks[record][field][..., part] if ticks[record][field].ndim > 1 else ticks[record][field]


def _turn(field: str) -> Values:
    return lambda ticks: quaternions(ticks["command"][field])


SIGNALS: dict[str, Signal] = {
    "mode": Signal("", _of("command", "mode")),
    "status": Signal("", _of("command", "status")),
    "force": Signal("N", _of("command", "wrench_tcp", LINEAR), XYZ),  # on the tool about the TCP, base axes
    "torque": Signal("Nm", _of("command", "wrench_tcp", ANGULAR), XYZ),
    "raw_force": Signal("N", _of("sample", "wrench", LINEAR), XYZ),  # as the sensor reports it, its axes
    "raw_torque": Signal("Nm", _of("sample", "wrench", ANGULAR), XYZ),
    "velocity": Signal("m/s", _of("command", "twist", LINEAR), XYZ),  # of the TCP, commanded, base axes
    "angular_velocity": Signal("rad/s", _of("command", "twist", ANGULAR), XYZ),
    "position": Signal("m", _of("command", "p_tcp"), XYZ),  # of the TCP, measured, base axes
    "orientation": Signal("", _turn("R_tcp"), (*XYZ, "w")),
    "reference_position": Signal("m", _of("command", "p_ref"), XYZ),
    "reference_orientation": Signal("", _turn("R_ref"), (*XYZ, "w")),
    "offset": Signal("m", _of("command", "offset", LINEAR), XYZ),  # stretch of the spring, base axes
    "offset_angle": Signal("rad", _of("command", "offset", ANGULAR), XYZ),
    "q": Signal("rad", _of("sample", "q"), JOINTS),  # measured
    "qd": Signal("rad/s", _of("sample", "qd"), JOINTS),
    "q_sent": Signal("rad", lambda ticks: sent(ticks, "q"), JOINTS),
    "qd_sent": Signal("rad/s", lambda ticks: sent(ticks, "qd"), JOINTS),
    "contact_stiffness": Signal("N/m", _of("command", "contact_stiffness", LINEAR), XYZ),  # control axes, 0: unknown
    "limits": Signal("", _of("command", "limits")),  # flags
    "period": Signal("s", _of("loop", "period")),  # since the cycle before
    "latency": Signal("s", _of("loop", "latency")),  # from reading the robot to writing to it
}


def export(
    log: Log,
    path: str | Path,
    signals: Sequence[str] = (),
    progress: Callable[[int], object] = lambda rows: None,
    *,
    overwrite: bool = False,
) -> Path:
    """Write the table, whole or not at all; signals: which of SIGNALS, none: all; progress: told of rows that have been
    written; overwrite: a file that exists."""
    for name in signals:
        if name not in SIGNALS:
            raise ParameterError(f"signal {name!r} is unknown: must be one of {', '.join(SIGNALS)}.")
    if len(log.ticks) == 0:
        raise LogError(f"{log.path} contains no cycles to export")
    path, seconds = given.file("path", path), log.seconds
    chosen = [(name, SIGNALS[name]) for name in signals or SIGNALS]
    if words := refusal(path, overwrite=overwrite, consent="say overwrite=True"):
        raise LogError(f"the table {words}")
    try:
        with at_once(path) as file:
            heads = [head for name, signal in chosen for head in signal.columns(name)]
            file.write(",".join(["time [s]", *heads]) + "\n")
            for begin in range(0, len(seconds), BLOCK):
                block = slice(begin, begin + BLOCK)
                columns = [seconds[block], *_columns(log, block, [signal for _, signal in chosen])]
                rows = zip(*(column.tolist() for column in columns), strict=True)
                file.writelines(",".join(map(repr, row)) + "\n" for row in rows)
                progress(len(columns[0]))
    except OSError as error:
        raise LogError(f"the table {path} cannot be written: {error.strerror}") from None
    return path


def _columns(log: Log, block: slice, signals: list[Signal]) -> list[NDArray[Any]]:
    ticks = log.ticks[block]
    try:
        values = [signal.values(ticks) for signal in signals]
    except ValueError as error:  # NumPy names the field
        raise LogError(f"{log.path} was recorded by another version: {error}") from None
    return [column for each in values for column in np.atleast_2d(each.T)]
