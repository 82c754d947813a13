"""Does the tool stay clear of the arm itself, the mounting plane and the workspace box? A coarse check with spheres."""

import numpy as np

from ur_admittance.calibration.readings import Array, Flags
from ur_admittance.errors import CalibrationError
from ur_admittance.model import RobotModel
from ur_admittance.model.frames import rotation_from_rpy
from ur_admittance.params import Parameters

LINK_RADIUS = 0.075  # [m] of forearm and upper arm of the larger arms, with covers
TOOL_RADIUS = 0.06  # [m]
NEAR = LINK_RADIUS + TOOL_RADIUS
FLOOR = 0.05  # [m] above the base plane, or the start's height if that is lower
SHORTEST_TOOL = 0.1  # [m]
ALONG_PATH = np.radians(8.0)  # largest joint step between two checks
POINTS = np.linspace(0.0, 1.0, 7)


class Clearance:
    """Checks of one arm around one start posture, which must itself be clear."""

    def __init__(self, model: RobotModel, parameters: Parameters, start: Array, reach: float | None = None) -> None:
        self._model = model
        tcp = np.array(parameters.tool.tcp)
        axis = rotation_from_rpy(tcp[3:])[:, 2]
        tip = tcp[:3] if np.linalg.norm(tcp[:3]) >= SHORTEST_TOOL else SHORTEST_TOOL * axis
        if reach is not None:
            tip = tip * (reach / np.linalg.norm(tip))
        self._tip, self._tcp = tip, tcp[:3]
        box = parameters.workspace
        self._box_min = np.array([-np.inf if v is None else v for v in box.min or (None,) * 3])
        self._box_max = np.array([np.inf if v is None else v for v in box.max or (None,) * 3])
        self._floor = -np.inf
        self._floor = min(FLOOR, float(self._points(start[None])[1][..., 2].min()) - 0.01)
        why = self.problem(start)
        if why:
            raise CalibrationError(f"the start posture is not suitable for a calibration: {why}; move the arm first.")

    def _points(self, q: Array) -> tuple[Array, Array, Array]:
        """Points of the arm without wrist (n, k, 3), of the tool (n, l, 3), and the TCP (n, 3), base axes [m]."""
        rotations, positions = _frames(self._model, q)
        R, flange = rotations[:, 6], positions[:, 6]
        base = np.zeros_like(flange)
        upper_arm, forearm = _line(positions[:, 1], positions[:, 2]), _line(positions[:, 2], positions[:, 3])
        arm = np.concatenate([_line(base, positions[:, 1]), upper_arm, forearm[:, :-2]], axis=1)
        return arm, _line(flange, flange + R @ self._tip), flange + R @ self._tcp

    def _measures(self, q: Array) -> tuple[Array, Array, Flags]:
        """Distance of the tool from the arm (n,), its lowest height (n,) [m], and if the TCP is in the box (n,)."""
        arm, tool, tcp = self._points(q)
        distance = np.linalg.norm(arm[:, :, None] - tool[:, None], axis=3).min(axis=(1, 2))
        inside = ((tcp >= self._box_min) & (tcp <= self._box_max)).all(axis=1)
        return distance, tool[..., 2].min(axis=1), np.asarray(inside)

    def problem(self, q: Array) -> str:
        """What is in the way at this posture; empty: nothing."""
        distance, height, inside = (float(values[0]) for values in self._measures(q[None]))
        if distance < NEAR:
            return f"the tool comes within {1e3 * distance:.0f} mm of the arm's own links"
        if height < self._floor:
            return f"the tool comes down to {1e3 * height:.0f} mm above the mounting plane"
        return "" if inside else "the TCP leaves the workspace box"

    def path_is_clear(self, start: Array, end: Array) -> bool:
        """Along the straight line in joint space, the end included."""
        steps = int(np.ceil(float(np.abs(end - start).max()) / ALONG_PATH)) + 1
        distance, height, inside = self._measures(start + np.linspace(0.0, 1.0, steps)[1:, None] * (end - start))
        return bool(((distance >= NEAR) & (height >= self._floor) & inside).all())


def _frames(model: RobotModel, q: Array) -> tuple[Array, Array]:
    """As model.frames for many postures (n, 6): rotations (n, 7, 3, 3), positions (n, 7, 3) [m]."""
    n = len(q)
    rotations, positions = np.empty((n, 7, 3, 3)), np.empty((n, 7, 3))
    R, p = np.broadcast_to(np.eye(3), (n, 3, 3)), np.zeros((n, 3))
    turn = np.zeros((n, 3, 3))
    turn[:, 2, 2] = 1.0
    for i in range(7):
        p = R @ model.chain_position[i] + p
        R = R @ model.chain_rotation[i]
        if i < 6:
            c, s = np.cos(q[:, i]), np.sin(q[:, i])
            turn[:, 0, 0], turn[:, 0, 1], turn[:, 1, 0], turn[:, 1, 1] = c, -s, s, c
            R = R @ turn
        rotations[:, i], positions[:, i] = R, p
    return rotations, positions


def _line(a: Array, b: Array) -> Array:
    """Points from a to b: (n, 3) -> (n, 7, 3)."""
    return np.asarray(a[:, None] + POINTS[:, None] * (b - a)[:, None])
