"""Trajectories of the topic, from commands to the servo: what late messages do, on every controller."""

from types import SimpleNamespace

import numpy as np
import pytest

from ur_admittance.robots.ros.command_outputs import TrajectoryOutput
from ur_admittance_lab.driver.driver_messages import read_trajectory
from ur_admittance_lab.driver.generations import GENERATIONS
from ur_admittance_lab.driver.trajectory_controller import TrajectoryController

JOINTS = tuple("abcdef")
PERIOD = 0.002
SPEED = np.array([0.8, -0.4, 0.3, 0.2, -0.1, 0.5])  # [rad/s]
RAMP_S, END_S = 0.1, 2.0
START_NS = 1_000_000_000_000
LOST_S = 0.5
RULES = {f"{name}, {one}": rule for name, row in GENERATIONS.items() for one, rule in row.trajectory.items()}


def commanded(t):
    """Up to SPEED in RAMP_S, down again at the end: angles, speeds."""
    up, down = np.clip(t / RAMP_S, 0.0, 1.0), np.clip((t - END_S) / RAMP_S, 0.0, 1.0)
    gone = 0.5 * up**2 * RAMP_S + max(0.0, min(t, END_S) - RAMP_S) + (down - 0.5 * down**2) * RAMP_S
    return SPEED * gone, SPEED * (up if t < END_S else 1.0 - down)


def executed(rules, latency):
    """What the controller commands in each period (n, 6); latency(): from a command to its arrival [s]."""
    output, sent = TrajectoryOutput(SimpleNamespace(resolve_topic_name=str), JOINTS, 0.04, "commands"), []
    output._publish = sent.append
    controller = TrajectoryController(JOINTS, rules, round(PERIOD * 1e9))
    q = np.zeros(6)
    controller.activate(q)
    on_the_way, path = [], []
    for k in range(round((END_S + RAMP_S + 0.3) / PERIOD)):
        now = k * PERIOD
        output.send(*commanded(now))
        message, delay = read_trajectory(sent.pop()), latency()
        if delay < LOST_S:
            on_the_way.append((now + delay, message))
        now_ns = START_NS + round(1e9 * now)
        while on_the_way and on_the_way[0][0] <= now:
            assert controller.offer(on_the_way.pop(0)[1], now_ns) == ""
        wanted = controller.update(now_ns, q, np.zeros(6), 1.0)
        q = q if wanted is None else wanted
        path.append(q.copy())
    return np.array(path)


def fastest(path):
    """Of the commanded speed."""
    return float((np.abs(np.diff(path, axis=0)) / PERIOD / np.abs(SPEED)).max())


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES.keys())
def test_messages_on_time_are_executed_as_they_are(rules):
    path = executed(rules, lambda: 0.0007)
    assert fastest(path) == pytest.approx(1.0, abs=0.04)  # one period ahead, at the end of the ramp
    assert path[-1] == pytest.approx(commanded(9.0)[0], abs=1e-9)


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES.keys())
def test_one_message_that_comes_late_or_never_changes_nothing(rules):
    """At a steady speed: the next one finds the arm where it wants it."""
    late = iter([0.0007] * 500 + [0.0027] + [0.0007] * 200 + [1.0] + [0.0007] * 2000)
    path = executed(rules, lambda: next(late))
    assert fastest(path) == pytest.approx(1.0, abs=0.04)  # one period ahead, at the end of the ramp


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES.keys())
def test_messages_that_are_late_for_a_while_are_made_up_for_in_one_period(rules):
    """One period less, later one more: without a clock that both sides share nobody can tell."""
    late = iter([0.0007] * 500 + [0.0027] * 100 + [0.0007] * 2000)
    path = executed(rules, lambda: next(late))
    assert fastest(path) == pytest.approx(2.0, abs=0.02)
    assert path[-1] == pytest.approx(commanded(9.0)[0], abs=1e-9)
