"""What a hand may move. A lock only chooses the control axes and those of them that yield; the others are held at the
reference. Nothing remembers where a plane or a line was: the turns that would tilt it are held as well.
"""

import numpy as np

from ur_admittance.model.frames import Array, Pose, rotation_from_rpy
from ur_admittance.params.schema import Schema

LOCKS = ("guiding.lock", "guiding.lock_frame", "guiding.lock_axis", "guiding.pivot")
ALONG = ("plane", "line")  # locks that have a direction
AXES = ("x", "y", "z")


def yielding(p: Schema) -> tuple[bool, ...]:
    """Which control axes yield: those enabled that the lock leaves."""
    here = [AXES[i] == p.guiding.lock_axis for i in range(3)]
    elsewhere = [not along for along in here]
    free = {
        "none": [True] * 6,
        "translation": [True] * 3 + [False] * 3,
        "rotation": [False] * 3 + [True] * 3,
        "point": [False] * 3 + [True] * 3,
        "plane": elsewhere + here,
        "line": here + [False] * 3,
    }[p.guiding.lock]
    return tuple(a and b for a, b in zip(p.admittance.enabled_axes, free, strict=True))


def control_frame(p: Schema) -> str:
    return p.guiding.lock_frame if p.guiding.lock in ALONG else p.control_frame


def pivot(p: Schema) -> Array:
    """From the TCP of the tool to the one in force, their axes [m]."""
    return np.array(p.guiding.pivot) if p.guiding.lock == "point" else np.zeros(3)


def tip(p: Schema) -> Pose:
    """T_flange_tcp; about a point, of that point."""
    R = rotation_from_rpy(p.tool.tcp[3:])
    return Pose(R, np.array(p.tool.tcp[:3]) + R @ pivot(p))
