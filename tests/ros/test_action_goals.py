"""Goals of the action, from commands to the servo, without ROS in between: never faster or farther than commanded."""

import struct
from collections import deque

import numpy as np
import pytest

from ur_admittance.core.motion.sending import plan_at
from ur_admittance.robots.ros.action_output import (
    BLEND_S,
    BLEND_SHARE,
    DELAY_S,
    GOAL_PERIOD_S,
    HOLD_S,
    STEP_S,
    ActionOutput,
    Splines,
    rows_to_rest,
)
from ur_admittance.robots.ros.inputs import LOOKS, Inputs
from ur_admittance_lab.driver.generations import GENERATIONS
from ur_admittance_lab.driver.trajectory import Message, Point
from ur_admittance_lab.driver.trajectory_controller import Goal, TrajectoryController

JOINTS = tuple("abcdef")
PERIOD = 0.002
SPEED = np.array([0.8, -0.4, 0.3, 0.2, -0.1, 0.5])  # [rad/s]
RAMP_S, END_S = 0.1, 2.0
START_NS = 1_000_000_000_000


def commanded(t):
    """Up to SPEED in RAMP_S, down again at the end: angles, speeds."""
    up, down = np.clip(t / RAMP_S, 0.0, 1.0), np.clip((t - END_S) / RAMP_S, 0.0, 1.0)
    gone = 0.5 * up**2 * RAMP_S + max(0.0, min(t, END_S) - RAMP_S) + (down - 0.5 * down**2) * RAMP_S
    return SPEED * gone, SPEED * (up if t < END_S else 1.0 - down)


def executed(rules, latency, until=3.0, silent=(np.inf, np.inf)):
    """What the controller commands in each period (n, 6); latency(): from sending a goal to its arrival [s];
    silent: when none is sent [s]."""
    controller = TrajectoryController(JOINTS, rules, round(PERIOD * 1e9))
    q = np.zeros(6)
    controller.activate(q)
    plan, knots, on_the_way, sent = Splines(), [], [], []
    for k in range(round(until / PERIOD)):
        now = k * PERIOD
        command = (*commanded(now), now)
        if not knots or now >= knots[-1][2] + STEP_S:
            knots.append(command)
        if k % round(GOAL_PERIOD_S / PERIOD) == 0 and not silent[0] <= now < silent[1]:
            path = [*(row for row in knots if now - DELAY_S - 0.02 < row[2] < now - 0.5 * STEP_S), command]
            blends = rules.replacing == "blended"
            plan.rows = rows_to_rest(plan, path, now, 0.04, BLEND_SHARE if blends else 0.0)
            first = BLEND_S if blends and k else 0.0
            points = tuple(Point(q, qd, time_ns=round(1e9 * (t - now))) for q, qd, t in plan.rows if t - now >= first)
            stamp = 0 if blends else START_NS + round(1e9 * now)
            on_the_way.append((now + latency(), Message(JOINTS, points, stamp)))
        while on_the_way and on_the_way[0][0] <= now:
            assert controller.offer_goal(on_the_way.pop(0)[1], Goal(), START_NS + round(1e9 * now)) == ""
            if blends:
                plan.shift(now - plan.rows[0][2])
        found = controller.update(START_NS + round(1e9 * now), q, np.zeros(6), 1.0)
        q = q if found is None else found
        sent.append(q)
    return np.array(sent)


RULES = {f"{name}, {one}": rule for name, row in GENERATIONS.items() for one, rule in row.trajectory.items()}


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES.keys())
def test_the_arm_is_never_faster_than_the_commands_whenever_goals_arrive(rules):
    rng = np.random.default_rng(5)
    blends = rules.replacing == "blended"
    sent = executed(rules, lambda: rng.uniform(0.001, 0.026), until=20.0 if blends else 3.0)
    speeds = np.diff(sent, axis=0) / PERIOD
    excess = 0.18 if blends else 0.004  # a controller that blends takes its own time for the beginning
    assert (np.abs(speeds) <= (1.0 + excess) * np.abs(SPEED)).all()
    np.testing.assert_allclose(sent[-1], commanded(9.0)[0], atol=2e-4)


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES.keys())
def test_without_further_goals_the_arm_comes_to_rest_soon(rules):
    sent = executed(rules, lambda: 0.002, silent=(1.0, 9.0))
    speeds = np.abs(np.diff(sent, axis=0)).max(axis=1) / PERIOD
    assert speeds[round(0.99 / PERIOD)] == pytest.approx(0.8, rel=0.12 if rules.replacing == "blended" else 0.001)
    assert (speeds[round(1.35 / PERIOD) :] == 0.0).all()


