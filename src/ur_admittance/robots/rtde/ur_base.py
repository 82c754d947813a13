"""The UR controller's own base frame and its poses, against ROS ``base_link``.

The UR base is ``base_link`` turned by pi about z: x and y change their sign, z stays. Poses on the UR side are six
numbers: position [m] and rotation vector [rad]. Converted here and nowhere else.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ur_admittance.model.frames import rotation_from_vector

Array = NDArray[np.float64]

R_base_urbase: Array = np.diag([-1.0, -1.0, 1.0])  # its own inverse
SIGNS: Array = np.tile(np.diag(R_base_urbase), 2)  # of twists and wrenches


def pose_from_ur(pose: ArrayLike) -> tuple[Array, Array]:
    """The six numbers of the UR side -> rotation (3, 3) and position (3,) in base_link."""
    numbers = np.asarray(pose, dtype=float)
    return R_base_urbase @ rotation_from_vector(numbers[3:]), R_base_urbase @ numbers[:3]


def vectors_to_ur(six: Array) -> Array:
    """A twist or wrench from base_link axes to UR base axes, or back: the turn is its own inverse."""
    return six * SIGNS
