"""Limits where the tool is: two arcs around it fill up with its speed and its force, and a wall of the box appears as
the tool comes near it. Nothing is drawn far from a limit."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.params import Parameters

Array = NDArray[np.float64]
Colour = tuple[int, int, int]

SHOWN, CLOSE = 0.4, 0.8  # share of a limit from which its arc is drawn, and is red
RADII = (0.12, 0.1)  # [m] of the arcs: speed, force
PARTS, OPENING = 48, 0.25 * np.pi  # of an arc; half of the angle that it leaves open
EMPTY, CALM, SOON, AT_LIMIT = (206, 212, 218), (55, 178, 77), (245, 159, 0), (224, 49, 49)
WALL_SEEN, WALL_CLOSE, WALL = (
    0.12,
    0.03,
    0.26,
)  # [m] from which a wall is drawn, and is red; its edge
THIN = 0.002  # [m]


class NearLimits:
    def __init__(self, scene: Any) -> None:
        turn = np.linspace(OPENING, 2.0 * np.pi - OPENING, PARTS + 1)
        line = np.stack([np.cos(turn), np.sin(turn), 0.0 * turn], axis=1)
        arc = np.stack([line[:-1], line[1:]], axis=1)
        points = np.concatenate([radius * arc for radius in RADII]).astype(np.float32)
        empty = _colours([0.0, 0.0], (0, 0))  # for each point: one colour for all would stay one
        self._arcs = scene.add_line_segments("/limits/arcs", points, empty, thickness=0.009, visible=False)
        self._label = scene.add_label("/limits/value", "", anchor="top-center", visible=False)
        self._walls = [_wall(scene, axis, side) for axis in range(3) for side in ("min", "max")]
        self._filled: tuple[int, ...] = ()

    def update(self, command: Any, parameters: Parameters) -> None:
        p = np.array(command["p_tcp"])
        values = [float(np.linalg.norm(command[name][:3])) for name in ("twist", "wrench_tcp")]
        fastest = parameters.max_linear_velocity * parameters.velocity_scale_factor
        limits = (fastest, parameters.safety.max_force)
        shares = [min(value / limit, 1.0) for value, limit in zip(values, limits, strict=True)]
        self._arcs.visible = max(shares) > SHOWN
        if self._arcs.visible:
            self._arcs.position = p
            filled = tuple(round(PARTS * share) for share in shares)
            if filled != self._filled:
                self._filled, self._arcs.colors = filled, _colours(shares, filled)
        words = (
            f"speed {100.0 * values[0]:.0f} of {100.0 * limits[0]:.0f} cm/s",
            f"force {values[1]:.0f} of {limits[1]:.0f} N",
        )
        near = [text for text, share in zip(words, shares, strict=True) if share > CLOSE]
        wall = self._nearest_wall(p, parameters)
        if wall < WALL_CLOSE:
            near.append(f"wall {100.0 * max(wall, 0.0):.0f} cm")
        self._label.visible = bool(near)
        self._label.position, self._label.text = p - [0.0, 0.0, 0.06], ", ".join(near)

    def _nearest_wall(self, p: Array, parameters: Parameters) -> float:
        """Its distance [m]; draws all that are near."""
        nearest = np.inf
        corners = (parameters.workspace.min or (None,) * 3, parameters.workspace.max or (None,) * 3)
        for i, wall in enumerate(self._walls):
            axis, side = divmod(i, 2)
            bound = corners[side][axis]
            distance = np.inf if bound is None else (p[axis] - bound) * (1.0 if side == 0 else -1.0)
            nearest = min(nearest, distance)
            wall.visible = bool(distance < WALL_SEEN)
            if wall.visible:
                place = p.copy()
                place[axis] = bound
                wall.position = place
                wall.color = AT_LIMIT if distance < WALL_CLOSE else SOON
                wall.opacity = float(np.clip(0.6 - 4.0 * distance, 0.12, 0.6))
        return float(nearest)


def _wall(scene: Any, axis: int, side: str) -> Any:
    sides = tuple(THIN if i == axis else WALL for i in range(3))
    name = f"/limits/{'xyz'[axis]}_{side}"
    return scene.add_box(name, color=SOON, dimensions=sides, opacity=0.3, visible=False, cast_shadow=False)


def _colours(shares: list[float], filled: tuple[int, ...]) -> NDArray[np.uint8]:
    """Of both ends of each part of both arcs (n, 2, 3)."""
    colours = np.full((2, PARTS, 2, 3), EMPTY, np.uint8)
    for arc, share, count in zip(colours, shares, filled, strict=True):
        arc[:count] = AT_LIMIT if share > CLOSE else SOON if share > 0.5 * (SHOWN + CLOSE) else CALM
    return colours.reshape(-1, 2, 3)
