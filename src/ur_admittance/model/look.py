"""What an arm looks like: drums around the joints, tubes between them, coloured lids; no meshes needed. Drawn by the
page and in generated URDF.

The radii come from the distance between the first two wrist joints, which grows with the joint size in every UR type.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.model.arm_model import RobotModel
from ur_admittance.model.frames import Array

Colour = tuple[int, int, int]  # red, green, blue, 0 to 255

GREY: Colour = (204, 207, 212)  # tubes
BLUE: Colour = (97, 161, 204)  # lids of the joints
DARK: Colour = (41, 43, 48)  # flange
STEEL: Colour = (140, 145, 153)  # pedestal
PEDESTAL = 0.75  # [m] height

# Of curves, on the page and in figures: x, y, z as their arrows in every 3-D view, and the six joints.
AXIS_COLOURS = ("#e03131", "#2f9e44", "#1971c2")
JOINT_COLOURS = ("#e03131", "#f08c00", "#2f9e44", "#1971c2", "#9c36b5", "#868e96")
SHORTEST = 1e-6  # [m]


@dataclass(frozen=True, eq=False)
class Tube:
    """A cylinder from ``start`` to ``end`` (3,) [m] in the frame of its link."""

    link: int  # 0: the base, in base_link axes; i: the link behind joint i - 1
    start: Array
    end: Array
    radius: float
    colour: Colour


def wrist_radius(model: RobotModel) -> float:
    """Of the wrist joints and the flange [m]. UR5e: the joints are 0.1 m apart and 75 mm thick."""
    return 0.38 * max(float(np.linalg.norm(model.chain_position[4])), 0.05)


def tubes(model: RobotModel, pedestal: bool = True) -> tuple[Tube, ...]:
    """All cylinders of the arm, and of the pedestal it stands on."""
    wrist = wrist_radius(model)
    elbow, shoulder = 1.25 * wrist, 1.55 * wrist
    parts = _base(model, shoulder) + (_pedestal(shoulder) if pedestal else [])
    parts += _shoulder(model, shoulder)
    parts += _long_link(model, 1, shoulder, elbow, 0.85 * elbow)
    parts += _long_link(model, 2, elbow, wrist, 0.95 * wrist)
    parts += _wrist(model, 3, wrist) + _wrist(model, 4, wrist)
    parts += _tube(6, (0, 0, -1.3 * wrist), (0, 0, -0.25 * wrist), 0.95 * wrist, GREY)
    parts += _tube(6, (0, 0, -0.25 * wrist), (0, 0, 0), wrist, DARK)
    return tuple(parts)


def _base(model: RobotModel, r: float) -> list[Tube]:
    height = float(model.chain_position[0][2])
    foot = _tube(0, (0, 0, 0), (0, 0, 0.012), 1.3 * r, DARK)
    return _tube(0, (0, 0, 0), (0, 0, height - 0.8 * r), 1.02 * r, GREY) + foot


def _pedestal(r: float) -> list[Tube]:
    return (
        _tube(0, (0, 0, -PEDESTAL), (0, 0, -0.02), 1.05 * r, STEEL)
        + _tube(0, (0, 0, -0.02), (0, 0, 0), 1.6 * r, STEEL)
        + _tube(0, (0, 0, -PEDESTAL), (0, 0, -PEDESTAL + 0.02), 2.6 * r, STEEL)
    )


def _shoulder(model: RobotModel, r: float) -> list[Tube]:
    """A drum around the vertical axis, carrying the one of the lift joint."""
    offset = model.body_offset.get("upper_arm_link", 2.0 * r)
    out = model.chain_rotation[1][:, 2]  # axis of the lift joint, seen from here
    return (
        _tube(1, (0, 0, -0.8 * r), (0, 0, 0.6 * r), r, GREY)
        + _tube(1, -1.15 * r * out, (offset - 1.1 * r) * out, 0.98 * r, GREY)
        + _lid(1, -1.15 * r * out, -out, 0.96 * r)
    )


def _long_link(model: RobotModel, i: int, near: float, far: float, tube: float) -> list[Tube]:
    """Upper arm (i = 1) or forearm (2): joint drum, tube, drum at the far end; tubes run beside the joint axes."""
    link, to_next = i + 1, model.chain_position[i + 1]
    z = model.body_offset.get(model.links[i].name, 0.0)
    start, end = np.array([0.0, 0.0, z]), np.array([to_next[0], to_next[1], z])
    axis = np.array([0.0, 0.0, 1.0])
    side = axis if i == 1 else -axis  # where the lids are
    parts = _tube(link, start, end, tube, GREY)
    parts += _tube(link, start - 1.1 * near * axis, start + 1.1 * near * axis, near if i == 1 else 0.98 * near, GREY)
    parts += _lid(link, start + 1.1 * near * side, side, 0.96 * near)
    if i == 1:
        parts += _tube(link, end - far * axis, end + 1.1 * far * axis, far, GREY)
    else:  # up to the drum of wrist 1
        to_wrist = max(1.2 * far, float(to_next[2]) - z - 1.1 * far)
        parts += _tube(link, end - 1.1 * far * axis, end + to_wrist * axis, 0.98 * far, GREY)
    return parts + _lid(link, end + 1.1 * far * side, side, 0.96 * far)


def _wrist(model: RobotModel, i: int, r: float) -> list[Tube]:
    """Two crossed drums."""
    link, own = i + 1, np.array([0.0, 0.0, 1.0])
    out = model.chain_rotation[i + 1][:, 2]
    reach = float(np.dot(model.chain_position[i + 1], out)) or 2.0 * r
    return (
        _tube(link, -1.1 * r * own, 1.15 * r * own, r, GREY)
        + _lid(link, 1.15 * r * own, own, 0.96 * r)
        + _tube(link, (0, 0, 0), np.sign(reach) * (abs(reach) - 1.1 * r) * out, 0.98 * r, GREY)
    )


def _lid(link: int, centre: Array, outward: Array, radius: float) -> list[Tube]:
    return _tube(link, centre, centre + 0.12 * radius * outward, radius, BLUE)


def _tube(link: int, start: ArrayLike, end: ArrayLike, radius: float, colour: Colour) -> list[Tube]:
    a, b = np.array(start, dtype=float), np.array(end, dtype=float)
    return [Tube(link, a, b, radius, colour)] if np.linalg.norm(b - a) > SHORTEST else []
