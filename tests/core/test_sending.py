"""What the arm is promised by every way to command it: an end at rest, and no jump. The last step of the tick alone."""

import math

import numpy as np
import pytest

from ur_admittance.core.motion.drive_record import BRAKING
from ur_admittance.core.motion.following import SLACK
from ur_admittance.core.motion.sending import (
    CATCH_UP,
    FASTER,
    FORGET,
    FRESH,
    LAG,
    REGAIN,
    plan_at,
    plan_to_rest,
    send,
)
from ur_admittance.core.records import COMMAND, PARAMS, SAMPLE, STATE, new

PERIOD, HOLD, SHORTEST, PAUSE = 0.002, 0.01, 0.04, 0.006
QD = np.array([0.5, -0.4, 0.3, 0.0, 0.1, -0.2])


class Stream:
    """Commands to a robot that carries them on by itself."""

    def __init__(self, hold=HOLD, by_speeds=False, patience=PAUSE):
        self.params, self.state, self.sample, self.command = (new(d) for d in (PARAMS, STATE, SAMPLE, COMMAND))
        self.params["arm_velocity"] = 10.0
        self.sample["speed_driven"] = by_speeds
        self.sample["drive"] = (1, PERIOD, PERIOD, patience, hold, SHORTEST)

    def send(self, q, qd, q_arm=None, qd_arm=None, elapsed=PERIOD):
        """Angles and speeds that are sent. q_arm None: nobody knows where the arm is."""
        self.sample["joint_age"] = 1.0 if q_arm is None else 0.0
        if q_arm is not None:
            self.sample["q"], self.sample["qd"] = q_arm, np.zeros(6) if qd_arm is None else qd_arm
        self.sample["drive"]["elapsed"] = elapsed
        self.command["q"], self.command["qd"] = q, qd
        send(self.params, self.state, self.sample, self.command)
        return self.command["q"][0].copy(), self.command["qd"][0].copy()


def planned(q, qd, t, hold=HOLD):
    out = np.zeros(6)
    plan_at(q, qd, hold, SHORTEST, t, out)
    return out


def test_a_plan_begins_with_the_command_and_ends_at_rest_with_constant_braking():
    points = np.zeros((2, 6))
    plan_to_rest(np.ones(6), QD, points, HOLD, SHORTEST)
    assert planned(np.ones(6), QD, 0.0) == pytest.approx(np.ones(6))
    path = np.array([planned(np.ones(6), QD, t) for t in np.arange(0.0, 0.2, 1e-4)])
    speed = np.diff(path, axis=0) / 1e-4
    held = round(HOLD / 1e-4)
    assert path[held] == pytest.approx(points[0])
    assert speed[:held] == pytest.approx(np.tile(QD, (held, 1)))
    assert np.abs(np.diff(speed[held + 1 : 600, 0])) / 1e-4 == pytest.approx(BRAKING, rel=1e-3)
    assert (path[-1] == points[1]).all()
    assert np.abs(speed[-1]).max() == 0.0


def test_a_slow_command_comes_to_rest_in_the_shortest_time_not_sooner():
    points = np.zeros((2, 6))
    assert plan_to_rest(np.zeros(6), 0.01 * QD, points, HOLD, SHORTEST) == SHORTEST
    assert points[1] == pytest.approx(0.01 * QD * (HOLD + 0.5 * SHORTEST))


def test_a_robot_that_holds_the_last_command_is_sent_what_the_tick_commands():
    stream = Stream()
    stream.sample["drive"]["carries_on"] = 0
    q, qd = stream.send(np.full(6, 1.4), QD, np.zeros(6))
    assert (q == 1.4).all()
    assert (qd == QD).all()


def test_no_joint_is_sent_a_speed_that_its_model_does_not_have():
    stream = Stream(by_speeds=True)
    stream.sample["drive"]["carries_on"] = 0
    stream.params["arm_velocity"] = 0.25
    _, qd = stream.send(np.zeros(6), QD)
    assert qd == pytest.approx(0.5 * QD)


