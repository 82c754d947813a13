"""RobotModel -> URDF text with the links of the UR driver, drawn with cylinders."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable

import numpy as np

from ur_admittance.errors import ModelError
from ur_admittance.model.arm_model import Link, RobotModel
from ur_admittance.model.frames import (
    Pose,
    frame_with_z_along,
    rotation_from_rpy,
    rpy_from_rotation,
)
from ur_admittance.model.look import Colour, Tube, tubes

# The fixed frames of ur_description, as roll-pitch-yaw against their parent [rad].
BASE_RPY = (0.0, 0.0, np.pi)  # base_link -> base and base_link_inertia: the UR controller's base
FLANGE_RPY = (0.0, -np.pi / 2, -np.pi / 2)  # tool0 axes -> flange: x of the flange points out of it (REP 199)
TOOL0_RPY = (np.pi / 2, 0.0, np.pi / 2)  # flange -> tool0, the inverse of the line above
FT_FRAME_RPY = (np.pi, 0.0, 0.0)  # tool0 -> ft_frame: z into the arm
FIXED_LINKS = ("base_link", "base_link_inertia", "base", "flange", "tool0", "ft_frame")


def generate(model: RobotModel, prefix: str = "") -> str:
    """A complete URDF of the model; ``load`` gives the same chain, limits and masses back. prefix: of links, as the
    driver's tf_prefix; joints have the names of the model.

    Links: base_link, base_link_inertia, base, the six of the model, flange, tool0, ft_frame (all fixed frames as
    in ur_description). A joint without position limits becomes ``continuous``.
    """
    _check(model)
    robot = ET.Element("robot", name=model.name)
    for sentence in (f"Source: {model.source}", f"Inertia: {model.inertia_source}", *model.notes):
        robot.append(ET.Comment(f" {re.sub('-(?=-)', '- ', sentence)} "))
    shapes = tubes(model, pedestal=False)
    for colour in dict.fromkeys(part.colour for part in shapes):
        material = ET.SubElement(robot, "material", name=_material(colour))
        ET.SubElement(material, "color", rgba=_text(*(part / 255 for part in colour), 1.0))
    chain = [Pose(R, p) for R, p in zip(model.chain_rotation, model.chain_position, strict=True)]
    T_base_link_inertia = Pose(rotation_from_rpy(BASE_RPY))
    last = model.links[-1].name

    _link(robot, "base_link", visuals=[part for part in shapes if part.link == 0])
    for name in ("base_link_inertia", "base"):
        _link(robot, name)
        _fixed(robot, "base_link", name, T_base_link_inertia)
    parent = "base_link_inertia"
    for i, link in enumerate(model.links):
        origin = T_base_link_inertia.inverse() @ chain[0] if i == 0 else chain[i]
        _link(robot, link.name, link, [part for part in shapes if part.link == i + 1])
        _turning(robot, model, i, parent, origin)
        parent = link.name
    for parent, name, pose in (
        (last, "flange", chain[6] @ Pose(rotation_from_rpy(FLANGE_RPY))),
        ("flange", "tool0", Pose(rotation_from_rpy(TOOL0_RPY))),
        (last, "ft_frame", chain[6] @ Pose(rotation_from_rpy(FT_FRAME_RPY))),
    ):
        _link(robot, name)
        _fixed(robot, parent, name, pose)
    for element in (*robot.iter("link"), *robot.findall("joint[@type='fixed']")):
        element.set("name", prefix + element.attrib["name"])
    for end in (*robot.iter("parent"), *robot.iter("child")):
        end.set("link", prefix + end.attrib["link"])
    ET.indent(robot)
    return '<?xml version="1.0"?>\n' + ET.tostring(robot, encoding="unicode") + "\n"


def _check(model: RobotModel) -> None:
    names = [*FIXED_LINKS, *(link.name for link in model.links)]
    for name in names:
        if names.count(name) > 1:
            raise ModelError(f"model {model.name}: two links would have the name {name}, names must be unique.")
    for i, joint in enumerate(model.joint_names):
        if np.isfinite(model.lower[i]) != np.isfinite(model.upper[i]):
            limits = f"{model.lower[i]:g} to {model.upper[i]:g} rad"
            raise ModelError(f"model {model.name}: {joint} is limited {limits}, must be on both sides or on none.")


def _link(robot: ET.Element, name: str, body: Link | None = None, visuals: Iterable[Tube] = ()) -> None:
    element = ET.SubElement(robot, "link", name=name)
    for part in visuals:
        length = float(np.linalg.norm(part.end - part.start))
        visual = ET.SubElement(element, "visual")
        _origin(visual, Pose(frame_with_z_along((part.end - part.start) / length), (part.start + part.end) / 2))
        ET.SubElement(ET.SubElement(visual, "geometry"), "cylinder", radius=_text(part.radius), length=_text(length))
        ET.SubElement(visual, "material", name=_material(part.colour))
    if body is not None and (body.mass > 0.0 or body.inertia.any()):
        inertial = ET.SubElement(element, "inertial")
        _origin(inertial, Pose(position=body.com))
        ET.SubElement(inertial, "mass", value=_text(body.mass))
        rows = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
        ET.SubElement(inertial, "inertia", {key: _text(body.inertia[at]) for key, at in rows.items()})


def _material(colour: Colour) -> str:
    return "#" + bytes(colour).hex()


def _turning(robot: ET.Element, model: RobotModel, i: int, parent: str, origin: Pose) -> None:
    limit = {"effort": _text(model.effort[i] if np.isfinite(model.effort[i]) else 0.0)}  # 0: not known, see load
    limit["velocity"] = _text(model.velocity[i])
    limited = bool(np.isfinite(model.lower[i]))
    if limited:
        limit |= {"lower": _text(model.lower[i]), "upper": _text(model.upper[i])}
    kind = "revolute" if limited else "continuous"
    joint = _joint(robot, model.joint_names[i], kind, parent, model.links[i].name, origin)
    ET.SubElement(joint, "axis", xyz="0 0 1")
    ET.SubElement(joint, "limit", limit)


def _fixed(robot: ET.Element, parent: str, child: str, origin: Pose) -> None:
    _joint(robot, f"{parent}-{child}", "fixed", parent, child, origin)


def _joint(robot: ET.Element, name: str, kind: str, parent: str, child: str, origin: Pose) -> ET.Element:
    joint = ET.SubElement(robot, "joint", name=name, type=kind)
    ET.SubElement(joint, "parent", link=parent)
    ET.SubElement(joint, "child", link=child)
    _origin(joint, origin)
    return joint


def _origin(element: ET.Element, pose: Pose) -> None:
    ET.SubElement(element, "origin", xyz=_text(*pose.position), rpy=_text(*rpy_from_rotation(pose.rotation)))


def _text(*numbers: float) -> str:
    """Shortest text that reads back as the same double (with -0 as 0)."""
    return " ".join(repr(float(number) + 0.0) for number in numbers)
