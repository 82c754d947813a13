"""A random value for any parameter of the schema, for changes while the controller runs."""

import contextlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ur_admittance.control.live_checks import FELT_THROUGH, FIXED_WHILE_ACTIVE
from ur_admittance.errors import ParameterError, SimulationError
from ur_admittance.model import RobotModel
from ur_admittance.params import Parameters
from ur_admittance_lab.campaign.draw import GRAVITY, Rng, chance, direction, log_uniform, pick

Draw = Callable[[Rng], Any]

COMMANDS = ("admittance.desired_wrench",)  # asks for motion
TRIES = 50  # until two bounds fit together
# A campaign leaves alone what is refused while active, what its checks stand on, and what keeps noise off the arm.
LEFT_ALONE = (
    *COMMANDS, *FIXED_WHILE_ACTIVE, *FELT_THROUGH, "workspace.", "collision.", "joint_limits.position", "safety.",
    "sensor.", "guiding.lock", "guiding.pivot", "guiding.notch", "guiding.box",
    "admittance.force_axes", "admittance.min_motion", "admittance.filter", "dynamic_parameters",
)  # fmt: skip


def _number(low: float, high: float, zero: float = 0.0) -> Draw:
    """Over powers of ten; ``zero``: how often it is 0."""
    return lambda rng: 0.0 if chance(rng, zero) else float(log_uniform(rng, low, high))


def _pair(linear: tuple[float, float], angular: tuple[float, float], each: int = 1, zero: float = 0.0) -> Draw:
    def draw(rng: Rng) -> list[float]:
        values = np.concatenate([log_uniform(rng, *linear, each), log_uniform(rng, *angular, each)])
        return [float(v) for v in values * (rng.random(2 * each) >= zero)]

    return draw


def _vector(size: float, count: int = 3) -> Draw:
    return lambda rng: rng.uniform(-size, size, count).tolist()


def _switches(share: float) -> Draw:
    return lambda rng: (rng.random(6) < share).tolist()


def _pick(*choices: Any) -> Draw:
    return lambda rng: pick(rng, choices)


def _box(prefix: str) -> dict[str, Draw]:
    """Boxes anywhere around the arm, also where it is."""
    return {
        f"{prefix}.center": lambda rng: None if chance(rng, 0.2) else rng.uniform([-0.8, -0.8, 0], [0.8] * 3).tolist(),
        f"{prefix}.size": lambda rng: [float(s) for s in log_uniform(rng, 0.05, 0.6, 3)],
        f"{prefix}.rotation": _vector(2.0),
        f"{prefix}.touchable": _pick(True, False),
    }


def _region(prefix: str) -> dict[str, Draw]:
    return {
        f"{prefix}.min": lambda rng: rng.uniform(-1.0, 0.3, 3).tolist(),
        f"{prefix}.max": lambda rng: rng.uniform(0.3, 1.0, 3).tolist(),
        f"{prefix}.damping_factor": _number(0.2, 5.0),
        f"{prefix}.speed_factor": _number(0.1, 1.0),
        f"{prefix}.margin": _number(0.01, 0.3, zero=0.2),
    }


