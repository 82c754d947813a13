"""Target poses: checked when they come, kept for the same arm when the TCP changes."""

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.control.checks import finite
from ur_admittance.errors import ParameterError
from ur_admittance.model.frames import Array, is_rotation


def target(position: ArrayLike, rotation: ArrayLike) -> tuple[Array, Array]:
    """(p, R_base_tcp), or ParameterError."""
    p = finite(position, (3,), "target position")
    R = finite(rotation, (3, 3), "target rotation")
    if not is_rotation(R):
        raise ParameterError("target rotation: must be a rotation matrix (orthogonal, determinant 1).")
    return p, R


def move_target(sample: np.void, known: np.void, params: np.void) -> None:
    """The target of the TCP of `known` becomes that of params for the same place of the arm, and known as well.

    T_target := T_target T_old_new, T_old_new = T_flange_old^-1 T_flange_new"""
    R_old, p_old = known["chain_rotation"][6], known["chain_position"][6]
    R_new, p_new = params["chain_rotation"][6], params["chain_position"][6]
    if np.array_equal(R_old, R_new) and np.array_equal(p_old, p_new):
        return
    R = sample["target_rotation"].copy()
    sample["target_position"] += R @ R_old.T @ (p_new - p_old)
    sample["target_rotation"] = R @ R_old.T @ R_new
    known["chain_rotation"], known["chain_position"] = params["chain_rotation"], params["chain_position"]
