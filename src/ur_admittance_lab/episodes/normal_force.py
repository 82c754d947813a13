"""How hard a surface is really pressed in an episode."""

import numpy as np
from numpy.typing import NDArray

from ur_admittance_lab.episodes.batch import Case
from ur_admittance_lab.episodes.trace import Trace


def normal_force(case: Case, trace: Trace) -> NDArray[np.float64]:
    """True force along the true normal of the surface where the tip is (n,) [N]; friction does not count."""
    world = case.environment
    if world.kind != "cylinder":
        return np.asarray(trace.contact[:, :3] @ world.normal)
    tip = trace.command["p_tcp"] - case.tool.radius * trace.command["R_tcp"][:, :, 2]  # its centre
    centre = world.place(tip[0], case.tool.radius) - np.array([0.0, 0.0, world.radius])
    outward = tip - centre
    outward[:, 1] = 0.0  # the axis of the cylinder
    outward /= np.linalg.norm(outward, axis=1, keepdims=True)
    return np.asarray(np.einsum("ij,ij->i", trace.contact[:, :3], outward))
