"""Capsules, boxes and the table -> PARAMS["shapes"]: what the tick measures distances between."""

from functools import cache
from typing import Any

import numpy as np

from ur_admittance.core import shapes_record as bodies
from ur_admittance.model import RobotModel, robot_model
from ur_admittance.model.frames import Array, rotation_from_rpy
from ur_admittance.model.robot import Capsule
from ur_admittance.model.table import MODEL_NAMES, nearest_model
from ur_admittance.params.schema import Parameters

# Pairs of an arm that can touch. The others are neighbours, or turn beside each other and never do.
SELF_PAIRS = tuple(
    (bodies.NAMES.index(one), bodies.NAMES.index(two))
    for one, others in {
        "forearm": ("base", "shoulder"),
        "wrist 1": ("base", "shoulder", "upper arm"),
        "wrist 2": ("base", "shoulder", "upper arm"),
        "wrist 3": ("base", "shoulder", "upper arm"),
        "tool": ("base", "shoulder", "upper arm", "forearm", "wrist 1"),
    }.items()
    for two in others
)


def fill_shapes(record: Any, parameters: Parameters, model: RobotModel) -> None:
    """Write every field. An arm whose sizes are not known has a tool only."""
    p = parameters.collision
    record["on"], record["clearance"] = p.enabled, p.clearance
    capsules = [*(links(model) or [_nothing(link) for link in range(7)]), _tool(parameters, model)]
    for i, capsule in enumerate(capsules):
        record["link"][i], record["radius"][i] = capsule.link, capsule.radius
        record["start"][i], record["end"][i] = capsule.start, capsule.end
    record["reach"] = _reach(capsules, model)
    used = [pair for pair in SELF_PAIRS if min(capsules[body].radius for body in pair) >= 0.0]
    record["pairs"], record["pair"][: len(used)] = len(used), np.reshape(used, (-1, 2))
    record["pair"][len(used) :] = 0
    _boxes(record, parameters)
    up = -np.array(parameters.gravity)
    record["table"], record["table_height"] = p.table_height is not None, p.table_height or 0.0
    record["table_normal"], record["table_touchable"] = up / np.linalg.norm(up), p.table_touchable


@cache
def links(model: RobotModel) -> tuple[Capsule, ...]:
    """Those of the model, or of the UR type with its kinematics: a description has no sizes."""
    if model.capsules:
        return model.capsules
    name = nearest_model(model)
    return robot_model(name).capsules if name in MODEL_NAMES else ()


def _tool(parameters: Parameters, model: RobotModel) -> Capsule:
    """From flange to TCP, its round ends included; none when both are at the same place."""
    radius = parameters.collision.tool_radius
    tcp = model.chain_rotation[6] @ np.array(parameters.tool.tcp[:3])
    length = float(np.linalg.norm(tcp))
    if radius == 0.0 or length == 0.0:
        return _nothing(6)
    inset = min(radius, 0.5 * length) / length * tcp
    flange = model.chain_position[6]
    return Capsule(6, flange + inset, flange + tcp - inset, radius)


def _nothing(link: int) -> Capsule:
    return Capsule(link, np.zeros(3), np.zeros(3), -1.0)


def _reach(capsules: list[Capsule], model: RobotModel) -> Array:
    """Farthest that a segment can be from each joint: all links stretched (6,) [m]."""
    step = np.linalg.norm(model.chain_position, axis=1)
    reach = np.zeros(6)
    for capsule in capsules:
        own = max(float(np.linalg.norm(capsule.start)), float(np.linalg.norm(capsule.end)))
        for joint in range(capsule.link):
            reach[joint] = max(reach[joint], step[joint + 1 : capsule.link].sum() + own)
    return reach


def _boxes(record: Any, parameters: Parameters) -> None:
    p = parameters.collision
    given = [(i, box) for i, box in enumerate((p.box_1, p.box_2, p.box_3, p.box_4)) if box.center is not None]
    record["boxes"] = len(given)
    for name in ("box", "box_rotation", "box_position", "box_half", "box_touchable"):
        record[name] = 0
    for k, (i, box) in enumerate(given):
        record["box"][k], record["box_touchable"][k] = i, box.touchable
        record["box_rotation"][k], record["box_position"][k] = rotation_from_rpy(box.rotation), box.center
        record["box_half"][k] = 0.5 * np.array(box.size)
