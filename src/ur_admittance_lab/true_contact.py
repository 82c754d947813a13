"""Where and how the tool of a simulated arm touches its surroundings: normal, normal force, depth."""

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from ur_admittance.robots.simulated import World

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Contact:
    """Where the tool touches, at the last physics step."""

    force: Array  # on the tool, base axes (3,) [N]
    normal: Array  # out of the surface, weighted by the normal forces (3,); zeros without contact
    normal_force: float  # [N]
    penetration: float  # deepest point [m]
    count: int


def contact_of(world: World) -> Contact:
    """All contact points of the tool's tip together."""
    mj_model, mj_data = world.mj_model, world.mj_data
    tip_geom = mj_model.geom("tip").id
    force, normal, normal_force, penetration = np.zeros(3), np.zeros(3), 0.0, 0.0
    local = np.zeros(6)
    for i in range(mj_data.ncon):
        point = mj_data.contact[i]
        mujoco.mj_contactForce(mj_model, mj_data, i, local)
        axes = point.frame.reshape(3, 3)  # rows: normal from the first geom to the second, then the tangents
        outward = -1.0 if point.geom[0] == tip_geom else 1.0
        force += outward * (axes.T @ local[:3])
        normal += outward * local[0] * axes[0]
        normal_force += float(local[0])
        penetration = max(penetration, -float(point.dist))
    length = float(np.linalg.norm(normal))
    if length > 0.0:
        normal /= length
    return Contact(force, normal, normal_force, penetration, int(mj_data.ncon))
