"""The geometry of one arm as the robot reports it, and of a unit that is not quite as drawn.

T_base_flange(q) = prod_i  Rz(q_i + theta_i) Tz(d_i) Tx(a_i) Rx(alpha_i)        [Denavit1955], in UR base axes.
The axes of shoulder lift, elbow and wrist 1 are parallel by design. In a real unit they are not quite: their common
normals lie far away, and d of these rows is tens of metres, as in the calibration of real arms. The sum is right.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ur_admittance.model import RobotModel
from ur_admittance.model.arm_table import DenavitHartenberg
from ur_admittance_lab.emulator.ur_frames import matrix_of, turned

Array = NDArray[np.float64]

PARALLEL = 1e-7  # sine of the angle below which two axes count as parallel
TILT, SHIFT = 2e-3, 1e-3  # [rad], [m] standard deviation of each joint's pose in a unit; assumed


def calibrated(model: RobotModel, seed: int) -> RobotModel:
    """A unit of this type: joints 2 to 6 are tilted and shifted a little against the drawing, differently by seed."""
    rng = np.random.default_rng(seed)
    rotation, position = np.array(model.chain_rotation), np.array(model.chain_position)
    for i in range(1, 6):
        rotation[i] = rotation[i] @ matrix_of(rng.normal(0.0, TILT, 3))
        position[i] += rng.normal(0.0, SHIFT, 3)
    return replace(model, chain_rotation=rotation, chain_position=position)


def denavit_hartenberg(model: RobotModel) -> DenavitHartenberg:
    """Rows from the joint axes at q = 0: each x axis is the common normal of two neighbouring joint axes."""
    rotations, positions = model.frames(np.zeros(6))
    axes, points = turned(rotations[:, :, 2]), turned(positions)  # (7, 3), the last is the flange
    x, origin = np.array([1.0, 0.0, 0.0]), np.zeros(3)  # of the frame that the row starts from
    rows = []
    for i in range(6):
        z, z_next, p_next = axes[i], axes[i + 1], points[i + 1]
        if i == 5:  # the flange is given: turned and moved along the last axis, nothing else
            x_next, d = turned(rotations[6, :, 0]), float(z @ (p_next - origin))
        else:
            x_next, d = _common_normal(z, origin, z_next, p_next, x)
        foot = origin + d * z
        a = float(x_next @ (p_next - foot))
        rows.append((_angle(x, x_next, z), a, d, _angle(z, z_next, x_next)))
        x, origin = x_next, foot + a * x_next
    return DenavitHartenberg(*np.array(rows).T)


def _common_normal(z: Array, origin: Array, z_next: Array, p_next: Array, x: Array) -> tuple[Array, float]:
    """Direction of the normal, of the two the one nearer to ``x``, and its foot on the first axis as d [m]."""
    between = p_next - origin
    normal = np.cross(z, z_next)
    sine = float(np.linalg.norm(normal))
    if sine < PARALLEL:  # every normal is common: the one through the origin
        normal, d = between - (z @ between) * z, 0.0
    else:
        d = float(np.cross(between, z_next) @ normal) / sine**2
    normal = normal / np.linalg.norm(normal)
    return (normal if normal @ x >= 0.0 else -normal), d


def _angle(start: Array, end: Array, about: Array) -> float:
    return float(np.arctan2(about @ np.cross(start, end), start @ end))
