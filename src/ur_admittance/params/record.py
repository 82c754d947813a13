"""Parameters and model -> the PARAMS record: numbers ready for the arithmetic of the tick."""

import numpy as np

from ur_admittance.core.records import Frame, Integrator
from ur_admittance.model import RobotModel
from ur_admittance.model.frames import Array, Pose, rotation_from_rpy
from ur_admittance.params import sentences
from ur_admittance.params.fields import Group
from ur_admittance.params.parameters import Parameters
from ur_admittance.params.relations import at_probe
from ur_admittance.params.shapes import fill_shapes

NO_FILTER_HZ = 1e9  # a cutoff at which the new sample has weight 1 at any loop rate, and still a finite number
ELBOW_MARGIN = 0.02  # [rad] 0.1 mm of reach: an arm stretched to the last bit could fold to either side
PARALLEL = 1e-3  # 2.5 degrees, more than any calibrated arm is off
TYPICAL_RESPONSE = 0.02  # [s] of a UR streaming joint speeds, assumed until it is measured
LEAST_INTERNAL_MASS = 1.0 / 3.0  # a law with less inertia than this share would follow the noise of the sensor
LEAD = 0.05  # [s]
SLACK = 5e-4  # [rad, rad/s] pi and 2 pi written with three digits are the model's limit, not a wider one


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
    T_flange_tcp = Pose(rotation_from_rpy(p.tool.tcp[3:]), np.array(p.tool.tcp[:3]))
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
    record["filter_cutoff_hz"] = min(p.admittance.cutoff_hz, NO_FILTER_HZ)
    record["deadband_force"] = p.admittance.min_motion_threshold
    record["deadband_torque"] = p.admittance.min_motion_threshold_torque
    record["deadband_axis"] = p.admittance.deadband


def _law(record: np.void, p: Parameters) -> None:
    law = p.admittance
    record["control_frame"] = Frame[p.control_frame.upper()]
    record["R_base_task"] = rotation_from_rpy(p.task_rotation)
    record["integrator"] = Integrator[law.integrator.upper()]
    record["mass"] = internal_mass(p)
    record["damping"] = law.effective_damping
    record["enabled"] = law.enabled_axes
    record["engagement_time"] = law.stiffness_engagement_time
    _copy(record, law, "stiffness", "force_axes", "desired_wrench", "desired_wrench_rate", "bias_time", "bias_limit")
    _copy(record, law, "drift_reset_threshold", "travel_damping", "travel_speed")
    record["tracking_gain"] = p.tracking.velocity_gain


def following_time(p: Parameters) -> float:
    """By how much of its motion the arm may be late [s]: the slowest way to drive a UR has 34 ms (servoj); a known
    response may be off by a factor of two, and is at least a cycle."""
    return LEAD + 2.0 * max(p.robot.response_time, 1.0 / p.control_rate)


def loop_delay(p: Parameters) -> float:
    """From a force to the motion it causes [s]: the sensor, the wrench filter, one tick, the arm's response."""
    response = p.robot.response_time or TYPICAL_RESPONSE
    filtered = 1.0 / (2.0 * np.pi * min(p.admittance.cutoff_hz, NO_FILTER_HZ))
    return p.sensor.delay + response + filtered + 1.0 / p.control_rate


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
    record["sensor_delay"] = p.sensor.delay
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
