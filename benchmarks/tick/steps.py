"""How long each step of the tick takes, beside the budget that the design documents give it.

python -m benchmarks.tick.steps            half a minute, most of it to compile
python -m benchmarks.tick.steps --write    keeps it in docs/measured/tick_steps.json, where the pages read it

A step runs over a second of recorded cycles of a moving arm, then the next one over what it has left, in the order of
core/tick.py: each sees what it sees in the tick, and nothing can be computed ahead. Their sum is compared with whole
ticks over the same records.
"""

import argparse
import datetime
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.machine import machine
from benchmarks.tick import ours
from benchmarks.tick.kernels import BETWEEN, STEPS, compiled, whole
from benchmarks.tick.workload import circling
from ur_admittance.core.records import Request
from ur_admittance.core.tick import tick
from ur_admittance.errors import UrAdmittanceError
from ur_admittance_lab.evidence import keep

FILE = Path(__file__).parents[2] / "docs" / "measured" / "tick_steps.json"
CYCLES, ROUNDS = 500, 200


def recorded() -> tuple[NDArray[np.void], ...]:
    """PARAMS, and STATE, SAMPLE, COMMAND as they are before each of some cycles, after a second of motion."""
    load = circling()
    records = ours.at_rest(load.params)
    params, state, sample, command = records
    cycle = tick.on(*records)
    sample["q"], sample["wrench"] = load.home, load.pushes[0]
    kept: list[tuple[NDArray[np.void], ...]] = []
    for i in range(2 * CYCLES):
        if i >= CYCLES:
            kept.append((state.copy(), sample.copy(), command.copy()))
        cycle()
        sample["request"] = Request.NONE
        sample["q"], sample["qd"] = command["q"], command["qd"]
        sample["wrench"] = load.pushes[i % len(load.pushes)]
    ours.must_be_active(command)
    return params, *(np.concatenate(part) for part in zip(*kept, strict=True))


def measure(rounds: int = ROUNDS) -> dict[str, float]:
    """Medians of the steps, their sum, and whole ticks [us]. UrAdmittanceError: the steps do not give the tick's
    commands, to the last bit."""
    params, *before = recorded()
    timed: dict[str, Any] = {name: compiled(step) for name, step in {**STEPS, "whole": whole}.items()}
    durations: dict[str, list[float]] = {name: [] for name in timed}
    for _ in range(rounds):
        stepped, ticked = ([part.copy() for part in before] for _ in range(2))
        between = np.zeros(CYCLES, BETWEEN)
        for name, step in timed.items():
            records = ticked if name == "whole" else stepped
            start = time.perf_counter_ns()
            step(params, *records, between)
            durations[name].append((time.perf_counter_ns() - start) / CYCLES)
        if not all(np.array_equal(stepped[2][name], ticked[2][name]) for name in ("q", "qd", "twist", "offset")):
            raise UrAdmittanceError("bench: the steps are not those of the tick any more; compare with core/tick.py.")
    medians = {name: float(np.median(values[1:])) / 1e3 for name, values in durations.items()}
    return medians | {"sum": sum(medians[name] for name in STEPS)}


def main() -> None:
    parser = argparse.ArgumentParser(description="Time each step of the tick.")
    parser.add_argument("--write", action="store_true", help=f"keep the medians in {FILE.name}")
    write = parser.parse_args().write
    result: dict[str, Any] = {"date": datetime.date.today().isoformat(), "machine": machine(), "us": measure()}
    print(json.dumps(result, indent=1))
    if write:
        keep(FILE, "core", result)


if __name__ == "__main__":
    main()
