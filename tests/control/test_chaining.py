"""Controllers in line share memory; the follower is smooth and close."""

import numpy as np
import pytest

from ur_admittance.control.chaining import MAX_JERK, CartesianPath, Chain, JointFollower
from ur_admittance.errors import ParameterError

DT = 0.002


def test_stages_share_their_arrays_with_the_records(bench):
    c = bench().controller
    path = CartesianPath(c.sample["reference_twist"], c.state["p_ref"], [[0, 0, 0], [1, 0, 0]], 0.1)
    follower = JointFollower(c.command["q"], c.command["qd"], c.model, DT)
    assert np.shares_memory(path._twist, c._sample)
    assert np.shares_memory(path._position, c._state)
    assert np.shares_memory(follower._q_in, c._command)
    path.update()
    assert c._sample[0]["reference_twist"][0] == pytest.approx(0.1)


def test_a_path_is_followed_point_by_point(bench):
    b = bench().active()
    c = b.controller
    start = c.state["p_ref"].copy()
    points = start + [[0, 0, 0], [0.05, 0, 0], [0.05, 0.04, 0]]
    path = CartesianPath(c.sample["reference_twist"], c.state["p_ref"], points, 0.05)
    for _ in range(1500):
        path.update()
        b.run(DT)
    assert path.done
    assert c.state["p_ref"] == pytest.approx(points[-1], abs=1e-3)


def test_a_path_waits_for_a_slow_arm(bench):
    b = bench(max_linear_velocity=0.01).active()
    c = b.controller
    start = c.state["p_ref"].copy()
    path = CartesianPath(c.sample["reference_twist"], c.state["p_ref"], start + [[0, 0, 0], [0.05, 0, 0]], 0.05)
    for _ in range(1000):
        path.update()
        b.run(DT)
    assert not path.done
    assert c.state["p_ref"][0] - start[0] == pytest.approx(0.02, abs=5e-4)


@pytest.mark.parametrize(
    ("points", "speed"), [([[0, 0, 0]], 0.1), ([[0, 0], [1, 1]], 0.1), ([[0, 0, 0], [1, 0, 0]], 0.0)]
)
def test_an_impossible_path_is_refused(points, speed):
    with pytest.raises(ParameterError):
        CartesianPath(np.zeros(6), np.zeros(3), points, speed)


def follow(b, seconds, wrench):
    """Drives controller and follower with wrench(t). Returns their joints, and the follower's accelerations."""
    c = b.controller
    follower = JointFollower(c.command["q"], c.command["qd"], c.model, DT)

    class Arm:
        time = 0.0

        def update(self):
            b.run(DT, wrench(self.time))
            self.time += DT

    chain = Chain([Arm(), follower])
    q, q_in, qdd = [], [], []
    for _ in range(round(seconds / DT)):
        chain.update()
        q.append(follower.q.copy())
        q_in.append(c.command["q"].copy())
        qdd.append(follower.qdd.copy())
    return np.array(q), np.array(q_in), np.array(qdd)


def test_the_follower_keeps_jerk_acceleration_and_speed_and_arrives(bench):
    blows = np.random.default_rng(5).normal(size=(10, 6)) * [25, 25, 25, 2, 2, 2]
    b = bench().active()
    q, q_in, qdd = follow(b, 6.0, lambda t: blows[int(t / 0.4)] if t < 4.0 else np.zeros(6))
    assert np.abs(qdd).max() <= 25.0 * (1 + 1e-6)
    assert np.abs(np.diff(qdd, axis=0)).max() / DT <= MAX_JERK * (1 + 1e-6)
    assert (np.abs(np.diff(q, axis=0)) <= 1.02 * b.controller.model.velocity * DT * (1 + 1e-9)).all()
    assert np.abs(q[-1] - q_in[-1]).max() < 1e-5


@pytest.mark.parametrize("shape", [lambda t: 2.0 * np.sin(2 * np.pi * t), lambda t: 1.0 if t % 2 < 1 else -1.0])
def test_the_follower_stays_close_under_a_guiding_hand(bench, shape):
    q, q_in, _ = follow(bench().active(), 4.0, lambda t: shape(t) * np.array([10, 5, 0, 0, 0, 0.5]))
    assert np.ptp(q_in, axis=0).max() > 0.1
    assert np.abs(q - q_in).max() < 0.02  # [rad]
