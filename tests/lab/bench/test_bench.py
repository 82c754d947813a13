"""The peers of the benchmark compute what this package computes; the commands report every figure."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.tick import __main__ as comparison
from benchmarks.tick import agreement, kdl, ours
from benchmarks.tick.workload import (
    CONSTANTS,
    PUSH,
    Missing,
    at_joint_limit,
    circling,
    cornered,
    crowded,
    setting,
    steady,
)
from ur_admittance.core.records import Limit
from ur_admittance.errors import UrAdmittanceError
from ur_admittance.params.record import fill

ROOT = Path(__file__).parents[3]
SECOND = 500  # ticks: eight time constants of the default mass and damping
# The situation in which a constant matters most: found by changing it and looking for the largest difference.
SITUATIONS = (
    "circle",
    "corner",
    "straight wrist",
    "outside a wall",
    "stretched elbow",
    "elbow stretched at once",
    "joint limit",
    "blocked arm",
    "springs",
    "release",
    "norms in a box",
    "contradictions",
)
MATTERS_IN = {
    "LONGEST_PERIOD": "circle",
    "ACCELERATION_CUTOFF_HZ": "corner",
    "QUIET": "release",
    "ELBOW": "stretched elbow",
    "BRAKING": "norms in a box",
    "PLANNED": "norms in a box",
    "NEAR_RATE": "corner",
    "FAR": "corner",
    "SPEED": "norms in a box",
    "TURNING": "norms in a box",
    "SLIDING": "norms in a box",
    "CUTS": "norms in a box",
    "SINGULAR": "stretched elbow",
    "DAMPING": "norms in a box",
    "CURVE": "stretched elbow",
    "AHEAD": "norms in a box",
}


@pytest.fixture(scope="module")
def situations():
    return {samples.name: samples for samples in agreement.situations()}


@pytest.fixture(params=agreement.PEERS)
def peer(request, missing):
    """replay() of a peer; skipped where it cannot run, an error in CI."""

    def run(samples):
        try:
            return agreement.PEERS[request.param](samples)
        except Missing as reason:
            missing(str(reason))

    return run


@pytest.fixture
def kdl_process(missing):
    processes = []

    def start(workload):
        try:
            processes.append(kdl.KdlProcess(workload))
        except Missing as reason:
            missing(str(reason))
        return processes[-1]

    yield start
    for process in processes:
        process.close()


def closed_loop(workload, ticks):
    """(commands, Limit flags) of a perfect servo under the pushes of a workload; commands (n, 18): q, qd, twist."""
    records = ours.at_rest(workload.params)
    _, _, sample, command = records
    cycle = ours.tick.on(*records)
    sample["q"], found, limits = workload.home, [], []
    for i in range(ticks):
        sample["wrench"] = workload.pushes[i % len(workload.pushes)]
        cycle()
        found.append(np.concatenate([command[name][0] for name in ("q", "qd", "twist")]))
        limits.append(int(command["limits"][0]))
        sample["request"], sample["q"], sample["qd"] = 0, command["q"], command["qd"]
    ours.must_be_active(command)
    return np.array(found), np.array(limits)


def test_steady_push_reaches_force_over_damping():
    workload = steady()
    p = workload.params[0]
    speed = np.linalg.norm(closed_loop(workload, SECOND)[0][-1, 12:15])
    # 1 s is eight time constants: e^-8 is missing.
    assert speed == pytest.approx((PUSH - float(p["deadband_force"])) / float(p["damping"][0]), rel=1e-3)


def test_arm_of_the_workload_keeps_moving_and_stays_near_home():
    workload = circling()
    last = closed_loop(workload, 5000)[0][-1]
    assert np.linalg.norm(last[12:15]) > 0.05  # [m/s]
    assert np.abs(last[:6] - workload.home).max() < 0.5  # [rad]


@pytest.mark.parametrize(
    ("load", "limit"),
    [(cornered, Limit.WORKSPACE), (at_joint_limit, Limit.JOINT_POSITION), (crowded, Limit.COLLISION)],
)
def test_the_limit_of_a_scene_acts_in_nearly_every_tick(load, limit):
    _, limits = closed_loop(load(), 2000)
    assert np.mean(limits & int(limit) != 0) > 0.95


def test_nothing_limits_the_arm_that_circles():
    _, limits = closed_loop(circling(), 2000)
    assert not (limits & ~int(Limit.LINEAR_ACCELERATION | Limit.ANGULAR_ACCELERATION)).any()


def test_every_situation_is_compared(situations):
    assert tuple(situations) == SITUATIONS


@pytest.mark.parametrize("name", SITUATIONS)
def test_every_peer_gives_our_joint_angles_speeds_and_twist(name, situations, peer):
    own, theirs = ours.replay(situations[name]), peer(situations[name])
    assert np.abs(own[:, 12:]).max() > 0.02  # something moves [m/s]
    assert np.abs(theirs - own).max() < agreement.TOLERANCE


@pytest.mark.parametrize("constant", CONSTANTS)
def test_a_constant_that_is_one_percent_off_is_noticed(constant, situations, peer):
    # Another joint; shorter than the period; a round less of norms; FAR only decides when walls are looked at: never;
    # SPEED only has to be small: one percent of it moves 1.0e-6, just what is asked for.
    special = {"ELBOW": 1.5, "LONGEST_PERIOD": 0.01, "CUTS": 0.75, "FAR": -100.0, "SPEED": 1.02}
    factor = special.get(constant, 1.01)
    samples = situations[MATTERS_IN[constant]]
    drifted = replace(samples, constants=samples.constants | {constant: factor * CONSTANTS[constant]})
    try:
        off = np.abs(peer(drifted) - ours.replay(samples)).max()
    except UrAdmittanceError:
        return  # refuses to go on
    assert off > 100.0 * agreement.TOLERANCE


def test_a_parameter_that_is_one_percent_off_is_noticed(situations, peer):
    samples = situations["circle"]
    params = samples.params.copy()
    fill(params[0], samples.parameters.changed({"admittance.mass": [8.08] * 3 + [0.8] * 3}), samples.model)
    assert np.abs(peer(replace(samples, params=params)) - ours.replay(samples)).max() > 100.0 * agreement.TOLERANCE


def test_mink_moves_the_last_link_with_the_joint_speeds_of_the_exact_inverse(optional):
    optional("mink")
    optional("daqp")
    from benchmarks.tick.mink_ik import MinkIk

    workload, velocity = circling(), np.array([0.02, -0.03, 0.01])
    qd = MinkIk(workload).joint_velocities(workload.home, velocity)
    # In one step of 2 ms to a target: mink damps with 1e-6, and its target does not turn.
    assert workload.model.jacobian(workload.home) @ qd == pytest.approx([*velocity, 0.0, 0.0, 0.0], abs=1e-4)


def test_disagreeing_peer_ends_the_comparison(monkeypatch, situations):
    monkeypatch.setattr(agreement, "PEERS", {"other": lambda samples: 1.02 * ours.replay(samples)})
    with pytest.raises(UrAdmittanceError, match="other is not the same controller"):
        agreement.largest_differences()


def test_settings_that_the_peers_do_not_have_are_refused():
    with pytest.raises(UrAdmittanceError, match="the peers have no control_frame"):
        setting({"control_frame": "tcp"})
    with pytest.raises(UrAdmittanceError, match="stiff springs"):
        setting({"admittance.damping": [3000.0] * 6})


def test_cpp_tick_starts_every_request_afresh(kdl_process, situations):
    process = kdl_process(situations["circle"])
    assert np.array_equal(process.replay(), process.replay())


def test_cpp_tick_times_every_tick_and_every_batch_on_all_threads(kdl_process):
    process = kdl_process(circling())
    assert process.ticks(300).shape == (300,)
    for threads in (1, 2, 3):
        assert process.batches(4, 8, threads).shape == (4,)


def test_missing_library_is_reported_with_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))  # no compiler
    with pytest.raises(Missing, match="install liborocos-kdl-dev libeigen3-dev"):
        kdl.build()


@pytest.mark.timeout(300)
def test_quick_comparison_reports_every_figure_and_its_ratios(monkeypatch, capsys, situations):
    """The differences in one situation; above they are judged in each. Two small rounds: nothing is judged by them."""
    monkeypatch.setattr(sys, "argv", ["tick", "--quick", "--json"])
    monkeypatch.setattr(comparison, "CONTROLLERS", 16)
    rounds = comparison._rounds
    few = lambda peers, _: rounds({name: (call, count // 10) for name, (call, count) in peers.items()}, 2)  # noqa: E731
    monkeypatch.setattr(comparison, "_rounds", few)
    monkeypatch.setattr(agreement, "situations", lambda: [situations["circle"]])
    assert comparison.main() == 0
    result = json.loads(capsys.readouterr().out)
    assert 0.1 < result["us"]["tick"]["p50"] < 1000.0
    assert 10.0 < result["rss_mb"] < 1000.0
    assert 0.0 < result["import_s"] < result["start_s"]
    assert "cold_s" in result["notes"]  # left out of a quick run, and said so
    if "kdl_tick" not in result["us"]:
        assert "install" in result["notes"]["kdl_tick"]
        return
    threads = result["threads"]
    batches = {f"batch_{threads}/kdl_batch_1", f"batch_{threads}/kdl_batch_{threads}", "batch_1/kdl_batch_1"}
    assert {"tick/kdl_tick", "update/kdl_tick", *batches} <= set(result["ratios"])
    for scene in ("_corner", "_joint"):
        batches = {f"batch_{threads}{scene}/kdl_batch_{threads}{scene}", f"batch_1{scene}/kdl_batch_1{scene}"}
        assert {f"tick{scene}/kdl_tick{scene}", *batches} <= set(result["ratios"])
    assert {"tick_blind", "tick_near"} <= set(result["us"])
    assert result["ratios"]["kdl_tick/kdl_tick"]["median"] == 1.0
    assert max(result["largest_difference"].values()) < agreement.TOLERANCE


@pytest.mark.timeout(300)
def test_command_reports_tick_and_loops_of_this_computer():
    done = subprocess.run(
        [sys.executable, "-m", "ur_admittance", "bench", "--seconds", "1", "--json"],
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert 0.1 < result["tick_us"]["p50"] < 1000.0
    for kind in ("null", "sim"):
        assert result[kind]["cycles"] > 400
        assert result[kind]["force_to_command_us"]["p50"] < 2000.0
        assert 10.0 < result[kind]["rss_mb"] < 1000.0


STEPS = """
from benchmarks.tick import steps
from ur_admittance.errors import UrAdmittanceError
steps.CYCLES = 40
took = steps.measure(rounds=2)
assert all(0.0 < took[name] for name in took)
assert abs(took["sum"] - sum(took[name] for name in steps.STEPS)) < 1e-6
del steps.STEPS["wrench"]
try:
    steps.measure(rounds=1)
except UrAdmittanceError as error:
    print(error)
"""


def test_the_steps_that_are_timed_one_by_one_are_those_of_the_tick():
    """Their commands agree to the last bit, or no time is reported. As plain Python: the same bits, and nothing to
    compile a second time."""
    plain = os.environ | {"UR_ADMITTANCE_PLAIN": "1"}
    done = subprocess.run(
        [sys.executable, "-c", STEPS], cwd=ROOT, env=plain, capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, done.stderr
    assert "not those of the tick" in done.stdout
