"""How long a tick takes, next to the same tick in other hands.

python -m benchmarks.tick            4 to 6 minutes
python -m benchmarks.tick --quick    under a minute once everything is compiled
python -m benchmarks.tick --json     all figures for other programs
python -m benchmarks.tick --write    keeps what the pages quote in docs/measured/tick.json
chrt -f 1 python -m benchmarks.tick  on a busy computer: before all ordinary programs, as the control loop runs

All peers in one run, a round of each in turn, so that what disturbs the machine disturbs everybody. Ratios are taken
within a round; their median and quartiles over the rounds are printed.
"""

import argparse
import datetime
import json
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numba
import numpy as np

from benchmarks.footprint import bare_loop, starts
from benchmarks.machine import machine
from benchmarks.tick import agreement, ours
from benchmarks.tick import workload as loads
from benchmarks.tick.kdl import KdlProcess
from benchmarks.tick.workload import Array, Missing, Workload
from ur_admittance.errors import UrAdmittanceError
from ur_admittance_lab.evidence import keep
from ur_admittance_lab.speed import percentiles

FILE = Path(__file__).parents[2] / "docs" / "measured" / "tick.json"
CONTROLLERS = 512  # a batch of half a millisecond and more: the start of the threads is a small part of it
SCENES: dict[str, tuple[str, Callable[[], Workload]]] = {
    "": ("moving freely", loads.circling),
    "_corner": ("sliding in a corner of the walls", loads.cornered),
    "_joint": ("held by a joint limit", loads.at_joint_limit),
}
TITLES = {
    "tick": "tick, called from Python",
    "update": "controller.update()",
    "kdl_tick": "the same tick in C++ (KDL, Eigen) *",
    "pinocchio_tick": "the same in Python (Pinocchio, NumPy, DAQP) *",
    "mink_ik": "mink: inverse kinematics only",
    "tick_blind": "tick without distances of the arm",
    "tick_near": "tick among boxes, held by them",
}
LEFT_OUT = (
    "* leaves out the contact observers, the distances of the arm and the check of parameters and memory on every tick"
)

Round = Callable[[int], Array]


def compare(quick: bool) -> dict[str, Any]:
    """Durations [us] and ratios by name; peers that are missing are in `notes`."""
    rounds = 5 if quick else 20
    threads, notes = numba.get_num_threads(), dict[str, str]()
    with ExitStack() as stack:
        _say("preparing (compiles on the first run)")
        durations = _rounds(_peers(quick, threads, stack, notes), rounds)
    _say("the commands of all peers on the same samples")
    return {
        "us": {name: percentiles(np.concatenate(parts)) for name, parts in durations.items()},
        "ratios": _ratios(durations, threads) if "kdl_tick" in durations else {},
        "threads": threads,
        "controllers": CONTROLLERS,
        "largest_difference": agreement.largest_differences(notes),
        **_footprint(quick, notes),
        "notes": notes,
        "machine": machine(),
    }


def _peers(quick: bool, threads: int, stack: ExitStack, notes: dict[str, str]) -> dict[str, tuple[Round, int]]:
    """What is measured, and how many calls of it in a round. A name ends with its scene."""
    fast, slow, batches = (2000, 100, 20) if quick else (5000, 500, 50)
    peers: dict[str, tuple[Round, int]] = {}
    for scene, (_, make) in SCENES.items():
        load = make()
        peers[f"tick{scene}"] = partial(ours.time_ticks, load), fast
        try:
            process = stack.enter_context(KdlProcess(load))
            peers[f"kdl_tick{scene}"] = process.ticks, fast
        except Missing as reason:
            notes["kdl_tick"] = str(reason)
        for count in sorted({1, threads}):
            peers[f"batch_{count}{scene}"] = _batch(partial(ours.time_batches, load), count), batches
            if "kdl_tick" in peers:
                peers[f"kdl_batch_{count}{scene}"] = _batch(process.batches, count), batches
        try:
            peers[f"pinocchio_tick{scene}"] = _pinocchio(load), slow
        except Missing as reason:
            notes["pinocchio_tick"] = str(reason)
    free = loads.circling()
    peers["update"] = partial(ours.time_updates, free), fast
    try:
        peers["mink_ik"] = _mink(free), slow
    except Missing as reason:
        notes["mink_ik"] = str(reason)
    peers["tick_blind"] = partial(ours.time_ticks, loads.without_distances()), fast
    peers["tick_near"] = partial(ours.time_ticks, loads.crowded()), fast
    return peers


def _batch(time: Callable[[int, int, int], Array], threads: int) -> Round:
    """Per controller."""
    return lambda count: time(count, CONTROLLERS, threads) / CONTROLLERS