def test_commands_whose_speed_explains_them_are_sent_as_they_are():
    stream, rng, q = Stream(), np.random.default_rng(3), np.zeros(6)
    for _ in range(1000):
        elapsed = PERIOD * rng.uniform(0.6, 1.4)
        q = q + QD * elapsed * rng.uniform(0.95, 1.05)
        sent, qd = stream.send(q, QD, elapsed=elapsed)
        assert (sent == q).all()
        assert (qd == QD).all()


def test_the_first_command_starts_at_the_arm_however_far_the_controller_is():
    sent, _ = Stream().send(np.full(6, 1.4), np.zeros(6), np.zeros(6))
    assert np.abs(sent).max() == pytest.approx(CATCH_UP * PERIOD)  # 40 mm/s at the end of a UR5e's reach


@pytest.mark.parametrize("hold", [HOLD, 0.05])
@pytest.mark.parametrize("pause", [0.01, 0.03, 0.1, 1.0, 60.0])
def test_after_a_pause_the_commands_go_on_where_the_arm_has_come_to_rest(pause, hold):
    stream, q = Stream(hold=hold), np.zeros(6)
    for _ in range(100):
        q = q + QD * PERIOD
        stream.send(q, QD)
    sent, _ = stream.send(q + 0.5, QD, elapsed=pause)  # whatever the controller believes by now
    longest = (1.1 * np.abs(QD) + 0.05) * PERIOD
    assert (np.abs(sent - planned(q, QD, pause, hold)) <= longest + 1e-12).all()


def test_a_jump_of_the_command_is_approached_at_the_catch_up_speed_and_reached():
    stream, goal, last = Stream(), np.full(6, 0.02), np.zeros(6)
    for _ in range(250):
        sent, _ = stream.send(goal, np.zeros(6), last)
        assert np.abs(sent - last).max() <= CATCH_UP * PERIOD * 1.001
        last = sent
    assert (last == goal).all()


def test_a_command_is_no_farther_from_a_standing_arm_than_a_load_bends_it():
    """The robot is paused, or its controller is off: when it obeys again, there is no distance to make up for."""
    stream, q, arm = Stream(), np.zeros(6), np.zeros(6)
    for _ in range(200):  # an arm that follows, 30 ms late
        q = q + QD * PERIOD
        arm = q - 0.03 * QD
        sent, qd = stream.send(q, QD, arm, QD)
    assert (sent == q).all()
    assert (qd == QD).all()
    leads = []
    for _ in range(500):  # it stands, and the command goes on
        q = q + QD * PERIOD
        leads.append(np.abs(stream.send(q, QD, arm)[0] - arm).max())
    assert max(leads) <= SLACK + LAG * np.abs(QD).max()
    assert leads[-1] == pytest.approx(SLACK, rel=0.01)


class Plain:
    """The same as it is meant, in NumPy."""

    def __init__(self):
        self.speed = np.zeros(6)
        self.q, self.qd = None, np.zeros(6)

    def send(self, q, qd, q_arm, qd_arm, elapsed):
        self.speed = np.maximum(np.abs(qd_arm), math.exp(-PERIOD / FORGET) * self.speed)
        reach = SLACK + LAG * self.speed
        held = np.clip(q, q_arm - reach, q_arm + reach)
        qd = np.where(held == q, qd, qd_arm)
        start, elapsed = (q_arm, PERIOD) if self.q is None else (self.q, max(elapsed, PERIOD))
        step_time = elapsed
        if elapsed >= PAUSE and self.q is not None:
            step_time, start = PERIOD, self.at(elapsed)
        allowed, gap = (FASTER * np.abs(qd) + CATCH_UP) * step_time, held - start
        self.held_back, self.far = (held != q).any(), (np.abs(gap) > allowed).any()
        if self.far:
            step = np.clip(gap, -allowed, allowed)
            held, qd = start + step, np.where(np.abs(gap) > allowed, step / elapsed, qd)
        self.q, self.qd = held, qd

    def at(self, t):
        time, braked = max(SHORTEST, float(np.abs(self.qd).max()) / BRAKING), max(0.0, t - HOLD)
        rest = self.qd * (0.5 * time) + (self.qd * HOLD + self.q)
        return self.q + (t - braked**2 / (2.0 * time)) * self.qd if braked < time else rest