@pytest.mark.parametrize("begin", [0.0, 0.05, 1.0, END_S])
def test_after_missing_goals_the_path_is_joined_without_a_hurry(begin):
    rules = GENERATIONS["jazzy"].trajectory["scaled_joint_trajectory_controller"]
    sent = executed(rules, lambda: 0.002, until=9.0, silent=(begin + 0.01, begin + 0.24))
    speeds = np.diff(sent, axis=0) / PERIOD
    assert (np.abs(speeds) <= np.abs(SPEED) + 0.01).all()
    assert np.abs(sent[-1] - commanded(9.0)[0]).max() < 1e-3


def test_the_senders_time_is_known_though_messages_come_late():
    inputs = Inputs.__new__(Inputs)
    inputs._ahead_ns, ahead_ns, rng = deque(maxlen=LOOKS), 3_000_000_000_000, np.random.default_rng(3)
    for k in range(200):
        now_ns = 50_000_000 * k + 10**9
        late_ns = 200_000 if k % 5 == 0 else int(rng.uniform(0, 40e6))
        stamp = divmod(now_ns - late_ns + ahead_ns, 10**9)
        inputs._joint_taken = b"\x00\x01\x00\x00" + struct.pack("<iI", *stamp), now_ns
        error = inputs.sender_ns(1e-9 * now_ns) - now_ns - ahead_ns
        assert -300_000 <= error <= 0
    for _ in range(LOOKS):
        inputs._joint_taken = b"\x00\x01\x00\x00" + struct.pack("<iI", 7, 0), now_ns  # the clock was set back
        set_back = inputs.sender_ns(1e-9 * now_ns)
    assert set_back == pytest.approx(7 * 10**9, abs=1000)


@pytest.mark.parametrize("pause", [0.01, 0.02, 0.04])
def test_after_a_short_pause_of_the_loop_the_commands_do_not_go_back_to_the_late_arm(pause):
    """The plan that the tick goes on from is that of the goal, DELAY_S later."""
    q, qd = commanded(0.999)
    commands = [(*commanded(t), t) for t in (*np.arange(0.9, 0.995, STEP_S), 0.999)]
    before = Splines([(*state, t + DELAY_S) for *state, t in commands])
    goal, out = Splines(rows_to_rest(before, commands, 0.999, 0.04)), np.zeros(6)
    plan_at(q, qd, HOLD_S, 0.04, pause, out)
    assert out == pytest.approx(goal.at(0.999 + pause + DELAY_S), abs=1e-4)
    assert out == pytest.approx(commanded(0.999 + pause)[0], abs=2e-3)


@pytest.mark.parametrize(("away", "begins"), [(0.02, "at the arm"), (0.001, "on the path")])
def test_the_last_goal_leaves_an_arm_that_has_not_followed_where_it_is(away, begins):
    """A paused program: whatever the controller holds is executed as soon as it is resumed."""
    output = ActionOutput.__new__(ActionOutput)
    sent = []
    output._send_goal = lambda: sent.append((output._newest, list(output._goal.rows), list(output._knots)))
    output._timer, output._number = object(), 1
    output._node = type("Node", (), {"destroy_timer": lambda self, timer: None})()
    commands = [(*commanded(t), t) for t in np.arange(0.9, 1.0, STEP_S)]
    output._goal, output._knots, output._newest = Splines(commands), deque(commands), commands[-1]
    q_arm = commands[-1][0] + away
    output.close(q_arm)
    ((q, qd, _), rows, knots) = sent[0]
    assert not qd.any()
    at_arm = begins == "at the arm"
    assert q == pytest.approx(q_arm if at_arm else commands[-1][0])
    assert (rows, knots) == (([], []) if at_arm else (commands, commands))
