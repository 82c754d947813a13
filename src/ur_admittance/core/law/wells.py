"""2.7  Shapes that a hand feels: notches that the tool snaps to, and a box with soft walls.

Both are potentials of the commanded place, so they give back no more than was put in; their forces are bounded:

    notch     F = A sin(pi d / r)  to its middle, d < r         depth 2 A r / pi, stiffness A pi / r in the middle
    soft box  F = min(K d, B)      to its nearest point, d > 0

They act from the first push of a hand until the arm has come to rest: what is set near a tool at rest moves nothing.
The axis is damped enough not to swing in them.
"""

import math

from ur_admittance.core.kernel import kernel, vec3
from ur_admittance.core.law.wells_record import NOTCHES
from ur_admittance.core.spatial import clip, norm

RATIO = 0.8  # damping ratio in a shape: it overshoots by 1.5 %
AT_PLACE = 0.2  # [N] a smaller force of the shapes does not keep a tool from its rest: 0.2 mm from a usual notch


@kernel
def pull(wells, position, force):
    """force := that of the shapes at this position [N], base axes. Returns what the square root of a mass is multiplied
    with for the least damping of its axis."""
    away = vec3()
    force[:] = 0.0
    root = 0.0
    for k in range(NOTCHES):
        for i in range(3):
            away[i] = position[i] - wells.place[k, i]
        distance = norm(away)
        if 0.0 < distance < wells.radius:
            size = wells.force * math.sin(math.pi * distance / wells.radius)
            share = min(1.0, 2.0 - 2.0 * distance / wells.radius)
            root = max(root, share * math.sqrt(math.pi * wells.force / wells.radius))
            for i in range(3):
                force[i] -= size / distance * away[i]
    for i in range(3):
        away[i] = position[i] - clip(position[i], wells.box_min[i], wells.box_max[i])
    distance = norm(away)
    if distance > 0.0:
        size = min(wells.box_stiffness * distance, wells.box_force)
        share = size / wells.box_force if wells.box_force > 0.0 else 0.0
        root = max(root, share * math.sqrt(wells.box_stiffness))
        for i in range(3):
            force[i] -= size / distance * away[i]
    return 2.0 * RATIO * root


@kernel
def feel_shapes(p, s):
    """Fills s.well. Returns as `pull`."""
    s.well[:] = 0.0
    if s.guided == 0.0:
        return 0.0
    position = vec3()
    for i in range(3):
        position[i] = s.p_ref[i] + s.offset[i]
    return pull(p.wells, position, s.well)
