"""Do these orientations tell the unknowns apart? A number for it, the advice, and the measure that pose selection uses.

Only the directions of gravity in the flange matter, not the tool: the number is a property of the poses.
"""

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.calibration.readings import Array, cross_matrix
from ur_admittance.core.spatial import log_so3

FEWEST_POSES = 6  # three determine the force part without any redundancy; six leave room to find a bad one
LEAST = 0.005  # 12 poses with the three wrist joints within +-10 degrees give 0.0025, within +-30 degrees 0.026
ADVICE = "tilt the wrist by at least 30 degrees about two axes"


def information(R_flange_base: Array, gravity: ArrayLike = (0.0, 0.0, -1.0)) -> Array:
    """J^T J of each pose (n, 9, 9) for the force part: mounting, direction of the weight, bias, for a unit weight."""
    down = np.asarray(gravity, dtype=float)
    down = down / np.linalg.norm(down)
    n = len(R_flange_base)
    J = np.zeros((n, 3, 9))
    J[:, :, 0:3], J[:, :, 3:6], J[:, :, 6:9] = -cross_matrix(R_flange_base @ down), R_flange_base, np.eye(3)
    return np.swapaxes(J, 1, 2) @ J


def excitation(R_flange_base: Array, gravity: ArrayLike = (0.0, 0.0, -1.0)) -> float:
    """Smallest eigenvalue of the mean information: variance of the worst-determined combination is noise^2 / (n m^2
    g^2 excitation). 0: something cannot be told at all; well-chosen wrist poses reach 0.1 and more."""
    return float(max(0.0, np.linalg.eigvalsh(information(R_flange_base, gravity).mean(axis=0))[0]))


def spread_deg(R_flange_base: Array) -> Array:
    """How far the orientations turn about their three principal axes, largest first (3,) [degrees].

    Square roots of the eigenvalues of the mean r r^T, r the rotation vector from the mean orientation, times two."""
    U, _, Vt = np.linalg.svd(R_flange_base.mean(axis=0))
    mean = U @ np.diag([1.0, 1.0, np.linalg.det(U @ Vt)]) @ Vt
    vectors = np.array([rotation_vector(R @ mean.T) for R in R_flange_base])
    values = np.linalg.eigvalsh(vectors.T @ vectors / len(vectors))[::-1]
    return np.asarray(2.0 * np.degrees(np.sqrt(np.maximum(values, 0.0))))


def rotation_vector(R: Array) -> Array:
    """log R (3,) [rad]."""
    r = np.empty(3)
    log_so3(np.ascontiguousarray(R), r)
    return r


def refusal(R_flange_base: Array, gravity: ArrayLike = (0.0, 0.0, -1.0)) -> str:
    """Why these poses are not enough, with advice; empty when they are."""
    n = len(R_flange_base)
    if n < FEWEST_POSES:
        return f"{n} poses: at least {FEWEST_POSES} are needed (12 are better); {ADVICE}."
    value = excitation(R_flange_base, gravity)
    if value >= LEAST:
        return ""
    largest, second, _ = spread_deg(R_flange_base)
    if largest < 20.0:
        return f"the {n} poses are too similar (they differ by about {largest:.0f} degrees); {ADVICE}."
    if second < 15.0:
        return (
            f"the {n} poses turn about one axis only ({largest:.0f} degrees about it, {second:.0f} about the next); "
            f"{ADVICE}."
        )
    return f"the {n} poses do not tell mounting, tilt and bias apart (excitation {value:.4f}, least {LEAST}); {ADVICE}."
