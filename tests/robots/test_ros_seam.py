"""What the arm is promised by every way to command it over ROS: an end at rest, and no jump. No ROS is needed here."""

import math

import numpy as np
import pytest
from numba import config

from ur_admittance.core.records import SAMPLE, new
from ur_admittance.core.views import vector
from ur_admittance.robots.ros.guard import (
    LAST_COMMANDS,
    LOOKS,
    NUMBERS,
    PERIOD_S,
    SILENCE_S,
    SPEEDS,
    Watch,
)
from ur_admittance.robots.ros.kernels import (
    CATCH_UP,
    FASTER,
    HOLD_S,
    LAG_S,
    SLACK,
    approach,
    brake,
    hold,
)
from ur_admittance.robots.ros.seam import (
    FORGET_S,
    LONGEST_STEP,
    Braking,
    Leash,
    Seam,
    SpeedSeam,
    warm_up,
)
from ur_admittance.runtime.braking import BRAKING

PERIOD = 0.002
QD = np.array([0.5, -0.4, 0.3, 0.0, 0.1, -0.2])


def test_a_plan_begins_with_the_command_and_ends_at_rest_with_constant_braking():
    plan = Braking(shortest=0.04)
    plan.begin(np.ones(6), QD, 7.0)
    assert plan.at(7.0) == pytest.approx(np.ones(6))
    path = np.array([plan.at(t) for t in 7.0 + np.arange(0.0, 0.2, 1e-4)])
    speed = np.diff(path, axis=0) / 1e-4
    held = round(HOLD_S / 1e-4)
    assert speed[:held] == pytest.approx(np.tile(QD, (held, 1)))
    assert np.abs(np.diff(speed[held + 1 : 600, 0])) / 1e-4 == pytest.approx(BRAKING, rel=1e-3)
    assert path[-1] == pytest.approx(plan.rest)
    assert np.abs(speed[-1]).max() == 0.0


def test_a_slow_command_comes_to_rest_in_the_shortest_time_not_sooner():
    plan = Braking(shortest=0.04)
    plan.begin(np.zeros(6), 0.01 * QD, 0.0)
    assert plan.time == 0.04
    assert plan.rest == pytest.approx(0.01 * QD * (HOLD_S + 0.02))


def test_commands_whose_speed_explains_them_are_sent_as_they_are():
    plan = Braking(shortest=0.04)
    seam = Seam(PERIOD, plan)
    rng = np.random.default_rng(3)
    q, now = np.zeros(6), 0.0
    seam.join(q)
    for _ in range(1000):
        dt = PERIOD * rng.uniform(0.6, 1.4)
        now += dt
        q = q + QD * dt * rng.uniform(0.95, 1.05)
        sent = seam.next(q, QD, now)
        assert (sent == q).all()
        plan.begin(sent, QD, now)


def test_the_first_command_starts_at_the_arm_however_far_the_controller_is():
    seam = Seam(PERIOD, Braking(shortest=0.04))
    seam.join(np.zeros(6))
    sent = seam.next(np.full(6, 1.4), np.zeros(6), 5.0)
    assert np.abs(sent).max() == pytest.approx(0.05 * PERIOD)  # 40 mm/s at the end of a UR5e's reach


@pytest.mark.parametrize("pause", [0.01, 0.03, 0.1, 1.0, 60.0])
def test_after_a_pause_the_commands_go_on_where_the_arm_has_come_to_rest(pause):
    plan = Braking(shortest=0.04)
    seam = Seam(PERIOD, plan)
    q, now = np.zeros(6), 0.0
    seam.join(q)
    for _ in range(100):
        now += PERIOD
        q = q + QD * PERIOD
        plan.begin(seam.next(q, QD, now), QD, now)
    now += pause
    arm = plan.at(now)
    behind = q + 0.5  # whatever the controller believes by now
    sent = seam.next(behind, QD, now)
    longest = (1.1 * np.abs(QD) + 0.05) * PERIOD
    assert (np.abs(sent - arm) <= longest + 1e-12).all()


def test_a_jump_of_the_command_is_approached_at_the_catch_up_speed_and_reached():
    plan = Braking(shortest=0.04)
    seam = Seam(PERIOD, plan)
    seam.join(np.zeros(6))
    goal, now, last = np.full(6, 0.02), 0.0, np.zeros(6)
    for _ in range(250):
        now += PERIOD
        sent = seam.next(goal, np.zeros(6), now).copy()
        assert np.abs(sent - last).max() <= CATCH_UP * PERIOD * 1.001
        last = sent
        plan.begin(sent, np.zeros(6), now)
    assert (last == goal).all()


