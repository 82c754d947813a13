"""How long a tick takes, next to the same tick in other hands.

python -m benchmarks.tick            2 to 3 minutes
python -m benchmarks.tick --quick    under a minute once everything is compiled
python -m benchmarks.tick --json     all figures for other programs
chrt -f 1 python -m benchmarks.tick  on a busy computer: before all ordinary programs, as the control loop runs

All peers in one run, a round of each in turn, so that what disturbs the machine disturbs everybody. Ratios are taken
within a round; their median and quartiles over the rounds are printed.
"""

import argparse
import json
import sys
from collections.abc import Callable
from contextlib import ExitStack
from importlib.util import find_spec
from typing import Any

import numba
import numpy as np

from benchmarks.machine import machine
from benchmarks.tick import agreement, ours
from benchmarks.tick.footprint import cold_and_cached, footprint
from benchmarks.tick.kdl import KdlProcess
from benchmarks.tick.workload import Array, Missing, Workload, circling, crowded
from ur_admittance.apps.bench import percentiles
from ur_admittance.errors import UrAdmittanceError

CONTROLLERS = 512  # a batch of half a millisecond and more: the start of the threads is a small part of it
TITLES = {
    "tick": "tick, called from Python",
    "tick_near": "the same among boxes, held by them",
    "update": "controller.update()",
    "kdl_tick": "the same tick in C++ (KDL, Eigen) *",
    "pinocchio_tick": "the same tick in Python (Pinocchio, NumPy) *",
    "mink_ik": "mink: inverse kinematics only",
}
LEFT_OUT = "* leaves out the contact observers, the distances of the arm and the check of parameters and memory on every tick"

Round = Callable[[int], Array]


def compare(quick: bool) -> dict[str, Any]:
    """Durations [us] and ratios by name; peers that are missing are in `notes`."""
    rounds, fast, slow, batches = (5, 2000, 100, 20) if quick else (20, 5000, 500, 50)
    workload, among_boxes, notes = circling(), crowded(), dict[str, str]()
    threads = numba.get_num_threads()
    with ExitStack() as stack:
        _say("preparing (compiles on the first run)")
        peers: dict[str, tuple[Round, int]] = {
            "tick": (lambda n: ours.time_ticks(workload, n), fast),
            "tick_near": (lambda n: ours.time_ticks(among_boxes, n), fast),
            "update": (lambda n: ours.time_updates(workload, n), fast),
        }
        try:
            process = stack.enter_context(KdlProcess(workload))
            peers["kdl_tick"] = process.ticks, fast
        except Missing as reason:
            notes["kdl_tick"] = str(reason)
        for count in sorted({1, threads}):
            peers[f"batch_{count}"] = _batch(lambda n, c, t: ours.time_batches(workload, n, c, t), count), batches
            if "kdl_tick" in peers:
                peers[f"kdl_batch_{count}"] = _batch(process.batches, count), batches
        for name, make in (("pinocchio_tick", _pinocchio), ("mink_ik", _mink)):
            try:
                peers[name] = make(workload), slow
            except Missing as reason:
                notes[name] = str(reason)
        durations = _rounds(peers, rounds)
    _say("the commands of all peers on the same samples")
    return {
        "us": {name: percentiles(np.concatenate(parts)) for name, parts in durations.items()},
        "ratios": _ratios(durations, threads) if "kdl_tick" in peers else {},
        "threads": threads,
        "controllers": CONTROLLERS,
        "largest_difference": agreement.largest_differences(notes),
        **_footprints(quick, notes),
        "notes": notes,
        "machine": machine(),
    }


def _batch(time: Callable[[int, int, int], Array], threads: int) -> Round:
    """Per controller."""
    return lambda count: time(count, CONTROLLERS, threads) / CONTROLLERS


def _pinocchio(workload: Workload) -> Round:
    if find_spec("pinocchio") is None:
        raise Missing("not installed: pip install pin")
    from benchmarks.tick.pinocchio_tick import time_ticks

    return lambda count: time_ticks(workload, count)


def _mink(workload: Workload) -> Round:
    if find_spec("mink") is None or find_spec("daqp") is None:  # daqp: the QP solver that mink is asked to use
        raise Missing("not installed: pip install mink daqp")
    from benchmarks.tick.mink_ik import MinkIk

    return MinkIk(workload).time_solves


