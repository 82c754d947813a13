"""The outline of an arm as capsules: for drawing and for rough collision shapes, without meshes.

The thickness comes from the distance between the first two wrist joints, which grows with the joint size in every UR
type (half of it is 50 mm on a UR5e, 80 mm on a UR20).
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ur_admittance.model.frames import Array
from ur_admittance.model.robot import RobotModel

SMALLEST_RADIUS = 0.005  # [m]
TUBE_TO_WRIST = 0.5  # tube radius over the distance of the joints wrist_1 and wrist_2
WRIST_TO_TUBE = 0.85  # wrist radius over tube radius
SHORTEST_SEGMENT = 1e-6  # [m] below it two corners are one


@dataclass(frozen=True, eq=False)
class Capsule:
    """All points within ``radius`` [m] of the segment from ``start`` to ``end`` (3,) [m], in the frame of the link."""

    link: int  # 0: the base, in base_link axes; i: the link behind joint i - 1
    start: Array
    end: Array
    radius: float


def capsules(model: RobotModel) -> tuple[Capsule, ...]:
    """A polyline per link, from its joint to the next one, by way of the tube's offset along the joint axis."""
    distance = float(np.linalg.norm(model.chain_position[4]))
    if distance < SHORTEST_SEGMENT:  # an arm with a spherical wrist: thickness from its length
        distance = float(np.linalg.norm(model.chain_position, axis=1).sum()) / 10.0
    tube = max(TUBE_TO_WRIST * distance, SMALLEST_RADIUS)
    parts: list[Capsule] = []
    for link in range(7):
        radius = tube if link <= 3 else WRIST_TO_TUBE * tube
        corners = _corners(model, link, radius)
        pairs = [(a, b) for a, b in pairwise(corners) if np.linalg.norm(b - a) > SHORTEST_SEGMENT]
        parts += [Capsule(link, a, b, radius) for a, b in pairs or [(corners[-1], corners[-1])]]
    return tuple(parts)


def _corners(model: RobotModel, link: int, radius: float) -> list[Array]:
    end = model.chain_position[link].copy()
    if link == 0:
        return [np.zeros(3), end]
    ends_on_flange = float(np.linalg.norm(model.chain_position[6])) < SHORTEST_SEGMENT
    if ends_on_flange and link == 6:
        return [np.array([0.0, 0.0, -radius])]  # nothing may stick out of the flange
    length = float(np.linalg.norm(end))
    if ends_on_flange and link == 5 and length > radius:
        end *= 1.0 - radius / length
    offset = model.body_offset.get(model.links[link - 1].name, 0.0)
    return [np.zeros(3), np.array([0.0, 0.0, offset]), np.array([end[0], end[1], offset]), end]
