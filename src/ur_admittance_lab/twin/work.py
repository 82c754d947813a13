"""Recordings -> stretches of undisturbed work of one arm, for the fit."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.records import Mode
from ur_admittance.errors import LogError
from ur_admittance.model import RobotModel, robot_model
from ur_admittance.recording.log import Log, read_log
from ur_admittance_lab.twin.found import Mounting, Stretch

UNEVEN = 0.2  # of a period: a cycle that is earlier or later is a gap
BEHIND = 0.2  # [rad] command minus measurement: the arm does not follow, or was not commanded yet
USED = ("sensor_sign", "sensor_bias", "tool_weight_base", "tool_com", "R_tcp_sensor", "p_tcp_sensor", "chain_position")


def read_work(paths: Sequence[Path]) -> tuple[str, list[Stretch]]:
    """Name of the arm, and every stretch of all recordings. LogError when they are not of one arm."""
    names, stretches = [], []
    for path in paths:
        log = read_log(path)
        if not log.about.get("model"):
            raise LogError(f"{path} does not say which robot was recorded: nothing can be identified from it.")
        if not log.params or len(log.ticks) == 0:
            raise LogError(f"{path} holds no cycles with their parameters: nothing can be identified from it.")
        names.append(str(log.about["model"]))
        stretches += _stretches(log, robot_model(names[-1]))
    if len(set(names)) > 1:
        raise LogError(f"the recordings are of different arms ({', '.join(sorted(set(names)))}): give those of one.")
    return names[0], stretches


def _stretches(log: Log, model: RobotModel) -> list[Stretch]:
    """Cut where cycles are missing, late or disturbed, and where tool or sensor were set differently."""
    period = 1.0 / float(log.about.get("rate") or 500.0)
    sample, command = log.ticks["sample"], log.ticks["command"]
    good = _undisturbed(log, period)
    cuts = {0, len(sample)} | set((np.flatnonzero(np.diff(good.astype(int))) + 1).tolist())
    cuts |= set((np.flatnonzero(np.diff(log.ticks["loop"]["sequence"]) != 1) + 1).tolist())
    params = _changes(log)
    cuts |= {index for index in params if 0 < index < len(sample)}
    edges = sorted(cuts)
    found = []
    for first, last in pairwise(edges):
        if good[first]:
            rows = slice(first, last)
            found.append(
                Stretch(
                    model=model,
                    period=period,
                    command=np.array(command["q"][rows]),
                    q=np.array(sample["q"][rows]),
                    reading=np.array(sample["wrench"][rows]),
                    mounting=mounting_of(_in_force(params, first), model),
                )
            )
    return found


def _undisturbed(log: Log, period: float) -> NDArray[np.bool_]:
    sample, command = log.ticks["sample"], log.ticks["command"]
    numbers = np.hstack([sample["q"], sample["wrench"], command["q"]])
    on_time = np.abs(sample["dt"] - period) < UNEVEN * period
    fresh = (sample["joint_age"] < period) & (sample["wrench_age"] < period) & (sample["external_status"] == 0)
    follows = np.abs(command["q"] - sample["q"]).max(axis=1) < BEHIND
    return np.asarray(np.isfinite(numbers).all(axis=1) & on_time & fresh & follows & (command["mode"] != Mode.FAULT))


def _changes(log: Log) -> dict[int, np.void]:
    """Parameters in force from a cycle on, where something that matters here has changed."""
    kept: dict[int, np.void] = {}
    last: Any = None
    for index in sorted(log.params):
        record = log.params[index]
        if last is None or any(not np.array_equal(record[name], last[name]) for name in USED):
            kept[index] = last = record
    return kept


def _in_force(params: dict[int, np.void], row: int) -> np.void:
    """The parameters of a cycle; before the first known ones, those."""
    return params[max((index for index in params if index <= row), default=min(params))]


def mounting_of(record: np.void, model: RobotModel) -> Mounting:
    """From a PARAMS record, whose chain ends at the TCP."""
    R, p = model.chain_rotation[6], model.chain_position[6]
    R_flange_tcp = R.T @ record["chain_rotation"][6]
    p_flange_tcp = R.T @ (record["chain_position"][6] - p)
    return Mounting(
        R_flange_sensor=R_flange_tcp @ record["R_tcp_sensor"],
        p_flange_sensor=p_flange_tcp + R_flange_tcp @ record["p_tcp_sensor"],
        sign=float(record["sensor_sign"]),
        bias=np.array(record["sensor_bias"]),
        weight_base=np.array(record["tool_weight_base"]),
        com=np.array(record["tool_com"]),
        R_flange_tcp=R_flange_tcp,
        p_flange_tcp=p_flange_tcp,
    )