def _pinocchio(workload: Workload) -> Round:
    if find_spec("pinocchio") is None or find_spec("daqp") is None:
        raise Missing("not installed: pip install pin daqp")
    from benchmarks.tick.pinocchio_tick import time_ticks

    return partial(time_ticks, workload)


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
    """Each to the C++ tick of its scene, or to its batch."""
    pairs = [(name, "kdl_tick") for name in TITLES if name in durations]
    for scene in SCENES:
        pairs += [(f"{name}{scene}", f"kdl_tick{scene}") for name in ("tick", "kdl_tick", "pinocchio_tick")]
        for count in sorted({1, threads}):
            for name in (f"batch_{count}{scene}", f"kdl_batch_{count}{scene}"):
                others = dict.fromkeys((f"kdl_batch_1{scene}", f"kdl_batch_{count}{scene}"))
                pairs += [(name, other) for other in others]
    medians = {name: np.array([np.median(part) for part in parts]) for name, parts in durations.items()}
    found = {}
    for name, other in pairs:
        if name not in medians:
            continue
        low, median, high = np.percentile(medians[name] / medians[other], (25.0, 50.0, 75.0))
        found[f"{name}/{other}"] = {"median": float(median), "low": float(low), "high": float(high)}
    return found


def _footprint(quick: bool, notes: dict[str, str]) -> dict[str, float]:
    _say("memory and start")
    if quick:
        notes["cold_s"] = "left out of a quick run: compiling takes a minute"
    return bare_loop() if quick else starts()


def table(result: dict[str, Any]) -> str:
    lines = [result["machine"], "", f"{'one tick [us]':48}{'p50':>8}{'p99':>9}{'p99.9':>9}{'ratio to C++':>26}"]
    for scene, (where, _) in SCENES.items():
        lines.append(f"{where}:")
        for name, title in TITLES.items():
            if not scene or name in ("tick", "kdl_tick", "pinocchio_tick"):
                lines.append(_tick_line(result, name, title, scene))
    head = f"batch of {result['controllers']}, per controller [us]"
    lines += ["", f"{head:48}{'p50':>8}{'to one C++ thread':>24}{'to as many':>24}"]
    for scene, (where, _) in SCENES.items():
        lines.append(f"{where}:")
        for count in sorted({1, result["threads"]}):
            for name, who in ((f"batch_{count}", "this package"), (f"kdl_batch_{count}", "C++ *")):
                if name in result["us"]:
                    title = f"  {who}, {count} thread{'s' if count > 1 else ''}"
                    ratios = (_ratio(result, name, f"kdl_batch_{other}", scene) for other in (1, count))
                    cells = "".join(f"{ratio:>24}" for ratio in ratios)
                    lines.append(f"{title:48}{result['us'][name + scene]['p50']:8.2f}{cells}")
    lines += ["", LEFT_OUT]
    lines += [f"commands of {name}: within {off:.0e} of ours" for name, off in result["largest_difference"].items()]
    start = f"start to active {result['start_s']:.2f} s"
    if "cold_s" in result:
        start += (
            f" (from a shipped library {result['shipped_s']:.2f} s, with nothing compiled {result['cold_s']:.0f} s)"
        )
    lines.append(f"memory {result['rss_mb']:.0f} MB, import {result['import_s']:.2f} s, {start}")
    return "\n".join(lines)


def _tick_line(result: dict[str, Any], name: str, title: str, scene: str) -> str:
    figures = result["us"].get(name + scene)
    if figures is None:
        return f"  {title:46}  {result['notes'][name]}"
    cells = f"{figures['p50']:8.2f}{figures['p99']:9.2f}{figures['p999']:9.2f}"
    return f"  {title:46}{cells}{_ratio(result, name, 'kdl_tick', scene):>26}"


def _ratio(result: dict[str, Any], name: str, other: str, scene: str) -> str:
    found = result["ratios"].get(f"{name}{scene}/{other}{scene}")
    return f"{found['median']:.2f} ({found['low']:.2f} to {found['high']:.2f})" if found else ""


def kept(result: dict[str, Any]) -> dict[str, Any]:
    """What the pages quote: medians [us], and how many times that of C++ a tick takes."""
    ratios = {name.partition("/")[0]: ratio["median"] for name, ratio in result["ratios"].items()}
    return {
        "date": datetime.date.today().isoformat(),
        "machine": result["machine"],
        "processor": result["machine"].partition(",")[0],
        "us": {name: figures["p50"] for name, figures in result["us"].items()},
        "of_cpp": {name: ratios[name] for name in ratios if name.startswith("tick")},
    }


def _say(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Time the tick next to C++, Pinocchio and mink, in one run.")
    parser.add_argument("--quick", action="store_true", help="short run; leaves out the start with nothing compiled")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--write", action="store_true", help=f"keep the medians in {FILE.name}")
    arguments = parser.parse_args()
    try:
        result = compare(arguments.quick)
    except UrAdmittanceError as error:
        print(error, file=sys.stderr)
        return 2
    finally:
        _say("")
    print(json.dumps(result, indent=2) if arguments.json else table(result))
    if arguments.write:
        keep(FILE, "core", kept(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