def test_what_is_sent_agrees_to_the_last_bit_with_numpy():
    """Commands that run, jump and pause, an arm that follows, stands and is put elsewhere."""
    rng, stream, plain = np.random.default_rng(5), Stream(), Plain()
    q, held_back, far = np.zeros(6), 0, 0
    for _ in range(20_000):
        elapsed = PERIOD * (rng.choice([5.0, 30.0, 500.0]) if rng.random() < 0.01 else rng.uniform(0.5, 2.5))
        qd = rng.normal(0.0, 0.5, 6) * (rng.random(6) < 0.9)
        q = q + qd * PERIOD * rng.uniform(0.9, 1.1) + (rng.normal(0.0, 0.05, 6) if rng.random() < 0.01 else 0.0)
        arm_qd = qd * (rng.random() < 0.7)
        arm = q - 0.03 * qd - (rng.normal(0.0, 0.1, 6) if rng.random() < 0.02 else 0.0)
        sent_q, sent_qd = stream.send(q, qd, arm, arm_qd, elapsed)
        plain.send(q, qd, arm, arm_qd, elapsed)
        assert (sent_q == plain.q).all()
        assert (sent_qd == plain.qd).all()
        held_back, far = held_back + plain.held_back, far + plain.far
    assert held_back > 100
    assert far > 100


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_a_measurement_that_is_not_a_number_does_not_reach_the_command(wrong):
    """An arm that is stopped for it is commanded while it brakes, and again afterwards."""
    stream, arm, qd_arm = Stream(), np.zeros(6), np.zeros(6)
    arm[2], qd_arm[3] = wrong, wrong
    q, qd = stream.send(np.full(6, 0.5), QD, arm, qd_arm)
    assert np.isfinite(q).all()
    assert np.isfinite(qd).all()
    for _ in range(10_000):
        q, qd = stream.send(np.full(6, 0.5), QD, np.zeros(6))
    assert q == pytest.approx(np.full(6, SLACK))
    assert not qd.any()


def test_memory_that_something_else_has_overwritten_does_not_reach_the_arm():
    stream = Stream()
    stream.send(np.zeros(6), QD, np.zeros(6))
    stream.state["sent"]["q"][0, 3] = np.nan
    q, qd = stream.send(np.full(6, 0.005), np.zeros(6), np.zeros(6))
    assert np.abs(q).max() == pytest.approx(CATCH_UP * PERIOD)
    assert np.isfinite(qd).all()


def test_a_joint_state_that_is_old_holds_nothing():
    stream = Stream()
    stream.send(np.zeros(6), np.zeros(6), np.zeros(6))
    q = np.zeros(6)
    for _ in range(100):
        q = q + QD * PERIOD
        stream.sample["q"] = 0.0
        assert (stream.send(q, QD)[0] == q).all()
    assert FRESH < 1.0


def test_speeds_come_back_slowly_after_a_pause():
    stream = Stream(by_speeds=True, patience=0.05)
    for _ in range(10):
        assert (stream.send(np.zeros(6), QD)[1] == QD).all()
    assert not stream.send(np.zeros(6), QD, elapsed=1.0)[1].any()
    assert stream.send(np.zeros(6), QD)[1] == pytest.approx(PERIOD / REGAIN * QD)
    for _ in range(round(REGAIN / PERIOD)):
        _, qd = stream.send(np.zeros(6), QD)
    assert (qd == QD).all()
