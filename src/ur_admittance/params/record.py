"""Parameters and model -> the PARAMS record: numbers ready for the arithmetic of the tick; its shapes last: capsules,
boxes and the table, between which the tick measures distances."""

from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.limits import shapes_record as bodies
from ur_admittance.core.records import Enable, Frame, Integrator
from ur_admittance.core.wrench.vibration import LOWEST_HZ, notch_delay
from ur_admittance.model import RobotModel, robot_model
from ur_admittance.model.arm_model import Capsule
from ur_admittance.model.arm_table import MODEL_NAMES, nearest_model
from ur_admittance.model.frames import Array, Pose, rotation_from_rpy
from ur_admittance.params import locks, sentences
from ur_admittance.params.parameters import Parameters, at_probe, enabling_input, folded, notches
from ur_admittance.params.schema import Group

NO_FILTER_HZ = 1e9  # a cutoff at which the new sample has weight 1 at any loop rate, and still a finite number
ELBOW_MARGIN = 0.02  # [rad] 0.1 mm of reach: an arm stretched to the last bit could fold to either side
PARALLEL = 1e-3  # 2.5 degrees, more than any calibrated arm is off
TYPICAL_RESPONSE = 0.02  # [s] of a UR streaming joint speeds, assumed until it is measured
LEAST_INTERNAL_MASS = 1.0 / 3.0  # a law with less inertia than this share would follow the noise of the sensor
LEAD = 0.05  # [s]
SLACK = 5e-4  # [rad, rad/s] pi and 2 pi written with three digits are the model's limit, not a wider one
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


def fill(record: np.void, parameters: Parameters, model: RobotModel) -> None:
    """Write every field of PARAMS but `revision`. Raises ParameterError before anything is written."""
    limits = _joint_limits(parameters, model)
    _arm(record, parameters, model)
    record["joint_lower"], record["joint_upper"], record["joint_velocity"] = limits
    record["joint_acceleration"] = parameters.joint_limits.acceleration
    record["arm_velocity"] = model.velocity
    record["elbow_margin"] = ELBOW_MARGIN if _has_ur_elbow(model) else 0.0
    _wrench(record, parameters)
    _second(record["second"], parameters)
    _law(record, parameters)
    _contact(record, parameters)
    _motion_limits(record, parameters)
    fill_shapes(record["shapes"], parameters, model)
    _copy(record, parameters.safety, *type(parameters.safety).model_fields)
    record["following_time"] = following_time(parameters)
    record["period"] = 1.0 / parameters.control_rate
    record["enable_needed"] = Enable[parameters.guiding.enable.upper()]
    record["enable_input"], record["enable_timeout"] = enabling_input(parameters), parameters.guiding.timeout


def _copy(record: np.void, group: Group, *names: str) -> None:
    """What is called the same in both and needs no conversion."""
    for name in names:
        record[name] = getattr(group, name)


def _has_ur_elbow(model: RobotModel) -> bool:
    """Shoulder lift, elbow and wrist 1 turn about parallel axes: at 0 the arm is straight, at the edge of its reach."""
    return bool(np.all(np.abs(model.chain_rotation[2:4, 2, 2]) > 1.0 - PARALLEL))


def _joint_limits(p: Parameters, model: RobotModel) -> tuple[Array, Array, Array]:
    """The model's limits where the parameters give none; given ones must lie inside them, but for rounding."""
    given = p.joint_limits
    lower = _given_or(given.position_lower, model.lower)
    upper = _given_or(given.position_upper, model.upper)
    velocity = _given_or(given.velocity, model.velocity)
    for i in range(6):
        if lower[i] < model.lower[i] - SLACK:
            raise _wider("position_lower", i, lower[i], f">= {model.lower[i]:.6g}", model)
        if upper[i] > model.upper[i] + SLACK:
            raise _wider("position_upper", i, upper[i], f"<= {model.upper[i]:.6g}", model)
        if velocity[i] > model.velocity[i] + SLACK:
            raise _wider("velocity", i, velocity[i], f"<= {model.velocity[i]:.6g}", model)
    lower, upper = np.maximum(lower, model.lower), np.minimum(upper, model.upper)
    for i in range(6):
        if not lower[i] < upper[i]:
            name = "position_upper" if given.position_upper else "position_lower"
            value, must = (upper[i], f"> {lower[i]:.6g}") if given.position_upper else (lower[i], f"< {upper[i]:.6g}")
            raise _wider(name, i, value, must, model)
    return lower, upper, np.minimum(velocity, model.velocity) * p.velocity_scale_factor


