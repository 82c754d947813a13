"""Rotation vectors, and the frame that a UR controller calls base: ROS ``base_link`` turned by pi about z.

By MuJoCo's quaternions, not by the maths of the client that is judged (``ur_admittance.robots.rtde.arm_geometry``).
A UR pose is position [m] and rotation vector [rad], (6,).
"""

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

HALF_TURN = np.array([0.0, 0.0, 0.0, 1.0])  # w x y z: pi about z; twice is the identity


def matrix_of(vector: ArrayLike) -> Array:
    """(3, 3): the turn by |vector| [rad] about it."""
    turn, angle = np.array(vector, dtype=float), float(np.linalg.norm(vector))
    quaternion, matrix = np.empty(4), np.empty(9)
    mujoco.mju_axisAngle2Quat(quaternion, turn / (angle or 1.0), angle)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)


def vector_of(matrix: Array) -> Array:
    """(3,) [rad], at most pi long."""
    quaternion, vector = np.empty(4), np.empty(3)
    mujoco.mju_mat2Quat(quaternion, np.ravel(matrix))
    mujoco.mju_quat2Vel(vector, quaternion, 1.0)
    return vector


def turned(vectors: ArrayLike) -> Array:
    """Vectors, each three numbers (a twist or wrench is two), from base_link axes to UR base axes, or back."""
    result = np.array(vectors, dtype=float, order="C")
    for row in result.reshape(-1, 3):
        mujoco.mju_rotVecQuat(row, row.copy(), HALF_TURN)
    return result


def ur_pose(R_base_tcp: Array, p_base_tcp: Array) -> Array:
    """Pose in base_link -> UR pose."""
    return np.concatenate([turned(p_base_tcp), vector_of(turned(R_base_tcp.T).T)])


def from_ur_pose(pose: ArrayLike) -> tuple[Array, Array]:
    """UR pose -> rotation (3, 3) and position (3,) in base_link."""
    numbers = np.asarray(pose, dtype=float)
    return turned(matrix_of(numbers[3:]).T).T, turned(numbers[:3])


def transformed(a: Array, b: Array) -> Array:
    """pose_trans(a, b): the pose b, given in the frame a, as seen where a is given."""
    R = matrix_of(a[3:])
    return np.concatenate([a[:3] + R @ b[:3], vector_of(R @ matrix_of(b[3:]))])
