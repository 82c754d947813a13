"""Trajectories of the topic, from commands to the servo: late messages do not make the arm faster than commanded."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from ur_admittance.robots.ros.outputs import TrajectoryOutput
from ur_admittance.ros.sim.generations import GENERATIONS
from ur_admittance.ros.sim.messages import read_trajectory
from ur_admittance.ros.sim.trajectory_controller import TrajectoryController

from .test_action_goals import END_S, JOINTS, PERIOD, RAMP_S, SPEED, START_NS, commanded

SCALED = "scaled_joint_trajectory_controller"
RULES = {driver: GENERATIONS[driver].trajectory[SCALED] for driver in ("humble_2_12", "humble", "jazzy")}
LYRICAL = GENERATIONS["lyrical"].trajectory["joint_trajectory_controller"]
RULES["lyrical, allow_trajectory_replacement: false"] = replace(LYRICAL, blends=False)


def executed(rules, latency, stamped=True):
    """What the controller commands in each period (n, 6); latency(): from a command to its arrival [s]."""
    node = SimpleNamespace(resolve_topic_name=str)
    stamp_ns = (lambda now: START_NS + round(1e9 * now)) if stamped else (lambda now: 0)
    output, sent = TrajectoryOutput(node, JOINTS, 0.04, stamp_ns=stamp_ns), []
    output._publish = sent.append
    controller = TrajectoryController(JOINTS, rules, round(PERIOD * 1e9))
    q = np.zeros(6)
    controller.activate(q)
    on_the_way, path = [], []
    for k in range(round((END_S + RAMP_S + 0.3) / PERIOD)):
        now = k * PERIOD
        output.send(*commanded(now), now)
        arrival = max(now + latency(), on_the_way[-1][0] if on_the_way else 0.0)
        on_the_way.append((arrival, read_trajectory(sent.pop())))
        now_ns = START_NS + round(1e9 * now)
        while on_the_way and on_the_way[0][0] <= now:
            assert controller.offer(on_the_way.pop(0)[1], now_ns) == ""
        wanted = controller.update(now_ns, q, np.zeros(6), 1.0)
        q = q if wanted is None else wanted
        path.append(q.copy())
    return np.array(path)


@pytest.mark.parametrize("driver", RULES)
def test_late_messages_do_not_make_the_arm_faster(driver):
    for seed in range(3):
        late = np.random.default_rng(seed)
        path = executed(RULES[driver], lambda late=late: 0.0007 + late.exponential(0.001))
        faster = (np.abs(np.diff(path, axis=0)) / PERIOD / np.abs(SPEED)).max()
        assert faster < 1.1  # 1.03 on time, at the end of the ramp
        assert path[-1] == pytest.approx(commanded(9.0)[0], abs=1e-9)


@pytest.mark.parametrize(("rules", "stamped"), [(RULES["jazzy"], False), (LYRICAL, True)])
def test_a_trajectory_that_begins_when_it_comes_is_made_up_for(rules, stamped):
    late = np.random.default_rng(1)
    path = executed(rules, lambda: 0.0007 + late.exponential(0.001), stamped)
    faster = (np.abs(np.diff(path, axis=0)) / PERIOD / np.abs(SPEED)).max()
    assert 1.9 < faster < 4.0  # some commands in one period
    assert path[-1] == pytest.approx(commanded(9.0)[0], abs=1e-9)