def _wider(name: str, joint: int, value: float, must: str, model: RobotModel) -> Exception:
    return sentences.refusal(f"joint_limits.{name}[{joint}]", float(value), f"must be {must} (limit of {model.name})")


def _given_or(values: tuple[float | None, ...] | None, default: Array) -> Array:
    if values is None:
        return np.array(default)
    return np.array([d if v is None else v for v, d in zip(values, default, strict=True)])


def _arm(record: np.void, p: Parameters, model: RobotModel) -> None:
    """T_base_tcp = X0 Rz(q0) ... X5 Rz(q5) (X6 T_flange_tcp)."""
    T_flange_tcp = locks.tip(p)
    X6 = Pose(model.chain_rotation[6], model.chain_position[6]) @ T_flange_tcp
    record["chain_rotation"] = np.concatenate([model.chain_rotation[:6], [X6.rotation]])
    record["chain_position"] = np.concatenate([model.chain_position[:6], [X6.position]])
    T_tcp_sensor = T_flange_tcp.inverse() @ _first_sensor(p)
    record["R_tcp_sensor"] = T_tcp_sensor.rotation
    record["p_tcp_sensor"] = T_tcp_sensor.position


def _first_sensor(p: Parameters) -> Pose:
    """T_flange_sensor."""
    at_tcp = at_probe(p)
    rotation, position = (p.tool.tcp[3:], p.tool.tcp[:3]) if at_tcp else (p.sensor.rotation, p.sensor.position)
    return Pose(rotation_from_rpy(rotation), np.array(position))


def _second(record: np.void, p: Parameters) -> None:
    """All but `revision`."""
    second = p.second
    T_flange_second = Pose(rotation_from_rpy(second.rotation), np.array(second.position))
    T_first_second = _first_sensor(p).inverse() @ T_flange_second
    record["on"] = bool(second.source)
    record["R_first_second"], record["p_first_second"] = T_first_second.rotation, T_first_second.position
    record["sign"], record["bias"] = second.sign, second.bias
    record["weight_base"], record["com"] = second.mass * np.array(p.gravity), second.center_of_mass
    record["share"] = 1.0 / (1.0 + np.square(second.noise))
    record["tolerance"], record["rate"] = np.repeat(second.tolerance, 3), np.repeat(second.rate, 3)
    record["patience"], record["lag"] = second.patience, second.lag


def _wrench(record: np.void, p: Parameters) -> None:
    record["sensor_sign"] = p.sensor.sign
    record["sensor_bias"] = p.sensor.bias
    record["tool_weight_base"] = p.tool.mass * np.array(p.gravity)
    record["tool_com"] = p.tool.center_of_mass
    record["tool_inertia_mass"] = p.tool.mass if p.tool.inertia_compensation else 0.0
    record["vibration_hz"], record["find_vibration"] = vibration(p), p.sensor.find_vibration
    record["filter_cutoff_hz"] = min(p.admittance.cutoff_hz, NO_FILTER_HZ)
    record["deadband_force"] = p.admittance.min_motion_threshold
    record["deadband_torque"] = p.admittance.min_motion_threshold_torque
    record["deadband_axis"] = p.admittance.deadband


def _law(record: np.void, p: Parameters) -> None:
    law = p.admittance
    record["control_frame"] = Frame[locks.control_frame(p).upper()]
    record["R_base_task"] = rotation_from_rpy(p.task_rotation)
    record["integrator"] = Integrator[law.integrator.upper()]
    record["mass"] = internal_mass(p)
    record["damping"] = law.effective_damping
    record["enabled"] = locks.yielding(p)
    record["engagement_time"] = law.stiffness_engagement_time
    _copy(record, law, "stiffness", "force_axes", "desired_wrench", "desired_wrench_rate", "bias_time", "bias_limit")
    _copy(record, law, "drift_reset_threshold", "travel_damping", "travel_speed")
    _wells(record["wells"], p)
    record["tracking_gain"] = p.tracking.velocity_gain
    record["keep_line"] = p.reference.at_singularity == "stop"


def _wells(record: Any, p: Parameters) -> None:
    for i, place in enumerate(notches(p)):
        record["place"][i] = np.inf if place is None else place
    guiding = p.guiding
    record["force"], record["radius"] = guiding.notch_force, guiding.notch_radius
    record["box_min"] = _given_or(guiding.box_min, np.full(3, -np.inf))
    record["box_max"] = _given_or(guiding.box_max, np.full(3, np.inf))
    record["box_stiffness"], record["box_force"] = guiding.box_stiffness, guiding.box_force


