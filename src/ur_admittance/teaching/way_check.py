"""Whether an arm can go a taught way at all: its joints are followed along it from the first pose, as the law will do.

q := q + J^T (J J^T + DAMPING^2)^-1 e      until the pose error e is gone, from place to place
"""

from typing import Any

import numpy as np

from ur_admittance.core.chain import forward
from ur_admittance.core.limits.line import FLOOR
from ur_admittance.core.limits.reach import ELBOW
from ur_admittance.errors import ParameterError
from ur_admittance.model.frames import Array, rotation_vector
from ur_admittance.teaching.curve import Curve

STRIDE = 0.005  # [m] between two places that are looked at: 40 a second at 0.2 m/s
DAMPING = 0.01  # [m/rad] far below the singular values of a bent arm (0.1), where it costs a few attempts at most
TURNS = 60  # attempts to get to a place; a place within reach takes 3, the first pose of another arm 20
EXACT = 1e-5  # [m, rad]
LONGEST_TURN = 0.3  # [rad] of a joint in one attempt
JOINTS = ("base", "shoulder", "elbow", "wrist 1", "wrist 2", "wrist 3")


def check_way(params: Any, curves: list[tuple[str, Curve]], joints: Array, speed: float) -> Array:
    """Joint angles at the first pose (6,) [rad]. ParameterError names the place that is out of reach, beyond a limit or
    too fast.

    params: PARAMS; curves: with their names; joints: those at the first pose, or a posture like it."""
    R, p, J = np.empty((3, 3)), np.empty(3), np.empty((6, 6))
    rotation, position = params["chain_rotation"].copy(), params["chain_position"].copy()
    q = np.array(joints)
    look = forward.on(rotation, position, q, R, p, J)
    first: Array | None = None
    for name, curve in curves:
        every = max(1, round(STRIDE / curve.step))
        places = np.unique(np.append(np.arange(0, len(curve.poses), every), len(curve.poses) - 1))
        for i in places:
            where = (
                f"{name}, {curve.step * i:.3f} m along it, at ({', '.join(f'{x:.3f}' for x in curve.poses[i, :3])}) m"
            )
            if not _reached(curve, i, q, look, (R, p, J)):
                raise ParameterError(f"{where}: is out of reach.")
            wrong = _wrong(params, curve, int(i), q, J, speed)
            if wrong:
                raise ParameterError(f"{where}: {wrong}")
            outside = (p < params["workspace_min"]) | (p > params["workspace_max"])
            if outside.any():
                raise ParameterError(f"{where}: is outside of the workspace along {'xyz'[int(np.argmax(outside))]}.")
            first = q.copy() if first is None else first
    return q if first is None else first


def _reached(curve: Curve, i: int, q: Array, look: Any, pose: tuple[Array, Array, Array]) -> bool:
    R, p, J = pose
    for _ in range(TURNS):
        look()
        error = np.concatenate([curve.poses[i, :3] - p, rotation_vector(curve.rotations[i] @ R.T)])
        if np.abs(error).max() < EXACT:
            return True
        step = J.T @ np.linalg.solve(J @ J.T + DAMPING**2 * np.eye(6), error)
        q += step * min(1.0, LONGEST_TURN / max(float(np.abs(step).max()), 1e-12))
    return False


def _wrong(params: Any, curve: Curve, i: int, q: Array, J: Array, speed: float) -> str:
    """What keeps the arm from being there at that speed; empty: nothing."""
    for joint, name in enumerate(JOINTS):
        if not params["joint_lower"][joint] <= q[joint] <= params["joint_upper"][joint]:
            low, high = params["joint_lower"][joint], params["joint_upper"][joint]
            return f"joint {name} would be at {q[joint]:.2f} rad; its limits are {low:.2f} to {high:.2f}."
    sigma = float(np.linalg.svd(J, compute_uv=False)[-1])
    if sigma < FLOOR or abs(q[ELBOW]) < params["elbow_margin"]:
        return "is too near a singular pose (stretched, folded or with a straight wrist)."
    twist = min(speed, float(curve.fastest[i])) * curve.along[i]
    qd = np.abs(np.linalg.solve(J, twist))
    fast = int(np.argmax(qd / params["joint_velocity"]))
    if qd[fast] > params["joint_velocity"][fast]:
        most = params["joint_velocity"][fast]
        return f"joint {JOINTS[fast]} would turn at {qd[fast]:.2f} rad/s, at most {most:.2f} is allowed; go slower."
    for part, unit, limit in (
        (twist[:3], "m/s", params["max_velocity"][0]),
        (twist[3:], "rad/s", params["max_velocity"][1]),
    ):
        if np.linalg.norm(part) > limit:
            return (
                f"the tool would move at {np.linalg.norm(part):.3g} {unit}, at most {limit:.3g} is allowed; go slower."
            )
    return ""
