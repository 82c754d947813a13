"""Rotations and poses outside the loop: roll-pitch-yaw, rotation vectors, axes, pairs of rotation and position.

The compiled maths of the core is loaded where it is used: a description can be read without the compiler.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

ROTATION_TOLERANCE = 1e-6  # of a matrix that was computed or written with all digits


@dataclass(frozen=True, eq=False)
class Pose:
    """T_parent_child: ``x_parent = rotation @ x_child + position`` [m]."""

    rotation: Array = field(default_factory=lambda: np.eye(3))  # (3, 3)
    position: Array = field(default_factory=lambda: np.zeros(3))  # (3,) [m]

    def __matmul__(self, other: "Pose") -> "Pose":
        """T_a_c = T_a_b @ T_b_c."""
        return Pose(self.rotation @ other.rotation, self.rotation @ other.position + self.position)

    def inverse(self) -> "Pose":
        """T_child_parent."""
        return Pose(self.rotation.T, -self.rotation.T @ self.position)


def rotation_x(angle: float) -> Array:
    """Rotation by ``angle`` [rad] about x, (3, 3)."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def rotation_y(angle: float) -> Array:
    """Rotation by ``angle`` [rad] about y, (3, 3)."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def rotation_z(angle: float) -> Array:
    """Rotation by ``angle`` [rad] about z, (3, 3)."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def rotation_from_rpy(rpy: ArrayLike) -> Array:
    """R = Rz(yaw) Ry(pitch) Rx(roll), the convention of URDF; rpy in rad."""
    roll, pitch, yaw = np.asarray(rpy, dtype=float)
    return rotation_z(yaw) @ rotation_y(pitch) @ rotation_x(roll)


def rpy_from_rotation(rotation: Array) -> Array:
    """Roll, pitch, yaw [rad] of a rotation; exact to rounding also at and near pitch = +-pi/2.

    There yaw and roll turn about the same axis and yaw alone is ill-defined, so roll is read from Rz(yaw)^T R: it
    takes up whatever yaw missed.
    """
    yaw = np.arctan2(rotation[1, 0], rotation[0, 0])
    pitch = np.arctan2(-rotation[2, 0], np.hypot(rotation[0, 0], rotation[1, 0]))
    unyawed = rotation_z(yaw).T @ rotation
    roll = np.arctan2(-unyawed[1, 2], unyawed[1, 1])
    return np.array([roll, pitch, yaw])


def rotation_vector(rotation: Array) -> Array:
    """log R (3,) [rad], at most pi long."""
    from ur_admittance.core.spatial import log_so3

    vector = np.empty(3)
    log_so3(np.ascontiguousarray(rotation, dtype=float), vector)
    return vector


def rotation_from_vector(vector: ArrayLike) -> Array:
    """exp r (3, 3): a turn by |r| [rad] about r."""
    from ur_admittance.core.spatial import exp_so3

    rotation = np.empty((3, 3))
    exp_so3(np.ascontiguousarray(vector, dtype=float), rotation)
    return rotation


def is_rotation(matrix: ArrayLike) -> bool:
    """3 x 3, R R^T = 1 to within ROTATION_TOLERANCE in every entry, and right-handed."""
    R = np.asarray(matrix, dtype=float)
    if R.shape != (3, 3) or not np.isfinite(R).all():
        return False
    if np.abs(R).max() > 2.0:  # nothing that could overflow below
        return False
    return bool(np.abs(R @ R.T - np.eye(3)).max() <= ROTATION_TOLERANCE and np.linalg.det(R) > 0.0)


def frame_with_z_along(axis: Array) -> Array:
    """A rotation whose third column is the unit vector ``axis``; the identity for +z.  [Duff2017]

    T. Duff et al., "Building an Orthonormal Basis, Revisited", JCGT 6(1), 2017: no direction is ill-conditioned.
    """
    x, y, z = axis
    sign = np.copysign(1.0, z)
    a = -1.0 / (sign + z)
    b = x * y * a
    return np.array([[1.0 + sign * x * x * a, b, x], [sign * b, sign + y * y * a, y], [-sign * x, -y, z]])