def following_time(p: Parameters) -> float:
    """By how much of its motion the arm may be late [s]: the slowest way to drive a UR has 34 ms (servoj); a known
    response may be off by a factor of two, and is at least a cycle."""
    return LEAD + 2.0 * max(p.robot.response_time, 1.0 / p.control_rate)


def loop_delay(p: Parameters) -> float:
    """From a force to the motion it causes [s]: sensor and notch, the wrench filter, one tick, the arm's response."""
    response = p.robot.response_time or TYPICAL_RESPONSE
    filtered = 1.0 / (2.0 * np.pi * min(p.admittance.cutoff_hz, NO_FILTER_HZ))
    return sensor_delay(p) + response + filtered + 1.0 / p.control_rate


def sensor_delay(p: Parameters) -> float:
    """From a force to its reading without the tool's vibration [s]."""
    notch_hz = counted_vibration(vibration(p), p.sensor.find_vibration)
    return p.sensor.delay + float(notch_delay(notch_hz, 1.0 / p.control_rate))


def vibration(p: Parameters) -> float:
    """The frequency at which sensor.vibration_hz appears in samples at this rate [Hz]: its alias above half of it."""
    return folded(p.sensor.vibration_hz, p.control_rate)


def counted_vibration(given: float, find: bool) -> float:
    """Frequency of the notch that delays the law as much as any that may act [Hz]."""
    return LOWEST_HZ if find else given


def internal_mass(p: Parameters) -> Array:
    """Mass of the law such that the hand feels `mass`. Delay T and a tool m beyond the sensor add D T + m to it:
    (M + D T + m) a + D v = f. Never below a third of what was asked for, nor below the tool's mass."""
    mass = np.array(p.admittance.mass)
    if not p.admittance.compensate_mass:
        return mass
    added = np.array(p.admittance.effective_damping) * (loop_delay(p) if p.robot.response_time > 0.0 else 0.0)
    sensed_tool = 0.0 if p.tool.inertia_compensation else p.tool.mass
    added[:3] += sensed_tool
    least = mass * LEAST_INTERNAL_MASS
    least[:3] = np.maximum(least[:3], np.minimum(sensed_tool, mass[:3]))
    return np.maximum(mass - added, least)


def _contact(record: np.void, p: Parameters) -> None:
    record["response_time"] = p.robot.response_time
    record["sensor_delay"] = sensor_delay(p)
    record["loop_delay"] = loop_delay(p)
    _copy(record, p.contact, "stabilizer", "approach_speed", "normal_time")
    record["contact_ratio"] = p.contact.ratio
    record["max_contact_damping"] = p.contact.max_damping
    record["contact_threshold"] = p.contact.threshold
    record["contact_friction"] = p.contact.friction
    for i, region in enumerate((p.region_1, p.region_2, p.region_3)):
        used = region.min is not None or region.max is not None
        record["region_min"][i] = _given_or(region.min, np.full(3, -np.inf))
        record["region_max"][i] = _given_or(region.max, np.full(3, np.inf))
        record["region_margin"][i] = region.margin
        record["region_damping"][i] = region.damping_factor if used else 1.0
        record["region_speed"][i] = region.speed_factor if used else 1.0


def _motion_limits(record: np.void, p: Parameters) -> None:
    fastest = np.array([p.max_linear_velocity, p.max_angular_velocity])
    record["max_velocity"] = fastest * p.velocity_scale_factor
    record["max_acceleration"] = p.max_linear_acceleration, p.max_angular_acceleration
    record["workspace_min"] = _given_or(p.workspace.min, np.full(3, -np.inf))
    record["workspace_max"] = _given_or(p.workspace.max, np.full(3, np.inf))


def fill_shapes(record: Any, parameters: Parameters, model: RobotModel) -> None:
    """Write every field. An arm whose sizes are not known has a tool only."""
    p = parameters.collision
    record["on"], record["clearance"] = p.enabled, p.clearance
    capsules, reach, pairs = _bodies(model, parameters.tool.tcp[:3], p.tool_radius, p.clearance)
    for i, capsule in enumerate(capsules):
        record["link"][i], record["radius"][i] = capsule.link, capsule.radius
        record["start"][i], record["end"][i] = capsule.start, capsule.end
    record["reach"], record["pairs"], record["pair"] = reach, np.count_nonzero(pairs.any(axis=1)), pairs
    _boxes(record, parameters)
    up = -np.array(parameters.gravity)
    record["table"], record["table_height"] = p.table_height is not None, p.table_height or 0.0
    record["table_normal"], record["table_touchable"] = up / np.linalg.norm(up), p.table_touchable


@lru_cache(maxsize=64)
def _bodies(
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