DRAWS: dict[str, Draw] = {
    "control_frame": _pick("base", "tcp", "task", "normal"),
    "task_rotation": _vector(3.0),
    "gravity": lambda rng: (GRAVITY * direction(rng)).tolist(),
    "admittance.mass": _pair((1.5, 30.0), (0.1, 3.0), 3),
    "admittance.stiffness": _pair((50.0, 2000.0), (5.0, 100.0), 3, zero=0.4),
    "admittance.damping_ratio": _pair((0.4, 2.0), (0.4, 2.0), 3),
    "admittance.virtual_stiffness": _pair((50.0, 2000.0), (5.0, 100.0), 3),
    "admittance.damping": _pair((20.0, 1000.0), (2.0, 40.0), 3),
    "admittance.enabled_axes": _switches(0.5),
    "admittance.force_axes": _switches(0.3),
    "admittance.integrator": _pick("exact", "rk4", "semi_implicit_euler"),
    "admittance.filter_coefficient": lambda rng: float(rng.uniform(0.05, 1.0)),
    "admittance.filter_cutoff_hz": _number(3.0, 300.0),
    "admittance.min_motion_threshold": _number(0.1, 10.0, zero=0.2),
    "admittance.min_motion_threshold_torque": _number(0.02, 2.0, zero=0.2),
    "admittance.deadband": _pair((0.1, 5.0), (0.01, 0.5), 3, zero=0.4),
    "admittance.drift_reset_threshold": _number(1e-4, 1e-2),
    "admittance.stiffness_engagement_time": _number(0.2, 3.0),
    "admittance.desired_wrench": lambda rng: [*rng.uniform(-15.0, 15.0, 3), *rng.uniform(-1.0, 1.0, 3)],
    "admittance.desired_wrench_rate": _pair((5.0, 200.0), (0.5, 20.0)),
    "admittance.bias_time": _number(0.1, 2.0, zero=0.3),
    "admittance.bias_limit": _pair((0.005, 0.1), (0.02, 0.5), zero=0.2),
    "admittance.compensate_mass": _pick(True, False),
    "admittance.travel_damping": lambda rng: float(rng.uniform(0.2, 1.0)),
    "admittance.travel_speed": _number(0.02, 0.5),
    "contact.stabilizer": _pick(True, False),
    "contact.ratio": lambda rng: float(rng.uniform(0.2, 0.6)),
    "contact.max_damping": _pair((500.0, 8000.0), (20.0, 200.0)),
    "contact.threshold": _pair((0.5, 8.0), (0.05, 0.8)),
    "contact.approach_speed": _pair((0.005, 0.1), (0.05, 0.5)),
    "contact.friction": _number(0.05, 1.0, zero=0.2),
    "contact.normal_time": _number(0.02, 1.0, zero=0.2),
    "tracking.velocity_gain": lambda rng: [float(pick(rng, (0.0, log_uniform(rng, 0.2, 10.0)))) for _ in range(6)],
    "reference.at_singularity": _pick("stop", "leave"),
    "robot.response_time": _number(2e-3, 0.1, zero=0.2),
    "max_linear_velocity": _number(0.02, 1.0),
    "max_angular_velocity": _number(0.05, 2.0),
    "max_linear_acceleration": _number(0.5, 10.0),
    "max_angular_acceleration": _number(2.0, 50.0),
    "workspace.min": lambda rng: np.where(rng.random(3) < 0.3, math.nan, rng.uniform(-1.0, 0.5, 3)).tolist(),
    "workspace.max": lambda rng: np.where(rng.random(3) < 0.3, math.nan, rng.uniform(-0.3, 1.0, 3)).tolist(),
    **_region("region_1"),
    **_region("region_2"),
    **_region("region_3"),
    "collision.enabled": _pick(True, False),
    "collision.clearance": lambda rng: float(rng.uniform(0.0, 0.2)),
    "collision.tool_radius": lambda rng: float(rng.uniform(0.0, 0.15)),
    "collision.table_height": lambda rng: None if chance(rng, 0.2) else float(rng.uniform(-0.2, 0.5)),
    "collision.table_touchable": _pick(True, False),
    **_box("collision.box_1"),
    **_box("collision.box_2"),
    **_box("collision.box_3"),
    **_box("collision.box_4"),
    "joint_limits.acceleration": lambda rng: [float(a) for a in log_uniform(rng, 2.0, 40.0, 6)],
    "velocity_scale_factor": lambda rng: float(rng.uniform(0.05, 1.0)),
    "safety.max_force": _number(20.0, 200.0),
    "safety.max_torque": _number(5.0, 30.0),
    "safety.max_position_error": _number(0.05, 1.0),
    "safety.max_orientation_error": _number(0.05, 1.0),
    "safety.max_following_error": _number(0.02, 0.3),
    "safety.joint_state_timeout": _number(0.02, 0.2),
    "safety.wrench_timeout": _number(0.02, 0.2),
    "safety.steady_force_time": _number(1.0, 10.0),
    "guiding.enable": _pick("none", "real_arms"),  # required: holds the arm, which is what it is for
    "guiding.timeout": _number(0.05, 0.5),
    "guiding.lock": _pick("none", "translation", "rotation", "plane", "line", "point"),
    "guiding.lock_frame": _pick("base", "tcp", "task"),
    "guiding.lock_axis": _pick("x", "y", "z"),
    "guiding.pivot": _vector(0.15),
    **{f"guiding.notch_{i}": lambda rng: rng.uniform([0.3, -0.1, 0.2], [0.6, 0.3, 0.5]).tolist() for i in range(1, 5)},
    "guiding.notch_force": _number(1.0, 20.0, zero=0.2),
    "guiding.notch_radius": _number(0.005, 0.1),
    "guiding.box_min": lambda rng: rng.uniform(-1.0, 0.5, 3).tolist(),
    "guiding.box_max": lambda rng: rng.uniform(-0.3, 1.0, 3).tolist(),
    "guiding.box_stiffness": _number(50.0, 2000.0),
    "guiding.box_force": _number(1.0, 40.0, zero=0.2),
    "sensor.sign": _pick(1.0, -1.0),
    "sensor.bias": lambda rng: [*rng.uniform(-10.0, 10.0, 3), *rng.uniform(-1.0, 1.0, 3)],
    "sensor.rotation": _vector(3.0),
    "sensor.auto_zero": _pick(False),  # a batch has no controller around the tick that would act on it
    "sensor.auto_zero_time": _number(10.0, 300.0),
    "sensor.position": _vector(0.1),
    "sensor.delay": _number(1e-3, 0.03, zero=0.2),
    "sensor.vibration_hz": _number(20.0, 200.0, zero=0.3),
    "sensor.find_vibration": _pick(True, False),
    "second.sign": _pick(1.0, -1.0),
    "second.bias": lambda rng: [*rng.uniform(-10.0, 10.0, 3), *rng.uniform(-1.0, 1.0, 3)],
    "second.rotation": _vector(3.0),
    "second.position": _vector(0.1),
    "second.mass": _number(0.05, 3.0, zero=0.2),
    "second.center_of_mass": _vector(0.1),
    "second.noise": _pair((0.2, 5.0), (0.2, 5.0), 3),
    "second.lag": _number(1e-3, 0.05, zero=0.2),
    "second.tolerance": _pair((1.0, 20.0), (0.1, 2.0)),
    "second.patience": _number(0.02, 0.5),
    "second.rate": _pair((10.0, 500.0), (1.0, 50.0)),
    "tool.mass": _number(0.05, 3.0, zero=0.2),
    "tool.center_of_mass": _vector(0.1),
    "tool.inertia_compensation": _pick(True, False),
    "tool.tcp": lambda rng: [*rng.uniform(-0.15, 0.15, 2), rng.uniform(0.0, 0.3), *rng.uniform(-2.0, 2.0, 3)],
    "trajectory_duration": _number(0.002, 0.5),
    "dynamic_parameters": _pick(True),
}


