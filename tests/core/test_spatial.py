"""Rotations where they are hard: next to 0, next to pi, and everywhere else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from ur_admittance.core.spatial import (
    exp_so3,
    left_jacobian,
    left_jacobian_inverse,
    log_so3,
    turn,
    wrench_to_point,
)

ANGLES = [0.0, 1e-12, 1e-9, 1e-5, 9.9e-5, 1.01e-4, 1e-3, 0.1, 1.0, 2.0, 3.0, np.pi - 1e-4, np.pi - 1e-7]
unit = st.tuples(*[st.floats(-1, 1)] * 3).map(np.array).filter(lambda v: np.linalg.norm(v) > 1e-3)
axes = unit.map(lambda v: v / np.linalg.norm(v))


def exp(r):
    R = np.empty((3, 3))
    exp_so3(np.asarray(r, float), R)
    return R


def log(R):
    r = np.empty(3)
    log_so3(np.ascontiguousarray(R), r)
    return r


@pytest.mark.parametrize("angle", ANGLES)
@given(axis=axes)
def test_exponential_agrees_with_scipy(axis, angle):
    assert np.abs(exp(angle * axis) - Rotation.from_rotvec(angle * axis).as_matrix()).max() < 4e-16 * 4


@pytest.mark.parametrize("angle", ANGLES)
@given(axis=axes)
def test_logarithm_gives_the_rotation_vector_back(axis, angle):
    r = angle * axis
    assert np.abs(log(Rotation.from_rotvec(r).as_matrix()) - r).max() < 1e-14 + 1e-15 / max(1e-9, np.pi - angle)


@given(axis=axes)
def test_logarithm_of_half_a_turn_is_one_of_its_two_vectors(axis):
    r = log(2.0 * np.outer(axis, axis) - np.eye(3))
    assert abs(np.linalg.norm(r) - np.pi) < 1e-12
    assert np.abs(np.abs(r @ axis) - np.pi) < 1e-7


@given(r=st.tuples(*[st.floats(-1.7, 1.7)] * 3).map(np.array), rate=unit)
def test_left_jacobian_is_the_angular_velocity_of_a_changing_rotation_vector(r, rate):
    h = 1e-5
    ahead, behind = Rotation.from_rotvec(r + h * rate), Rotation.from_rotvec(r - h * rate)
    numerical = (ahead * behind.inv()).as_rotvec() / (2 * h)
    w, back = np.empty(3), np.empty(3)
    left_jacobian(r, rate, w)
    assert np.abs(w - numerical).max() < 1e-8
    left_jacobian_inverse(r, w, back)
    assert np.abs(back - rate).max() < 1e-11


@pytest.mark.parametrize("angle", [1e-9, 9e-4, 1.1e-3, 9e-3, 1.1e-2, 3.0])
@given(axis=axes, rate=unit)
def test_left_jacobian_has_no_step_where_its_series_ends(axis, rate, angle):
    w, back = np.empty(3), np.empty(3)
    left_jacobian(angle * axis, rate, w)
    left_jacobian_inverse(angle * axis, w, back)
    assert np.abs(back - rate).max() < 1e-12


def test_ten_thousand_small_turns_stay_a_rotation():
    R, w = np.eye(3), np.array([0.3, -0.5, 0.2])
    for _ in range(10_000):
        turn(R, w, 0.002)
    assert np.abs(R @ R.T - np.eye(3)).max() < 1e-14
    assert np.abs(R - Rotation.from_rotvec(20.0 * w).as_matrix()).max() < 1e-11


def test_the_same_wrench_about_another_point_has_the_moment_of_its_lever():
    torque = np.empty(3)
    wrench_to_point(np.array([0.0, 0.0, 10.0]), np.zeros(3), np.array([0.1, 0.0, 0.0]), torque)
    assert np.allclose(torque, [0.0, -1.0, 0.0], atol=1e-15)