def _rounds(peers: dict[str, tuple[Round, int]], rounds: int) -> dict[str, list[Array]]:
    for measure, calls in peers.values():
        measure(max(calls // 10, 2))  # caches, branch predictors and clocks come up to speed
    durations: dict[str, list[Array]] = {name: [] for name in peers}
    for i in range(rounds):
        _say(f"round {i + 1} of {rounds}")
        for name, (measure, calls) in peers.items():
            durations[name].append(measure(calls))
    return durations


def _ratios(durations: dict[str, list[Array]], threads: int) -> dict[str, dict[str, float]]:
    pairs = [(name, "kdl_tick") for name in TITLES if name in durations]
    for count in sorted({1, threads}):
        for name in (f"batch_{count}", f"kdl_batch_{count}"):
            pairs += [(name, other) for other in dict.fromkeys(("kdl_batch_1", f"kdl_batch_{count}"))]
    medians = {name: np.array([np.median(part) for part in parts]) for name, parts in durations.items()}
    found = {}
    for name, other in pairs:
        low, median, high = np.percentile(medians[name] / medians[other], (25.0, 50.0, 75.0))
        found[f"{name}/{other}"] = {"median": float(median), "low": float(low), "high": float(high)}
    return found


def _footprints(quick: bool, notes: dict[str, str]) -> dict[str, float | None]:
    _say("memory and warm-up")
    if quick:
        notes["warmup_cold_s"] = "left out of a quick run: compiling takes long"
        cold, cached = None, footprint()
    else:
        first, cached = cold_and_cached()
        cold = first["warmup_s"]
    names = {"rss_mb": "rss_mb", "import_s": "import_s", "warmup_cached_s": "warmup_s"}
    return {"warmup_cold_s": cold, **{name: cached[key] for name, key in names.items()}}


def table(result: dict[str, Any]) -> str:
    def ratio(name: str, other: str) -> str:
        found = result["ratios"].get(f"{name}/{other}")
        return f"{found['median']:.2f} ({found['low']:.2f} to {found['high']:.2f})" if found else ""

    lines = [result["machine"], "", f"{'one tick [us]':46}{'p50':>8}{'p99':>9}{'p99.9':>9}{'ratio to C++':>28}"]
    for name, title in TITLES.items():
        figures = result["us"].get(name)
        if figures is None:
            lines.append(f"{title:46}  {result['notes'][name]}")
            continue
        cells = f"{figures['p50']:8.2f}{figures['p99']:9.2f}{figures['p999']:9.2f}"
        lines.append(f"{title:46}{cells}{ratio(name, 'kdl_tick'):>28}")
    head = f"batch of {result['controllers']}, per controller [us]"
    lines += ["", f"{head:46}{'p50':>8}{'to one C++ thread':>24}{'to as many':>24}"]
    for count in sorted({1, result["threads"]}):
        for name, who in ((f"batch_{count}", "this package"), (f"kdl_batch_{count}", "C++ *")):
            if name in result["us"]:
                title = f"{who}, {count} thread{'s' if count > 1 else ''}"
                cells = f"{ratio(name, 'kdl_batch_1'):>24}{ratio(name, f'kdl_batch_{count}'):>24}"
                lines.append(f"{title:46}{result['us'][name]['p50']:8.2f}{cells}")
    lines += ["", LEFT_OUT]
    lines += [f"commands of {name}: within {off:.0e} of ours" for name, off in result["largest_difference"].items()]
    cold = result["warmup_cold_s"]
    warm_up = f"warm-up {result['warmup_cached_s']:.2f} s" + (f" ({cold:.1f} s with nothing compiled)" if cold else "")
    lines.append(f"memory {result['rss_mb']:.0f} MB, import {result['import_s']:.2f} s, {warm_up}")
    return "\n".join(lines)


def _say(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Time the tick next to C++, Pinocchio and mink, in one run.")
    parser.add_argument("--quick", action="store_true", help="short run; leaves out the cold warm-up")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    arguments = parser.parse_args()
    try:
        result = compare(arguments.quick)
    except UrAdmittanceError as error:
        print(error, file=sys.stderr)
        return 2
    finally:
        _say("")
    print(json.dumps(result, indent=2) if arguments.json else table(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
