"""Capsules, boxes and the table -> PARAMS["shapes"]: what the tick measures distances between."""

from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.limits import shapes_record as bodies
from ur_admittance.model import RobotModel, robot_model
from ur_admittance.model.arm_model import Capsule
from ur_admittance.model.arm_table import MODEL_NAMES, nearest_model
from ur_admittance.model.frames import Array, rotation_from_rpy
from ur_admittance.params.parameters import Parameters

BUILT_AROUND = 0.01  # [m] beyond the clearance
SAMPLES = 12  # points on each axis: finer than the radii

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
    capsules, reach, pairs = _arm(model, parameters.tool.tcp[:3], p.tool_radius, p.clearance)
    for i, capsule in enumerate(capsules):
        record["link"][i], record["radius"][i] = capsule.link, capsule.radius
        record["start"][i], record["end"][i] = capsule.start, capsule.end
    record["reach"], record["pairs"], record["pair"] = reach, np.count_nonzero(pairs.any(axis=1)), pairs
    _boxes(record, parameters)
    up = -np.array(parameters.gravity)
    record["table"], record["table_height"] = p.table_height is not None, p.table_height or 0.0
    record["table_normal"], record["table_touchable"] = up / np.linalg.norm(up), p.table_touchable


@lru_cache(maxsize=64)
def _arm(
    model: RobotModel, tcp: tuple[float, ...], tool_radius: float, clearance: float
) -> tuple[list[Capsule], Array, NDArray[np.int64]]:
    """Its capsules, their reach and the pairs that can touch (PAIRS, 2), unused ones zero."""
    capsules = [*(links(model) or [_nothing(link) for link in range(7)]), _tool(tcp, tool_radius, model)]
    used = [
        (one, two)
        for one, two in SELF_PAIRS
        if min(capsules[one].radius, capsules[two].radius) >= 0.0
        and not (one == bodies.TOOL and _near_at_home(capsules[one], capsules[two], model, clearance))
    ]
    pairs = np.zeros((bodies.PAIRS, 2), dtype=np.int64)
    pairs[: len(used)] = np.reshape(used, (-1, 2))
    return capsules, _reach(capsules, model), pairs


@cache
def links(model: RobotModel) -> tuple[Capsule, ...]:
    """Those of the model, or of the UR type with its kinematics: a description has no sizes."""
    if model.capsules:
        return model.capsules
    name = nearest_model(model)
    return robot_model(name).capsules if name in MODEL_NAMES else ()


def _tool(tcp: tuple[float, ...], radius: float, model: RobotModel) -> Capsule:
    """From flange to TCP, its round ends included; none when both are at the same place."""
    rod = model.chain_rotation[6] @ np.array(tcp)
    length = float(np.linalg.norm(rod))
    if radius == 0.0 or length == 0.0:
        return _nothing(6)
    inset = min(radius, 0.5 * length) / length * rod
    flange = model.chain_position[6]
    return Capsule(6, flange + inset, flange + rod - inset, radius)


def _near_at_home(one: Capsule, two: Capsule, model: RobotModel, clearance: float) -> bool:
    """A tool this close to a link in the home pose is built around it, and the pair is left out."""
    ends = [_in_base(capsule, model) for capsule in (one, two)]
    shares = np.linspace(0.0, 1.0, SAMPLES)[:, None]
    first, second = ((1.0 - shares) * start + shares * end for start, end in ends)
    apart = np.linalg.norm(first[:, None] - second[None], axis=-1).min() - one.radius - two.radius
    return bool(apart < clearance + BUILT_AROUND)


def _in_base(capsule: Capsule, model: RobotModel) -> tuple[Array, Array]:
    if capsule.link == 0:
        return capsule.start, capsule.end
    rotations, positions = model.frames(model.home)
    R, p = rotations[capsule.link - 1], positions[capsule.link - 1]
    return R @ capsule.start + p, R @ capsule.end + p


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
