"""Thinned paths and the curves through them. Oracles: SciPy's rotations and spatial search, circles on paper."""

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation, Slerp

from ur_admittance.teaching import curve

PERIOD = 0.01


def quaternions(poses):
    return Rotation.from_quat(np.roll(poses[:, 3:], -1, axis=1))


def a_hand(rng, seconds=20.0):
    """A motion of several harmonics with tremor and a rest, as poses (n, 7)."""
    t = np.arange(0.0, seconds, PERIOD)
    slow = np.where(t < 6.0, t, np.maximum(6.0, t - 2.0))
    row = np.zeros((len(t), 6))
    for i in range(6):
        for f in (0.05, 0.12, 0.3):
            row[:, i] += rng.normal(0.0, 0.06 if i < 3 else 0.3) * np.sin(2 * np.pi * f * slow + rng.uniform(0, 6))
    row += rng.normal(0.0, 1e-4, row.shape)
    turned = Rotation.random(random_state=int(rng.integers(1 << 30))) * Rotation.from_rotvec(row[:, 3:])
    return np.hstack([row[:, :3], np.roll(turned.as_quat(), 1, axis=1)])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("distance", "angle"), [(0.001, np.radians(0.5)), (0.005, np.radians(3.0))])
def test_a_thinned_path_stays_within_its_tolerance_and_says_how_far_it_is_off(seed, distance, angle):
    samples = a_hand(np.random.default_rng(seed))
    knots, far, turned = curve.thin(samples, PERIOD, distance, angle)
    assert far <= distance
    assert turned <= angle
    assert len(knots) < len(samples) / 4
    whole = curve.bent(knots)
    off, nearest = cKDTree(whole.poses[:, :3]).query(samples[:, :3])
    assert 0.3 * far < off.max() <= far + curve.SPACING**2 / far  # never farther than said, and not a tenth of it
    assert len(nearest) == len(samples)
    along = quaternions(whole.poses)
    near = [
        (along[max(0, i - 60) : i + 60].inv() * one).magnitude().min()
        for i, one in zip(nearest[::20], quaternions(samples)[::20], strict=True)
    ]
    assert max(near) <= turned + 1e-3
    matrices = whole.rotations
    assert np.abs(np.einsum("nij,nkj->nik", matrices, matrices) - np.eye(3)).max() < 1e-12
    assert np.linalg.det(matrices) == pytest.approx(1.0)
    assert curve.apart(knots[[0, -1]], samples[[0, -1]])[0] == pytest.approx(0.0, abs=1e-9)


def test_a_turn_through_half_a_circle_is_no_long_way_round():
    """Rotation vectors leap there, from pi to -pi: as quaternions they must not."""
    angles = np.linspace(3.0, 3.3, 7)
    vectors = Rotation.from_rotvec(angles[:, None] * [[0.6, 0.8, 0.0]]).as_rotvec()
    assert np.abs(np.diff(vectors, axis=0)).max() > 3.0
    poses = curve.from_vectors(np.hstack([np.zeros((7, 3)), vectors]))
    assert curve.bent(poses).length == pytest.approx(0.3 * curve.LEVER, rel=1e-3)
    signs = np.where(np.arange(7) % 2, -1.0, 1.0)[:, None]
    knots, _, turned = curve.thin(np.hstack([poses[:, :3], signs * poses[:, 3:]]), PERIOD, 0.001, 0.01)
    assert len(knots) == 2
    assert turned < 1e-3


def test_a_looser_tolerance_leaves_fewer_points():
    samples = a_hand(np.random.default_rng(11))
    counts = [len(curve.thin(samples, PERIOD, d, 10.0 * d)[0]) for d in (0.0005, 0.002, 0.01)]
    assert counts[0] > counts[1] > counts[2]


def test_the_tremor_of_a_hand_is_smoothed_away():
    t = np.arange(0.0, 10.0, PERIOD)
    place = np.stack([0.02 * t, 0.0004 * np.sin(2 * np.pi * 9.0 * t), 0.0 * t], axis=1)
    samples = np.hstack([place, np.tile([1.0, 0.0, 0.0, 0.0], (len(t), 1))])
    knots, far, _ = curve.thin(samples, PERIOD, 0.001, 0.01)
    assert len(knots) <= 4
    assert 0.00039 < far < 0.0007  # the tremor, and what the first point is beside its middle


def test_a_tool_that_did_not_move_is_one_point():
    samples = np.tile([0.1, 0.2, 0.3, 1.0, 0.0, 0.0, 0.0], (100, 1))
    assert len(curve.thin(samples, PERIOD, 0.001, 0.01)[0]) == 1


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-4, 1.0, np.pi - 1e-7, np.pi])
def test_rotation_vectors_and_quaternions_are_those_of_scipy(size):
    rng = np.random.default_rng(3)
    axes = rng.normal(size=(50, 3))
    vectors = size * axes / np.linalg.norm(axes, axis=1, keepdims=True)
    for vector in vectors:
        poses = curve.from_vectors(np.concatenate([[1.0, 2.0, 3.0], vector])[None])
        turned = Rotation.from_rotvec(vector)
        assert (quaternions(poses)[0].inv() * turned).magnitude() == pytest.approx(0.0, abs=1e-9)
        assert curve.matrices(poses)[0] == pytest.approx(turned.as_matrix(), abs=1e-12)
        back = curve.to_vectors(-1.0 * poses * [-1, -1, -1, 1, 1, 1, 1])[0]
        assert (Rotation.from_rotvec(back[3:]).inv() * turned).magnitude() == pytest.approx(0.0, abs=1e-9)
        assert np.linalg.norm(back[3:]) <= np.pi + 1e-12


def test_a_straight_way_is_scipys_slerp():
    rng = np.random.default_rng(8)
    for _ in range(10):
        ends = Rotation.random(2, random_state=int(rng.integers(1 << 30)))
        start, end = (
            np.concatenate([rng.normal(0.0, 0.3, 3), np.roll(one.as_quat(), 1)]) for one in (ends[0], ends[1])
        )
        way = curve.straight(start, end)
        share = np.linspace(0.0, 1.0, len(way.poses))
        wanted = Slerp([0.0, 1.0], ends)(share)
        assert (quaternions(way.poses).inv() * wanted).magnitude().max() < 1e-9
        assert way.poses[:, :3] == pytest.approx(start[:3] + share[:, None] * (end[:3] - start[:3]))
        turn = (ends[1] * ends[0].inv()).magnitude()
        assert way.length == pytest.approx(np.hypot(np.linalg.norm(end[:3] - start[:3]), curve.LEVER * turn))


def test_a_circle_is_as_long_as_on_paper_and_its_speed_that_of_the_allowed_acceleration():
    radius = 0.05
    turn = np.linspace(0.0, 2.0 * np.pi, 25)
    place = radius * np.stack([np.cos(turn), np.sin(turn), 0.0 * turn], axis=1)
    way = curve.bent(curve.from_vectors(np.hstack([place, np.zeros((25, 3))])))
    assert way.length == pytest.approx(2.0 * np.pi * radius, rel=1e-3)
    middle = slice(len(way.poses) // 4, 3 * len(way.poses) // 4)
    assert np.linalg.norm(way.along[middle, :3], axis=1) == pytest.approx(1.0, abs=1e-3)
    assert np.median(way.fastest[middle]) == pytest.approx(np.sqrt(curve.ACCELERATION * radius), rel=0.1)