def any_value(rng: Rng, name: str, model: RobotModel, q: Any) -> Any:
    """A value of the parameter ``name`` for an arm at the joint angles q; limits of the joints are drawn around them,
    now and then so that the arm is outside."""
    if name in ("joint_limits.position_lower", "joint_limits.position_upper"):
        side = -1.0 if name.endswith("lower") else 1.0
        limit = np.array(q) + side * rng.uniform(-0.1, 1.0, 6)
        limit[rng.random(6) < 0.5] = math.nan
        return np.clip(limit, model.lower, model.upper).tolist()
    if name == "joint_limits.velocity":
        return (model.velocity * log_uniform(rng, 0.02, 1.0, 6)).tolist()
    value = DRAWS[name](rng)
    return [float(x) if isinstance(x, np.floating) else x for x in value] if isinstance(value, list) else value


def one_change(rng: Rng, name: str, present: Parameters, model: RobotModel, q: Any) -> Parameters:
    """The parameters with another value of ``name`` that the schema accepts."""
    for _ in range(TRIES):
        with contextlib.suppress(ParameterError):
            return present.changed({name: any_value(rng, name, model, q)})
    raise SimulationError(f"{name}: no value was accepted in {TRIES} draws.")


def calm_names() -> list[str]:
    """Parameters that a campaign changes one at a time."""
    return [name for name in DRAWS if not name.startswith(LEFT_ALONE)]
