"""Does the tool stay clear of the arm itself, the mounting plane and the workspace box? A coarse check with spheres."""

import numpy as np

from ur_admittance.calibration.readings import Array
from ur_admittance.errors import CalibrationError
from ur_admittance.model import RobotModel
from ur_admittance.model.frames import rotation_from_rpy
from ur_admittance.params import Parameters

LINK_RADIUS = 0.075  # [m] of forearm and upper arm of the larger arms, with covers
TOOL_RADIUS = 0.06  # [m]
FLOOR = 0.05  # [m] above the base plane, or the start's height if that is lower
SHORTEST_TOOL = 0.1  # [m]
ALONG_WAY = np.radians(8.0)  # largest joint step between two checks
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
        self._floor = min(FLOOR, self._lowest(start) - 0.01)
        why = self.problem(start)
        if why:
            raise CalibrationError(f"the start posture is no good for a calibration: {why}; move the arm first.")

    def _points(self, q: Array) -> tuple[Array, Array, Array]:
        """Points of the arm without wrist (n, 3), of the tool (m, 3), and the TCP (3,), base axes [m]."""
        rotations, positions = self._model.frames(q)
        R, flange = rotations[6], positions[6]
        base = np.zeros(3)
        arm = [_line(base, positions[1]), _line(positions[1], positions[2]), _line(positions[2], positions[3])[:-2]]
        return np.vstack(arm), _line(flange, flange + R @ self._tip), flange + R @ self._tcp

    def _lowest(self, q: Array) -> float:
        return float(self._points(q)[1][:, 2].min())

    def problem(self, q: Array) -> str:
        """What is in the way at this posture; empty: nothing."""
        arm, tool, tcp = self._points(q)
        distance = float(np.linalg.norm(arm[:, None] - tool[None], axis=2).min())
        if distance < LINK_RADIUS + TOOL_RADIUS:
            return f"the tool comes within {1e3 * distance:.0f} mm of the arm's own links"
        if tool[:, 2].min() < self._floor:
            return f"the tool comes down to {1e3 * float(tool[:, 2].min()):.0f} mm above the mounting plane"
        if (tcp < self._box_min).any() or (tcp > self._box_max).any():
            return "the TCP leaves the workspace box"
        return ""

    def way_is_clear(self, start: Array, end: Array) -> bool:
        """Along the straight line in joint space, the end included."""
        steps = int(np.ceil(float(np.abs(end - start).max()) / ALONG_WAY)) + 1
        return all(not self.problem(start + s * (end - start)) for s in np.linspace(0.0, 1.0, steps)[1:])


def _line(a: Array, b: Array) -> Array:
    return np.asarray(a + POINTS[:, None] * (b - a))
