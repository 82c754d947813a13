"""All peers side by side in one run, a round of each in turn, so that the noise of the machine hits everybody."""

import platform
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numba
import numpy as np

from ur_admittance.bench import kdl, ours
from ur_admittance.bench.footprint import cold_and_cached, footprint
from ur_admittance.bench.timing import Durations, Missing, Peer, summary
from ur_admittance.bench.workload import Array, Workload, circling, steady
from ur_admittance.errors import UrAdmittanceError

TARGET_RATIO = 0.8  # tick called from Python / C++ tick
TARGET_BATCH_RATIO = 0.2
STEADY_TICKS = 500  # 1 s: eight time constants of the default mass and damping
AGREEMENT = 0.01  # relative difference of the steady velocities at which the C++ peer no longer counts as the same

Say = Callable[[str], None]


@dataclass(frozen=True)
class Effort:
    """How much is measured. Slow peers make fewer calls per round; their tail figures are coarser."""

    rounds: int
    fast_calls: int
    slow_calls: int
    batches: int


FULL = Effort(rounds=20, fast_calls=5000, slow_calls=500, batches=50)
QUICK = Effort(rounds=5, fast_calls=2000, slow_calls=200, batches=20)


def compare(quick: bool = False, say: Say = lambda text: None) -> dict[str, Any]:
    """The figures of the benchmark by name; None where a peer is missing or a part was left out (see `notes`)."""
    effort = QUICK if quick else FULL
    workload = circling()
    notes: dict[str, str] = {}
    with ExitStack() as stack:
        say("preparing (compiles on the first run)")
        peers: list[Peer] = []
        for name, make in _makers(workload, effort).items():
            try:
                peers.append(stack.enter_context(closing(make())))
            except Missing as reason:
                notes[name] = str(reason)
        durations = _rounds(peers, effort.rounds, say)
    result = _figures(durations)
    result["batch_threads"] = numba.get_num_threads()
    result["batch_controllers"] = ours.Batch.controllers
    result["steady_velocity_difference"] = None if "kdl_tick" in notes else steady_difference()
    result |= _footprints(quick, say, notes)
    result["notes"] = notes
    result["machine"] = _machine()
    return result


def _rounds(peers: list[Peer], rounds: int, say: Say) -> dict[str, Array]:
    for peer in peers:
        peer.round(max(peer.calls_per_round // 10, 2))  # caches, branch predictors and clocks come up to speed
    measured: dict[str, list[Array]] = {peer.name: [] for peer in peers}
    for i in range(rounds):
        say(f"round {i + 1} of {rounds}")
        for peer in peers:
            measured[peer.name].append(peer.round(peer.calls_per_round))
    return {name: np.concatenate(parts) for name, parts in measured.items()}


def _makers(workload: Workload, effort: Effort) -> dict[str, Callable[[], Peer]]:
    return {
        "tick": lambda: ours.Tick(workload, effort.fast_calls),
        "kdl_tick": lambda: kdl.KdlTick(workload, effort.fast_calls),
        "update": lambda: ours.Update(workload, effort.fast_calls),
        "batch_tick": lambda: ours.Batch(workload, effort.batches),
        "pinocchio_tick": lambda: _pinocchio(workload, effort),
        "mink_ik": lambda: _mink(workload, effort),
    }


def _pinocchio(workload: Workload, effort: Effort) -> Peer:
    if find_spec("pinocchio") is None:
        raise Missing("not installed: pip install pin")
    from ur_admittance.bench.pinocchio_tick import PinocchioTick

    return PinocchioTick(workload, effort.slow_calls)


def _mink(workload: Workload, effort: Effort) -> Peer:
    if find_spec("mink") is None or find_spec("daqp") is None:  # daqp: the QP solver that mink is asked to use
        raise Missing("not installed: pip install mink daqp")
    from ur_admittance.bench.mink_ik import MinkIk

    return MinkIk(workload, effort.slow_calls)


def _figures(durations: dict[str, Array]) -> dict[str, Any]:
    details: dict[str, Durations] = {
        name: summary(values, ours.Batch.controllers if name == "batch_tick" else 1)
        for name, values in durations.items()
    }
    result: dict[str, Any] = {
        f"{name}_us": details[name].median if name in details else None
        for name in ("tick", "update", "batch_tick", "kdl_tick", "pinocchio_tick", "mink_ik")
    }
    kdl_us = result["kdl_tick_us"]
    result["ratio_to_kdl"] = result["tick_us"] / kdl_us if kdl_us else None
    result["batch_ratio_to_kdl"] = result["batch_tick_us"] / kdl_us if kdl_us else None
    result["details"] = {name: values.as_dict() for name, values in details.items()}
    return result


def steady_difference() -> float:
    """Relative difference of the TCP velocities that both ticks reach under 10 N; an error if they disagree."""
    workload = steady()
    with closing(kdl.KdlTick(workload, 0)) as peer:
        theirs = peer.run(STEADY_TICKS)[1][:3]
    own = ours.final_motion(workload, STEADY_TICKS)[:3]
    difference = float(np.linalg.norm(theirs - own) / np.linalg.norm(own))
    if not difference < AGREEMENT:
        raise UrAdmittanceError(
            f"bench: the C++ tick reaches {theirs} m/s under 10 N, this package {own} m/s: not the same controller."
        )
    return difference


def _footprints(quick: bool, say: Say, notes: dict[str, str]) -> dict[str, float | None]:
    if quick:
        say("memory and warm-up")
        cached = footprint()
        notes["warmup_cold_s"] = "left out of a quick run: compiling takes long"
        cold_s = None
    else:
        say("memory and warm-up (compiles everything once more)")
        cold, cached = cold_and_cached()
        cold_s = cold["warmup_s"]
    return {
        "rss_mb": cached["rss_mb"],
        "import_s": cached["import_s"],
        "warmup_cold_s": cold_s,
        "warmup_cached_s": cached["warmup_s"],
    }


def _machine() -> dict[str, str]:
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "system": platform.platform(),
        "processor": _processor(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
