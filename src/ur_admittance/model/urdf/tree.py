"""URDF text -> links and joints, checked: every number finite, every name unique and known, a tree without cycles.

Only kinematics, limits and inertials are read. Visuals, collisions, meshes and extensions are ignored.
Format: wiki.ros.org/urdf/XML/link and wiki.ros.org/urdf/XML/joint, with their defaults.

The text can come from anywhere, so it is not given to ``ElementTree.fromstring``: published URDF files use prefixes
such as ``drake:acceleration`` without declaring them, which a namespace-aware parser refuses, and a document type may
define entities that grow without bound. Here expat runs without namespaces, and a document type ends the reading.
"""

import xml.etree.ElementTree as ET
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

import numpy as np

from ur_admittance.errors import ModelError
from ur_admittance.model.frames import Array, Pose, rotation_from_rpy

LIMITS = ("lower", "upper", "velocity", "effort")
LONGEST_QUOTE = 60  # characters of a file's text that a message repeats


@dataclass(frozen=True, eq=False)
class Body:
    """Mass [kg], centre of mass [m] and inertia tensor about it [kg m2], in one frame. The default weighs nothing."""

    mass: float = 0.0
    com: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))

    def seen_from(self, T_parent_body: Pose) -> "Body":
        """The same body in the parent's frame: c' = R c + p, I' = R I R^T."""
        R, p = T_parent_body.rotation, T_parent_body.position
        return Body(self.mass, R @ self.com + p, R @ self.inertia @ R.T)


def joined(bodies: Iterable[Body]) -> Body:
    """One rigid body out of several in the same frame: I = sum I_k + m_k (|d_k|^2 1 - d_k d_k^T), d_k = c_k - c."""
    parts = list(bodies)
    mass = sum(part.mass for part in parts)
    com = np.zeros(3)
    if mass > 0.0:
        com = np.sum([part.mass / mass * part.com for part in parts], axis=0)
    inertia = np.zeros((3, 3))
    for part in parts:
        d = part.com - com
        inertia += part.inertia + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return Body(mass, com, inertia)


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
    root = _parse(text)
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


def _parse(text: str) -> ET.Element:
    """The root element of an XML text without document type and without unexpanded xacro."""
    if not text.strip():
        raise ModelError("URDF: the text is empty, must be an XML document with a <robot> element.")
    builder = ET.TreeBuilder()

    def start(tag: str, attributes: dict[str, str]) -> None:
        _refuse_xacro(tag, attributes)
        builder.start(tag, attributes)

    def end(tag: str) -> None:
        builder.end(tag)

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        parser.Parse(text.strip(), True)
    except expat.ExpatError as error:
        reason = expat.errors.messages.get(error.code, str(error))
        raise ModelError(f"URDF: not well-formed XML in line {error.lineno}: {reason}.") from error
    except UnicodeEncodeError as error:
        raise ModelError(f"URDF: character {error.start} of the text is not valid Unicode.") from error
    return builder.close()


def _refuse_xacro(tag: str, attributes: dict[str, str]) -> None:
    advice = "expand the file with the xacro program first"
    if tag.startswith("xacro:"):
        raise ModelError(f"URDF: <{tag}> is a xacro macro; {advice}.")
    for name, value in attributes.items():
        if "${" in value or "$(" in value:
            raise ModelError(f'URDF: <{tag} {name}="{value[:LONGEST_QUOTE]}"> is a xacro expression; {advice}.')


def _refuse_doctype(name: str, _system_id: str | None, _public_id: str | None, _has_subset: bool) -> NoReturn:
    raise ModelError(f"URDF: a document type (<!DOCTYPE {name}>) is not allowed, a URDF has none.")