def test_a_command_is_no_farther_from_a_standing_arm_than_a_load_bends_it():
    """The robot is paused, or its controller is off: when it obeys again, there is no way to make up for."""
    leash, q, arm = Leash(PERIOD), np.zeros(6), np.zeros(6)
    for _ in range(200):  # an arm that follows, 30 ms late
        q = q + QD * PERIOD
        arm = q - 0.03 * QD
        assert (leash.hold(q, QD, arm, QD) == q).all()
        assert (leash.qd == QD).all()
    leads = []
    for _ in range(100):  # it stands, and the command goes on
        q = q + QD * PERIOD
        leads.append(np.abs(leash.hold(q, QD, arm, np.zeros(6)) - arm).max())
    assert max(leads) <= SLACK + LAG_S * np.abs(QD).max()
    assert leads[-1] == pytest.approx(SLACK, rel=0.01)
    assert leash.qd[0] == 0.0


def test_an_arm_that_is_late_on_purpose_is_not_held_back():
    leash, delay = Leash(PERIOD, 0.08), 0.08
    q = np.zeros((300, 6))
    for k in range(1, 300):
        q[k] = q[k - 1] + QD * PERIOD * min(1.0, k / 50)
        arm = q[max(0, k - round(delay / PERIOD))]
        moved = (arm - q[max(0, k - 1 - round(delay / PERIOD))]) / PERIOD
        assert (leash.hold(q[k], QD * min(1.0, k / 50), arm, moved) == q[k]).all()


class Plain:
    """Leash, seam and plan as they are meant, in NumPy."""

    def __init__(self, delay, shortest):
        self.delay, self.shortest = delay, shortest
        self.speed, self.commanded = np.zeros(6), np.zeros(6)
        self.sent, self.sent_s = np.zeros(6), -1.0
        self.begun, self.q, self.qd, self.rest, self.time = 0.0, np.zeros(6), np.zeros(6), np.zeros(6), shortest

    def send(self, q, qd, q_arm, qd_arm, now):
        self.speed = np.maximum(np.abs(qd_arm), math.exp(-PERIOD / FORGET_S) * self.speed)
        self.commanded = np.maximum(np.abs(qd), math.exp(-PERIOD / max(self.delay, FORGET_S)) * self.commanded)
        reach = SLACK + LAG_S * self.speed + self.delay * self.commanded
        held = np.clip(q, q_arm - reach, q_arm + reach)
        qd = np.where(held == q, qd, qd_arm)
        elapsed, start = (PERIOD if self.sent_s < 0.0 else now - self.sent_s), self.sent
        self.sent_s, step_s = now, max(elapsed, PERIOD)
        if elapsed >= LONGEST_STEP * PERIOD:
            step_s, start = PERIOD, self.at(now)
        allowed, gap = (FASTER * np.abs(qd) + CATCH_UP) * step_s, held - start
        sent_qd = qd
        if (np.abs(gap) > allowed).any():
            step = np.clip(gap, -allowed, allowed)
            held, sent_qd = start + step, np.where(np.abs(gap) > allowed, step / max(elapsed, PERIOD), qd)
        self.sent = self.q = held
        self.begun, self.qd = now, sent_qd
        self.time = max(self.shortest, float(np.abs(sent_qd).max()) / BRAKING)
        self.held = sent_qd * HOLD_S + held
        self.rest = sent_qd * (0.5 * self.time) + self.held

    def at(self, now):
        t = now - self.begun
        braked = max(0.0, t - HOLD_S)
        return self.q + (t - braked**2 / (2.0 * self.time)) * self.qd if braked < self.time else self.rest


