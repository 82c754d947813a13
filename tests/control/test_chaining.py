"""The stages that come with the program, on a controller with an arm that obeys exactly."""

import numpy as np
import pytest

from ur_admittance.control.chaining import CartesianPath, JointFollower
from ur_admittance.core.records import COMMAND, new
from ur_admittance.errors import ParameterError

DT = 0.002


def test_stages_share_their_arrays_with_the_records(bench):
    c = bench().active().controller
    path, follower = CartesianPath([[1, 0, 0]], 0.1), JointFollower()
    path.start(c, c.command)
    follower.start(c, c.command)
    assert np.shares_memory(path._twist, c._sample)
    assert np.shares_memory(path._position, c._state)
    assert np.shares_memory(follower._q, c._command)
    path.update()
    assert np.linalg.norm(c._sample[0]["reference_twist"]) == pytest.approx(0.1)


def lead(b, path, seconds):
    path.start(b.controller, b.controller.command)
    for _ in range(round(seconds / DT)):
        path.update()
        b.run(DT)


def test_a_path_is_followed_point_by_point(bench):
    b = bench().active()
    start = b.controller.state["p_ref"].copy()
    points = start + [[0, 0, 0], [0.05, 0, 0], [0.05, 0.04, 0]]
    path = CartesianPath(points, 0.05)
    lead(b, path, 3.0)
    assert path.done
    assert b.controller.state["p_ref"] == pytest.approx(points[-1], abs=1e-3)


def test_a_relative_path_begins_where_the_reference_is(bench):
    b = bench().active()
    start = b.controller.state["p_ref"].copy()
    lead(b, CartesianPath([[0, 0.03, 0]], 0.05, relative=True), 1.5)
    assert b.controller.state["p_ref"] - start == pytest.approx([0, 0.03, 0], abs=1e-3)


def test_a_path_waits_for_a_slow_arm(bench):
    b = bench(max_linear_velocity=0.01).active()
    start = b.controller.state["p_ref"].copy()
    path = CartesianPath(start + [[0.05, 0, 0]], 0.05)
    lead(b, path, 2.0)
    assert not path.done
    assert b.controller.state["p_ref"][0] - start[0] == pytest.approx(0.02, abs=5e-4)


def test_a_reference_far_from_its_path_goes_back_no_faster_than_twice_the_speed(bench):
    c = bench().active().controller
    path = CartesianPath([[0.5, 0, 0]], 0.05, relative=True)
    path.start(c, c.command)
    c.state["p_ref"] += [0.0, 0.3, 0.0]
    path.update()
    assert c.sample["reference_twist"][:3] == pytest.approx([0.05, -0.05, 0.0])


@pytest.mark.parametrize(
    ("points", "speed"), [([], 0.1), ([[0, 0], [1, 1]], 0.1), ([[0, 0, np.nan]], 0.1), ([[1, 0, 0]], 0.0)]
)
def test_an_impossible_path_is_refused(points, speed):
    with pytest.raises(ParameterError, match="path"):
        CartesianPath(points, speed)


@pytest.mark.parametrize("options", [{"acceleration": 0.0}, {"jerk": -1.0}, {"jerk": np.inf}])
def test_an_impossible_follower_is_refused(options):
    with pytest.raises(ParameterError, match=f"follower {next(iter(options))} = .*: must be > 0"):
        JointFollower(**options)


def follow(b, seconds, wrench):
    """Drives controller and follower with wrench(t). Returns what was sent and what the tick commanded."""
    c, follower, command = b.controller, JointFollower(), new(COMMAND)[0]
    q, law = [], []
    for k in range(round(seconds / DT)):
        b.run(DT, wrench(k * DT))
        command["q"], command["qd"] = c.command["q"], c.command["qd"]
        if k == 0:
            follower.start(c, command)
        follower.update()
        q.append(command["q"].copy())
        law.append(c.command["q"].copy())
    return np.array(q), np.array(law)


@pytest.mark.parametrize("shape", [lambda t: 2.0 * np.sin(2 * np.pi * t), lambda t: 1.0 if t % 2 < 1 else -1.0])
def test_the_follower_stays_close_under_a_guiding_hand(bench, shape):
    q, law = follow(bench().active(), 4.0, lambda t: shape(t) * np.array([10, 5, 0, 0, 0, 0.5]))
    assert np.ptp(law, axis=0).max() > 0.1
    assert np.abs(q - law).max() < 2e-3  # [rad]


def test_a_steady_command_is_met_without_lag(bench):
    c, follower, command = bench().active().controller, JointFollower(), new(COMMAND)[0]
    follower.start(c, command)
    for k in range(500):
        command["q"], command["qd"] = 0.5 * DT * (k + 1), 0.5
        follower.update()
        lag = np.abs(command["q"] - 0.5 * DT * (k + 1)).max()
        if k == 20:
            assert lag > 1e-3
    assert lag < 1e-9


def test_blows_from_every_side_never_drive_the_follower_away(bench):
    rng = np.random.default_rng()
    for _ in range(3):
        blows = rng.normal(size=(10, 6)) * [25, 25, 25, 2, 2, 2]
        q, law = follow(bench().active(), 6.0, lambda t, b=blows: b[int(t / 0.4)] if t < 4.0 else np.zeros(6))
        assert np.abs(q - law).max() < 0.15  # at 20 rad/s2 and up to pi rad/s
        assert np.abs(q[-1] - law[-1]).max() < 1e-9
