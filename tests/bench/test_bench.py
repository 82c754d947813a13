"""The peers of the benchmark compute what this package computes; the command reports every figure."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from ur_admittance.bench import compare, kdl, ours
from ur_admittance.bench.timing import Missing, summary
from ur_admittance.bench.workload import PUSH, circling, steady

KEYS = {
    *("tick_us", "batch_tick_us", "kdl_tick_us", "ratio_to_kdl", "batch_ratio_to_kdl", "update_us"),
    *("pinocchio_tick_us", "mink_ik_us", "rss_mb", "import_s", "warmup_cold_s", "warmup_cached_s"),
}


@pytest.fixture
def kdl_tick():
    peers = []

    def start(workload):
        try:
            peers.append(kdl.KdlTick(workload, 1))
        except Missing as reason:
            if os.environ.get("UR_ADMITTANCE_CI"):
                pytest.fail(str(reason))
            pytest.skip(str(reason))
        return peers[-1]

    yield start
    for peer in peers:
        peer.close()


def speed_of(push, p):
    return (push - float(p["deadband_force"])) / float(p["damping"][0])


def test_steady_push_reaches_force_over_damping():
    workload = steady()
    twist = ours.final_motion(workload, compare.STEADY_TICKS)[:6]
    # 1 s is eight time constants: e^-8 is missing.
    assert np.linalg.norm(twist[:3]) == pytest.approx(speed_of(PUSH, workload.params[0]), rel=1e-3)


def test_cpp_tick_reaches_the_same_velocity_under_a_steady_push(kdl_tick):
    workload = steady()
    theirs = kdl_tick(workload).run(compare.STEADY_TICKS)[1]
    own = ours.final_motion(workload, compare.STEADY_TICKS)
    assert np.linalg.norm(theirs[:3] - own[:3]) < compare.AGREEMENT * np.linalg.norm(own[:3])
    assert np.linalg.norm(theirs[:3]) == pytest.approx(speed_of(PUSH, workload.params[0]), rel=1e-3)


def test_cpp_tick_follows_the_same_joint_path_around_the_circle(kdl_tick):
    workload = circling()
    theirs = kdl_tick(workload).run(2000)[1]
    assert theirs == pytest.approx(ours.final_motion(workload, 2000), abs=1e-6)  # rad/s, m/s, rad


def test_cpp_tick_starts_every_round_afresh(kdl_tick):
    peer = kdl_tick(circling())
    first, second = peer.run(300), peer.run(300)
    assert first[0].size == 300
    assert np.array_equal(first[1], second[1])


def test_pinocchio_tick_follows_the_same_joint_path_around_the_circle(optional):
    optional("pinocchio")
    from ur_admittance.bench.pinocchio_tick import PinocchioTick

    workload = circling()
    theirs = PinocchioTick(workload, 1).run(1000)[1]
    assert theirs == pytest.approx(ours.final_motion(workload, 1000), abs=1e-6)


def test_disagreeing_peer_ends_the_comparison(monkeypatch, kdl_tick):
    kdl_tick(steady())
    own = ours.final_motion
    monkeypatch.setattr(ours, "final_motion", lambda workload, ticks: 1.02 * own(workload, ticks))
    with pytest.raises(compare.UrAdmittanceError, match="not the same controller"):
        compare.steady_difference()


def test_missing_library_is_reported_with_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))  # no compiler
    with pytest.raises(Missing, match="install liborocos-kdl-dev libeigen3-dev"):
        kdl.build()


def test_summary_divides_a_batch_by_its_controllers():
    figures = summary(np.full(100, 5000.0), items=10)
    assert figures.median == pytest.approx(0.5)
    assert figures.p99_9 == pytest.approx(0.5)


def test_arm_of_the_workload_keeps_moving_and_stays_near_home():
    workload = circling()
    motion = ours.final_motion(workload, 5000)
    assert np.linalg.norm(motion[:3]) > 0.05  # [m/s]
    assert np.abs(motion[6:] - workload.home).max() < 0.5  # [rad]


@pytest.mark.timeout(300)
def test_quick_run_of_the_command_reports_every_figure():
    done = subprocess.run(
        [sys.executable, "-m", "ur_admittance", "bench", "--quick", "--json"],
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert set(result) >= KEYS
    assert 0.1 < result["tick_us"] < 1000.0
    assert 10.0 < result["rss_mb"] < 1000.0
    assert result["warmup_cold_s"] is None  # left out of a quick run, and said so
    assert "warmup_cold_s" in result["notes"]
    if result["kdl_tick_us"] is None:
        assert "install" in result["notes"]["kdl_tick"]
    else:
        assert result["ratio_to_kdl"] == pytest.approx(result["tick_us"] / result["kdl_tick_us"])
        assert result["steady_velocity_difference"] < compare.AGREEMENT
