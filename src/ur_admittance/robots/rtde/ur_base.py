"""The UR controller's own base frame and its poses, against ROS ``base_link``.

The UR base is ``base_link`` turned by pi about z: x and y change their sign, z stays. Poses on the UR side are six
numbers: position [m] and rotation vector [rad]. Converted here and nowhere else.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ur_admittance.core.spatial import exp_so3, log_so3

Array = NDArray[np.float64]

R_base_urbase: Array = np.diag([-1.0, -1.0, 1.0])  # its own inverse


def pose_to_ur(R_base_tcp: Array, p_base_tcp: Array) -> Array:
    """Pose in base_link -> the six numbers of the UR side."""
    pose = np.empty(6)
    pose[:3] = R_base_urbase @ p_base_tcp
    log_so3(R_base_urbase @ R_base_tcp, pose[3:])
    return pose


def pose_from_ur(pose: ArrayLike) -> tuple[Array, Array]:
    """The six numbers of the UR side -> rotation (3, 3) and position (3,) in base_link."""
    numbers = np.asarray(pose, dtype=float)
    return R_base_urbase @ rotation(numbers[3:]), R_base_urbase @ numbers[:3]


def rotation(vector: ArrayLike) -> Array:
    """Rotation matrix of a rotation vector [rad]."""
    R = np.empty((3, 3))
    exp_so3(np.ascontiguousarray(vector, dtype=float), R)
    return R


def rotation_vector(R: Array) -> Array:
    """Rotation vector (3,) [rad] of a rotation matrix, at most pi long."""
    vector = np.empty(3)
    log_so3(np.ascontiguousarray(R), vector)
    return vector


def vectors_to_ur(six: Array) -> Array:
    """A twist or wrench from base_link axes to UR base axes, or back: the turn is its own inverse."""
    return six * _SIGNS


_SIGNS: Array = np.array([-1.0, -1.0, 1.0, -1.0, -1.0, 1.0])
