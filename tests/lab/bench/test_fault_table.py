"""Every fault in full motion: the right sentence, a bounded and decelerating stop, or no effect at all."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

PATH = Path(__file__).parents[3] / "benchmarks" / "fault_table.py"
spec = importlib.util.spec_from_file_location("fault_table", PATH)
fault_table = importlib.util.module_from_spec(spec)
sys.modules["fault_table"] = fault_table
spec.loader.exec_module(fault_table)

SENTENCES = {
    "wrench stream stops": "no wrench for",
    "joint states stop": "no joint state for",
    "NaN in the wrench": "the wrench is not a finite number",
    "NaN in a joint angle": "the joint state is not a finite number",
    "force spike of 1e6 N": "force 1000000.0 N is above safety.max_force 100.0 N",
    "clock steps by 3 s": "the time since the last tick is 3 s",
    "connection hangs": "no joint state for",
    "protective stop": "protective stop",
    "loop stalled by 200 ms": "the control loop was late",
    "SIGTERM": "slows down",
}
LIMIT = 5.0  # [m/s2] max_linear_acceleration
SLACK = 1.06  # the tool turns a little while it brakes


def check(row):
    assert row.speed > 0.2, "the arm was not in motion when it happened"
    assert SENTENCES[row.fault] in row.said
    assert row.noticed <= 0.06
    assert row.stopped <= 0.12
    assert row.travel <= 0.06
    assert row.deceleration <= LIMIT * SLACK


def braking(periods, steps):
    """Velocities that lose 5 m/s2 times each entry of `steps`, and the clock that shows `periods` [s]."""
    lost = LIMIT * np.concatenate([[0.0], np.cumsum(steps)])
    return np.outer(0.3 - lost, [0.0, 1.0, 0.0]), np.concatenate([[0.0], np.cumsum(periods)])


def test_a_late_cycle_is_measured_by_the_time_it_took():
    periods = np.array([0.002, 0.002, 0.0043, 0.002])
    velocity, seconds = braking(periods, periods)
    assert fault_table.largest_acceleration(velocity, periods, seconds) == pytest.approx(LIMIT)


def test_one_hard_step_among_punctual_cycles_is_seen():
    periods = np.full(4, 0.002)
    velocity, seconds = braking(periods, [0.002, 0.0043, 0.002, 0.002])
    assert fault_table.largest_acceleration(velocity, periods, seconds) == pytest.approx(LIMIT * 0.0043 / 0.002)


def test_periods_longer_than_the_clock_shows_excuse_nothing():
    claimed = np.full(4, 0.004)
    velocity, seconds = braking(np.full(4, 0.002), claimed)
    assert fault_table.largest_acceleration(velocity, claimed, seconds) == pytest.approx(2.0 * LIMIT)


@pytest.mark.parametrize("fault", fault_table.LOCKSTEP)
def test_a_fault_in_motion_ends_in_a_decelerating_stop_with_its_sentence(fault):
    check(fault_table.in_motion(fault, fault_table.LOCKSTEP[fault]))


@pytest.mark.realtime
@pytest.mark.timeout(300)
@pytest.mark.parametrize("fault", ["loop stalled by 200 ms", "SIGTERM"])
def test_a_running_process_slows_the_arm_down_before_it_ends(fault, tmp_path):
    check(fault_table.LIVE[fault](tmp_path))


@pytest.mark.realtime
@pytest.mark.timeout(300)
@pytest.mark.parametrize("fault", ["telemetry reader stopped, then killed", "disk full while recording"])
def test_trouble_beside_the_loop_has_no_effect_on_the_arm(fault, tmp_path):
    row = fault_table.LIVE[fault](tmp_path)
    assert row.said == fault_table.NO_EFFECT
    assert row.speed > 0.1
