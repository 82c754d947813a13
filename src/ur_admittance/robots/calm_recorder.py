"""A recording of calm motions, which have no controller: the same file as that of a run, for `identify` and `plot`."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ur_admittance.calibration.calm_arm import CalmArm
from ur_admittance.core.records import PARAMS, STATE, new
from ur_admittance.params import Parameters
from ur_admittance.params.record import fill
from ur_admittance.recording.log_writer import TICK, LogWriter, check_new


@contextmanager
def recorded(arm: CalmArm, path: Path | None, parameters: Parameters) -> Iterator[None]:
    """Every cycle of the arm inside the block goes to a new file; None: to nowhere."""
    if path is None:
        yield
        return
    check_new(path)
    rate = 1.0 / arm.period
    about: dict[str, Any] = {
        "model": arm.model.name,
        "rate": rate,
        "parameters": json.loads(parameters.model_dump_json()),
    }
    params, tick, state = new(PARAMS), np.zeros(1, TICK), bytes(STATE.itemsize)
    fill(params[0], parameters, arm.model)
    writer = LogWriter(path, about)

    def add() -> None:
        loop = tick["loop"]
        first = loop["sequence"][0] == 0
        loop["sequence"] += 1
        loop["time_ns"] = round(1e9 * int(loop["sequence"][0]) / rate)
        loop["params_revision"] = params["revision"]
        tick["sample"], tick["command"] = arm.sample, arm.command
        writer.add(tick.view(np.uint8).data, memoryview(state), params[0] if first else None, about if first else None)

    arm.watch = add
    try:
        yield
    finally:
        arm.watch = lambda: None
        writer.close()