@pytest.mark.parametrize("delay", [0.0, 0.08])
def test_compiled_leash_seam_and_plan_agree_to_the_last_bit_with_numpy(delay):
    """Commands that run, jump and pause, an arm that follows, stands and is put elsewhere. Measured values are views of
    the loop's records: no such argument may need another compilation, in a running loop."""
    rng = np.random.default_rng(5)
    plan, plain = Braking(shortest=0.04), Plain(delay, 0.04)
    seam, leash = Seam(PERIOD, plan), Leash(PERIOD, delay)
    warm_up()
    sample = new(SAMPLE)[0]
    arm, arm_qd = vector(sample, "q"), vector(sample, "qd")
    q, now, held_back, far = np.zeros(6), 0.0, 0, 0
    seam.join(q)
    for _ in range(20_000):
        now += PERIOD * (rng.choice([5.0, 30.0, 500.0]) if rng.random() < 0.01 else rng.uniform(0.5, 2.5))
        qd = rng.normal(0.0, 0.5, 6) * (rng.random(6) < 0.9)
        q = q + qd * PERIOD * rng.uniform(0.9, 1.1) + (rng.normal(0.0, 0.05, 6) if rng.random() < 0.01 else 0.0)
        arm_qd[:] = qd * (rng.random() < 0.7)
        arm[:] = q - 0.03 * qd - (rng.normal(0.0, 0.1, 6) if rng.random() < 0.02 else 0.0)
        held = leash.hold(q, qd, arm, arm_qd)
        sent = seam.next(held, leash.qd, now)
        plan.begin(sent, seam.qd, now)
        plain.send(q, qd, arm, arm_qd, now)
        assert (sent == plain.sent).all()
        assert (seam.qd == plain.qd).all()
        assert (plan.held == plain.held).all()
        assert (plan.rest == plain.rest).all()
        assert plan.time == plain.time
        held_back, far = held_back + (held != q).any(), far + (sent != held).any()
    assert held_back > 100
    assert far > 100
    if not config.DISABLE_JIT:
        assert [len(compiled.signatures) for compiled in (hold, approach, brake)] == [1, 1, 1]


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_a_measurement_that_is_not_a_number_does_not_reach_the_command(wrong):
    """An arm that is stopped for it is commanded while it brakes, and again afterwards."""
    leash, q, arm, qd_arm = Leash(PERIOD), np.zeros(6), np.zeros(6), np.zeros(6)
    arm[2], qd_arm[3] = wrong, wrong
    command = leash.hold(q + 0.5, QD, arm, qd_arm)
    assert np.isfinite(command).all()
    assert np.isfinite(leash.qd).all()
    assert command[3] <= SLACK + 1e-9
    for _ in range(100):
        command = leash.hold(q + 0.5, QD, q, 0.0 * q)
    assert command == pytest.approx(np.full(6, SLACK))
    assert not leash.qd.any()


def test_speeds_come_back_slowly_after_a_pause():
    seam = SpeedSeam(PERIOD, SILENCE_S)
    now = 0.0
    for _ in range(10):
        now += PERIOD
        assert (seam.next(QD, now) == QD).all()
    now += 1.0
    assert not seam.next(QD, now).any()
    now += PERIOD
    assert 0.0 < seam.next(QD, now)[0] < 0.01 * QD[0]


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_the_guard_is_silent_as_long_as_the_program_lives():
    memory, clock = np.zeros(NUMBERS), Clock()
    watch = Watch(memory, clock)
    memory[0] = 1.0
    for k in range(200):
        clock.now += PERIOD_S
        memory[1] += 1.0
        memory[SPEEDS] = QD
        assert watch.look() is None
        assert memory[LOOKS] == k + 1  # by which the program sees that the guard does not hang


def test_the_guard_brakes_from_the_last_speeds_to_zero_when_the_program_is_silent():
    memory, clock = np.zeros(NUMBERS), Clock()
    watch = Watch(memory, clock)
    memory[0], memory[1], memory[SPEEDS] = 1.0, 5.0, QD
    assert watch.look() is None
    sent = []
    cycles = 2 * LAST_COMMANDS
    for _ in range(cycles):
        clock.now += PERIOD_S
        speeds = watch.look()
        if speeds is not None:
            sent.append(speeds.copy())
    first = SILENCE_S / PERIOD_S
    assert len(sent) < cycles - first + 2
    steps = np.abs(np.diff(np.array([QD, *sent])[:, 0]))
    assert steps.max() == pytest.approx(BRAKING * PERIOD_S)
    assert not np.array(sent[-LAST_COMMANDS:]).any()
    assert watch.done


def test_the_guard_gives_way_when_the_program_is_back_and_when_it_is_disarmed():
    memory, clock = np.zeros(NUMBERS), Clock()
    watch = Watch(memory, clock)
    memory[0], memory[SPEEDS] = 1.0, QD
    watch.look()
    clock.now += 2.0 * SILENCE_S
    assert watch.look() is not None
    memory[1] += 1.0
    assert watch.look() is None
    clock.now += 2.0 * SILENCE_S
    assert watch.look() is not None
    memory[0] = 0.0
    assert watch.look() is None
