"""URDF text -> links and joints, checked: every number finite, every name unique and known, a tree without cycles.

Only kinematics, limits and inertials are read. Visuals, collisions, meshes and extensions are never looked at.
Format: wiki.ros.org/urdf/XML/link and wiki.ros.org/urdf/XML/joint, with their defaults.
"""

import xml.etree.ElementTree as ET
from dataclasses import dataclass

import numpy as np

from ur_admittance.errors import ModelError
from ur_admittance.model.frames import Array, Pose, rotation_from_rpy
from ur_admittance.model.urdf.inertia import Body
from ur_admittance.model.urdf.xml_text import LONGEST_QUOTE, parse

LIMITS = ("lower", "upper", "velocity", "effort")


@dataclass(frozen=True, eq=False)
class Joint:
    """One <joint>: the pose T_parent_child at q = 0, the axis in child axes, the limits as far as given."""

    name: str
    kind: str
    parent: str
    child: str
    T_parent_child: Pose
    axis: Array  # (3,) unit vector
    limit: dict[str, float]  # of lower, upper [rad], velocity [rad/s], effort [Nm]: those that the file has
    mimic: bool


@dataclass(frozen=True, eq=False)
class Tree:
    """A whole description, by link name: its body, the joint that carries it, the joints that it carries."""

    name: str
    bodies: dict[str, Body]
    joint_above: dict[str, Joint]
    joints_below: dict[str, list[Joint]]


def read_tree(text: str) -> Tree:
    """Links and joints of a URDF text."""
    root = parse(text)
    if root.tag != "robot":
        raise ModelError(f"URDF: the outer element is <{root.tag}>, must be <robot>.")
    bodies: dict[str, Body] = {}
    for element in root.findall("link"):
        name = _attribute(element, "name", "a <link>")
        if name in bodies:
            raise ModelError(f"URDF: link {name} is defined twice, names must be unique.")
        bodies[name] = _body(element, f"link {name}")
    joint_above: dict[str, Joint] = {}
    names: set[str] = set()
    for element in root.findall("joint"):
        joint = _joint(element)
        for link in (joint.parent, joint.child):
            if link not in bodies:
                raise ModelError(f"URDF: joint {joint.name} refers to link {link}, which does not exist.")
        if joint.name in names:
            raise ModelError(f"URDF: joint {joint.name} is defined twice, names must be unique.")
        if joint.child in joint_above:
            both = f"{joint_above[joint.child].name} and {joint.name}"
            raise ModelError(f"URDF: link {joint.child} hangs on two joints ({both}), must hang on one.")
        names.add(joint.name)
        joint_above[joint.child] = joint
    _refuse_cycles(joint_above)
    joints_below: dict[str, list[Joint]] = {link: [] for link in bodies}
    for joint in joint_above.values():
        joints_below[joint.parent].append(joint)
    return Tree(root.get("name", "robot"), bodies, joint_above, joints_below)


def _refuse_cycles(joint_above: dict[str, Joint]) -> None:
    rooted: set[str] = set()  # links known to lead up to a root; keeps the search linear in the size of the file
    for link in joint_above:
        path: dict[str, None] = {}
        while link in joint_above and link not in rooted:
            if link in path:
                raise ModelError(f"URDF: link {link} is its own ancestor, the joints must form a tree without cycles.")
            path[link] = None
            link = joint_above[link].parent
        rooted.update(path)


def _joint(element: ET.Element) -> Joint:
    name = _attribute(element, "name", "a <joint>")
    what = f"joint {name}"
    parent, child = (_attribute(_child(element, tag, what), "link", f"{what}: <{tag}>") for tag in ("parent", "child"))
    axis_element = element.find("axis")
    axis = np.array([1.0, 0.0, 0.0])  # the default of the format
    if axis_element is not None:
        axis = _numbers(axis_element, "xyz", 3, what, default="1 0 0")
    # Scaled first: the square of 1e-200 would vanish.
    largest = np.abs(axis).max()
    if largest == 0.0:
        raise ModelError(f"URDF: {what}: axis is 0 0 0, must have a direction.")
    axis = axis / largest
    limit_element = element.find("limit")
    limit: dict[str, float] = {}
    if limit_element is not None:
        given = [key for key in LIMITS if key in limit_element.attrib]
        limit = {key: float(_numbers(limit_element, key, 1, what)[0]) for key in given}
    return Joint(
        name=name,
        kind=_attribute(element, "type", what),
        parent=parent,
        child=child,
        T_parent_child=_origin(element, what),
        axis=axis / np.linalg.norm(axis),
        limit=limit,
        mimic=element.find("mimic") is not None,
    )


def _body(link: ET.Element, what: str) -> Body:
    element = link.find("inertial")
    if element is None:
        return Body()
    mass = float(_numbers(_child(element, "mass", what), "value", 1, what)[0])
    if mass < 0.0:
        raise ModelError(f"URDF: {what}: mass is {mass:g} kg, must be >= 0.")
    inertia = np.zeros((3, 3))
    tensor = element.find("inertia")
    if tensor is not None:
        for i, j, key in ((0, 0, "ixx"), (1, 1, "iyy"), (2, 2, "izz"), (0, 1, "ixy"), (0, 2, "ixz"), (1, 2, "iyz")):
            inertia[i, j] = inertia[j, i] = _numbers(tensor, key, 1, what, default="0")[0]
    return Body(mass, np.zeros(3), inertia).seen_from(_origin(element, what))


def _origin(element: ET.Element, what: str) -> Pose:
    origin = element.find("origin")
    if origin is None:
        return Pose()
    if "quat_xyzw" in origin.attrib:
        raise ModelError(f"URDF: {what}: origin is given by quat_xyzw, must be given by rpy.")
    rpy = _numbers(origin, "rpy", 3, what, default="0 0 0")
    return Pose(rotation_from_rpy(rpy), _numbers(origin, "xyz", 3, what, default="0 0 0"))


def _child(element: ET.Element, tag: str, what: str) -> ET.Element:
    child = element.find(tag)
    if child is None:
        raise ModelError(f"URDF: {what} has no <{tag}>, must have one.")
    return child


def _attribute(element: ET.Element, key: str, what: str) -> str:
    value = element.get(key, "").strip()
    if not value:
        raise ModelError(f'URDF: {what} has no attribute "{key}", must have one.')
    return value


def _numbers(element: ET.Element, key: str, count: int, what: str, default: str | None = None) -> Array:
    text = element.get(key, default)
    try:
        values = np.array([float(word) for word in (text or "").split()])
    except ValueError:
        values = np.empty(0)
    if len(values) != count or not np.isfinite(values).all():
        wanted = "one finite number" if count == 1 else f"{count} finite numbers"
        shown = (text or "")[:LONGEST_QUOTE]
        raise ModelError(f'URDF: {what}: <{element.tag} {key}="{shown}">, must be {wanted}.')
    return values
