"""URDF -> RobotModel: any arm with six turning joints, from a text or a file.

A file is a robot's name, too: ``arm.urdf``, or ``arm.urdf:base:flange`` for the arm between two other links.
"""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from ur_admittance.errors import ModelError
from ur_admittance.model.arm_model import HOME, Link, RobotModel
from ur_admittance.model.frames import Pose, frame_with_z_along
from ur_admittance.model.urdf.tree import Body, Joint, Tree, joined, read_tree

NAME = re.compile(r"(?P<path>.+\.(urdf|xml))(:(?P<base>[^:]+):(?P<tip>[^:]+))?", re.IGNORECASE | re.DOTALL)
LARGEST_FILE = 20_000_000  # [bytes] a URDF has some kilobytes; meshes stand in files of their own
LINKS_IN_A_MESSAGE = 40  # nobody reads a longer list


def load(text: str, base_link: str = "base_link", tip_link: str = "tool0") -> RobotModel:
    """The arm between two links of a URDF text.

    Fixed joints are folded into the constant poses. A joint about the unit axis a, with A such that A z = a, is
    Rot(a, q) = A Rz(q) A^T; so A goes into the pose before the joint and A^T into the one behind it, and every joint
    of the model turns about its z. Names are kept as they are in the file (with its prefix, if any). Everything that
    hangs on a moving link by fixed joints is part of it: a tool weighs on the last link.
    """
    tree = read_tree(text)
    path = _path(tree, base_link, tip_link)
    joints = _turning(path, base_link, tip_link)
    chain: list[Pose] = []
    links: list[Link] = []
    T_joint_link = Pose()  # from the last turn about z (or the base) to the link reached so far
    for joint in path:
        T_joint_link = T_joint_link @ joint.T_parent_child
        if joint.kind != "fixed":
            A = Pose(rotation=frame_with_z_along(joint.axis))
            chain.append(T_joint_link @ A)
            T_joint_link = A.inverse()
            body = _rigid_body(tree, joint.child).seen_from(T_joint_link)
            links.append(Link(joint.child, body.mass, body.com, body.inertia))
    chain.append(T_joint_link)
    limits = np.array([_position_limits(joint) for joint in joints])  # (6, 2)
    return RobotModel(
        name=tree.name,
        joint_names=tuple(joint.name for joint in joints),
        chain_rotation=np.stack([pose.rotation for pose in chain]),
        chain_position=np.stack([pose.position for pose in chain]),
        lower=limits[:, 0],
        upper=limits[:, 1],
        home=np.clip(HOME, limits[:, 0], limits[:, 1]),
        velocity=np.array([_velocity_limit(joint) for joint in joints]),
        # No effort, or 0 as some exporters write for "not known", is no statement about the motor.
        effort=np.array([abs(joint.limit.get("effort", 0.0)) or np.inf for joint in joints]),
        links=tuple(links),
        source="URDF",
        inertia_source="URDF",
        notes=_left_out(tree, path, base_link),
    )


def _path(tree: Tree, base_link: str, tip_link: str) -> list[Joint]:
    """Joints from base to tip."""
    for role, link in (("base_link", base_link), ("tip_link", tip_link)):
        if link not in tree.bodies:
            names = list(tree.bodies)
            shown = ", ".join(names[:LINKS_IN_A_MESSAGE]) or "none"
            more = f" and {len(names) - LINKS_IN_A_MESSAGE} more" if len(names) > LINKS_IN_A_MESSAGE else ""
            raise ModelError(f"URDF: {role} {link!r} does not exist; the links are {shown}{more}.")
    path: list[Joint] = []
    link = tip_link
    while link != base_link:
        if link not in tree.joint_above:
            raise ModelError(f"URDF: {tip_link} does not hang on {base_link}: going up from it ends at {link}.")
        path.append(tree.joint_above[link])
        link = path[-1].parent
    return path[::-1]


def _turning(path: list[Joint], base_link: str, tip_link: str) -> list[Joint]:
    """The moving joints of the path: six, each turning on its own."""
    for joint in path:
        if joint.kind not in ("fixed", "revolute", "continuous"):
            raise ModelError(f"URDF: joint {joint.name} is {joint.kind}, must be revolute, continuous or fixed.")
        if joint.mimic and joint.kind != "fixed":
            raise ModelError(f"URDF: joint {joint.name} mimics another joint, must move on its own.")
    joints = [joint for joint in path if joint.kind != "fixed"]
    if len(joints) != 6:
        names = f" ({', '.join(joint.name for joint in joints[:12])})" if joints else ""
        raise ModelError(f"URDF: {len(joints)} turning joints between {base_link} and {tip_link}{names}, must be six.")
    return joints


def _position_limits(joint: Joint) -> tuple[float, float]:
    if joint.kind == "continuous":
        return -np.inf, np.inf
    if "lower" not in joint.limit and "upper" not in joint.limit:
        raise ModelError(f"URDF: revolute joint {joint.name} has no position limits, must have <limit lower upper>.")
    lower, upper = joint.limit.get("lower", 0.0), joint.limit.get("upper", 0.0)
    if lower >= upper:
        raise ModelError(f"URDF: joint {joint.name}: limits {lower:g} to {upper:g} rad, lower must be < upper.")
    return lower, upper


def _velocity_limit(joint: Joint) -> float:
    if "velocity" not in joint.limit:
        raise ModelError(f"URDF: joint {joint.name} has no velocity limit, must have <limit velocity> in rad/s.")
    if joint.limit["velocity"] <= 0.0:
        raise ModelError(f"URDF: joint {joint.name}: velocity limit {joint.limit['velocity']:g} rad/s, must be > 0.")
    return joint.limit["velocity"]


def _rigid_body(tree: Tree, link: str) -> Body:
    """The link with all that is fixed to it, in its frame."""
    parts: list[Body] = []
    waiting = [(link, Pose())]
    while waiting:
        name, T_link_part = waiting.pop()
        parts.append(tree.bodies[name].seen_from(T_link_part))
        waiting += [(j.child, T_link_part @ j.T_parent_child) for j in tree.joints_below[name] if j.kind == "fixed"]
    return joined(parts)


def _left_out(tree: Tree, path: list[Joint], base_link: str) -> tuple[str, ...]:
    """One note for each moving branch below the arm (gripper fingers): its mass is on no link."""
    notes: list[str] = []
    on_path = {id(joint) for joint in path}
    waiting = [base_link]
    while waiting:
        for joint in tree.joints_below[waiting.pop()]:
            if joint.kind == "fixed" or id(joint) in on_path:
                waiting.append(joint.child)
            else:
                notes.append(f"joint {joint.name} is not part of the arm: what it carries is left out of the masses")
    return tuple(notes)


def is_file(name: str) -> bool:
    return NAME.fullmatch(name) is not None


def load_file(name: str) -> RobotModel:
    """The model is called by the whole path, so that whoever reads its name (a page, a recording) finds it again."""
    found = NAME.fullmatch(name)
    if found is None:
        raise ModelError(f"robot model {name!r}: must be a file.urdf, or file.urdf:base:flange.")
    path = Path(found["path"]).absolute()
    links = {"base_link": found["base"], "tip_link": found["tip"]} if found["base"] else {}
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ModelError(f"{path}: is larger than {LARGEST_FILE // 1_000_000} MB, not a URDF.")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror}).") from None
    except ValueError:  # not UTF-8, or a path with a null character
        raise ModelError(f"{path}: is not a text file in UTF-8.") from None
    try:
        model = load(text, **links)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
    return replace(model, name=":".join((str(path), *links.values())))
