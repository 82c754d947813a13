"""Roll-pitch-yaw and axis frames, at the angles where they are hard."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from ur_admittance.model.frames import (
    frame_with_z_along,
    is_rotation,
    rotation_from_rpy,
    rotation_from_vector,
    rotation_vector,
    rpy_from_rotation,
)

angle = st.floats(-2 * np.pi, 2 * np.pi)
near_quarter_turn = st.builds(lambda sign, d: sign * (np.pi / 2 + d), st.sampled_from([-1, 1]), st.floats(-1e-6, 1e-6))


@given(angle, angle, angle)
def test_rpy_turns_about_the_fixed_axes_x_y_z_in_this_order(roll, pitch, yaw):
    expected = Rotation.from_euler("xyz", [roll, pitch, yaw]).as_matrix()
    np.testing.assert_allclose(rotation_from_rpy([roll, pitch, yaw]), expected, rtol=0, atol=1e-15)


@given(angle, angle | near_quarter_turn, angle)
@example(0.3, np.pi / 2, -1.2)
@example(0.3, -np.pi / 2 + 1e-9, -1.2)
@example(np.pi, 0.0, np.pi)
def test_rpy_of_a_rotation_gives_it_back_also_near_gimbal_lock(roll, pitch, yaw):
    R = rotation_from_rpy([roll, pitch, yaw])
    np.testing.assert_allclose(rotation_from_rpy(rpy_from_rotation(R)), R, rtol=0, atol=1e-14)


@given(st.floats(0, np.pi) | st.floats(np.pi - 1e-6, np.pi), angle)
@example(np.pi, 0.0)
@example(np.pi - 1e-9, 1.0)
@example(np.pi / 2, 1.0)
def test_any_axis_gets_a_right_handed_frame_around_it(polar, azimuth):
    axis = np.array([np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar)])
    axis /= np.linalg.norm(axis)
    A = frame_with_z_along(axis)
    np.testing.assert_array_equal(A[:, 2], axis)
    np.testing.assert_allclose(A.T @ A, np.eye(3), rtol=0, atol=1e-14)
    assert np.linalg.det(A) > 0


def test_the_frame_around_plus_z_is_exactly_the_identity():
    np.testing.assert_array_equal(frame_with_z_along(np.array([0.0, 0.0, 1.0])), np.eye(3))


@given(st.floats(0, np.pi), angle, st.floats(-1, 1))
@example(np.pi - 1e-9, 1.0, 0.3)
@example(1e-9, 1.0, 0.3)
def test_a_rotation_vector_is_the_axis_times_the_angle(turn, azimuth, z):
    side = np.sqrt(1.0 - z * z)
    vector = turn * np.array([side * np.cos(azimuth), side * np.sin(azimuth), z])
    R = rotation_from_vector(vector)
    np.testing.assert_allclose(R, Rotation.from_rotvec(vector).as_matrix(), rtol=0, atol=1e-14)
    np.testing.assert_allclose(rotation_from_vector(rotation_vector(R.T)), R.T, rtol=0, atol=1e-14)


def test_only_a_right_handed_orthonormal_matrix_is_a_rotation():
    R = rotation_from_rpy([0.1, -0.7, 2.0])
    assert is_rotation(R)
    assert is_rotation(np.round(R, 7))
    for wrong in (-R, np.diag([1.0, 1.0, -1.0]) @ R, R + 1e-5, 1.001 * R, R[:2], np.full((3, 3), np.nan)):
        assert not is_rotation(wrong)
