"""Random robots, poses, tools, devices and parameters; the same state of the generator gives the same draw."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ur_admittance.model import MODEL_NAMES, RobotModel
from ur_admittance.model.frames import rotation_from_vector, rpy_from_rotation
from ur_admittance.params import Parameters
from ur_admittance.robots.simulated import FtSensor, Servo, Tool

Array = NDArray[np.float64]
Rng = np.random.Generator

RATES = (500.0, 500.0, 500.0, 500.0, 1000.0, 250.0, 125.0)  # [Hz] 500 is what e-Series arms use
GRAVITY = 9.80665  # [m/s2]
HELD = 0.6  # share of the motors' torque for weight and hand: the rest accelerates the arm
HEAVIER = 1.2  # the weight's torque may grow by this much on the way
WANDER = 0.25  # [m] by which levers may grow on the way
STRONGEST = (60.0, 6.0)  # [N, Nm] of a hand: below the stops at 100 N and 15 Nm
QUIET_NOISE = 5.0  # deadband over the noise of one axis: three axes together stay inside
LEVER = 0.3  # [m] from the sensor to the TCP, at most
TORQUE_NOISE = 0.04  # [m] noise of the torque over that of the force, as of an e-Series sensor
RAMP = 0.2  # [s] shortest rise of a push that counts as calm
LONGEST_SETTLING = 8.0  # [s] slower laws are drawn again: an episode has to end


def log_uniform(rng: Rng, low: float, high: float, size: int | None = None) -> Any:
    return np.exp(rng.uniform(math.log(low), math.log(high), size))


def chance(rng: Rng, probability: float) -> bool:
    return bool(rng.random() < probability)


def pick(rng: Rng, choices: Any) -> Any:
    return choices[int(rng.integers(len(choices)))]


def direction(rng: Rng) -> Array:
    """A random unit vector (3,)."""
    v = rng.normal(size=3)
    return np.asarray(v / np.linalg.norm(v))


def robot(rng: Rng) -> str:
    return str(pick(rng, MODEL_NAMES))


def pose(rng: Rng, model: RobotModel, singular: float = 0.2) -> Array:
    """Joint angles (6,) [rad]; ``singular``: share that starts next to a straight elbow or wrist."""
    q = rng.uniform([-3.0, -2.8, -2.7, -3.0, -3.0, -3.0], [3.0, -0.3, 2.7, 3.0, 3.0, 3.0])
    near = chance(rng, singular)
    kind, gap = int(rng.integers(3)), rng.uniform(-0.15, 0.15)
    if near and kind != 1:
        q[2] = gap
    if near and kind != 0:
        q[4] = gap + pick(rng, (0.0, math.pi, -math.pi))
    if not near:
        q[2] = math.copysign(max(abs(q[2]), 0.4), q[2])
        q[4] = pick(rng, (-1.0, 1.0)) * rng.uniform(0.4, math.pi - 0.4)
    return np.clip(q, model.lower + 0.1, model.upper - 0.1)


def gravity(rng: Rng) -> Array:
    """Base on a table, now and then on a wall, a ceiling or anything between (3,) [m/s2]."""
    down = direction(rng) if chance(rng, 0.15) else np.array([0.0, 0.0, -1.0])
    return GRAVITY * down


def tool(rng: Rng, model: RobotModel) -> Tool:
    """Up to half the payload, its TCP up to 0.2 m out and turned."""
    mass = rng.uniform(0.0, min(3.0, 0.5 * (model.payload_kg or 3.0)))
    tcp = rng.uniform([-0.05, -0.05, 0.02], [0.05, 0.05, 0.2])
    turned = rotation_from_vector(direction(rng) * rng.uniform(0.0, 1.5)) if chance(rng, 0.3) else np.eye(3)
    return Tool(mass, _three(tcp * rng.uniform(0.2, 0.6)), _three(tcp), _rows(turned))


def servo(rng: Rng) -> Servo:
    """0 to 20 ms of delay, a lag of 15 to 60 Hz."""
    return Servo(delay=1e-3 * int(rng.integers(0, 21)), lag_hz=float(log_uniform(rng, 15.0, 60.0)))


def sensor(rng: Rng) -> FtSensor:
    """Mounted anyhow, biased, late by up to 8 ms; two thirds of them with noise."""
    noise = rng.uniform(0.02, 0.3) if chance(rng, 0.67) else 0.0
    turned = rotation_from_vector(direction(rng) * rng.uniform(0.0, 3.0)) if chance(rng, 0.3) else np.eye(3)
    bias = rng.normal(size=6) * [5.0, 5.0, 5.0, 0.5, 0.5, 0.5] * chance(rng, 0.5)
    return FtSensor(
        position=_three(rng.uniform(-0.02, 0.02, 3)),
        rotation=_rows(turned),
        sign=float(pick(rng, (1.0, 1.0, -1.0))),
        bias=tuple(float(b) for b in bias),  # type: ignore[arg-type]
        noise_force=float(noise),
        noise_torque=float(TORQUE_NOISE * noise),
        delay=1e-3 * int(rng.integers(0, 9)) * chance(rng, 0.4),
    )


def devices(rng: Rng, tool: Tool, sensor: FtSensor, servo: Servo) -> dict[str, Any]:
    """What a calibration finds; the response time now and then badly measured, or not at all."""
    response = servo.response_time * pick(rng, (1.0, 1.0, 1.0, rng.uniform(0.7, 1.3), 0.0))
    return {**tool.parameters(sensor), **sensor.parameters(), "robot.response_time": float(response)}


def law(rng: Rng, tool: Tool, sensor: FtSensor) -> dict[str, Any]:
    """Mass, damping, spring and wrench conditioning around the defaults, heavy enough for the tool."""
    mass = np.concatenate([log_uniform(rng, 2.0, 25.0, 1).repeat(3), log_uniform(rng, 0.15, 2.0, 1).repeat(3)])
    mass *= rng.uniform(0.8, 1.25, 6)
    mass[:3] = np.maximum(mass[:3], 1.2 * tool.mass)
    springs = np.concatenate([log_uniform(rng, 50.0, 2000.0, 3), log_uniform(rng, 5.0, 100.0, 3)])
    springs *= (rng.random(6) < 0.6) * chance(rng, 0.4)
    virtual = np.concatenate([log_uniform(rng, 100.0, 1000.0, 3), log_uniform(rng, 10.0, 100.0, 3)])
    changes: dict[str, Any] = {
        "admittance.mass": mass.tolist(),
        "admittance.damping_ratio": rng.uniform(0.5, 1.5, 6).tolist(),
        "admittance.virtual_stiffness": virtual.tolist(),
        "admittance.stiffness": springs.tolist(),
        "admittance.integrator": pick(rng, ("exact", "exact", "exact", "exact", "rk4", "semi_implicit_euler")),
        **thresholds(sensor, float(rng.uniform(0.3, 4.0)), float(rng.uniform(0.05, 0.6))),
        "admittance.drift_reset_threshold": float(log_uniform(rng, 2e-4, 5e-3)),
        "admittance.stiffness_engagement_time": float(rng.uniform(0.0, 1.5)),
        "admittance.compensate_mass": chance(rng, 0.7),
        "tool.inertia_compensation": chance(rng, 0.7),
        "tracking.velocity_gain": [float(pick(rng, (2.0, 2.0, 0.0, rng.uniform(1.0, 4.0))))] * 6,
    }
    if chance(rng, 0.5):
        changes["admittance.filter_cutoff_hz"] = float(log_uniform(rng, 8.0, 200.0))
    if chance(rng, 0.2):
        changes["admittance.enabled_axes"] = (rng.random(6) < 0.7).tolist()
    if chance(rng, 0.2):
        changes["admittance.deadband"] = [*rng.uniform(0.0, 2.0, 3), *rng.uniform(0.0, 0.2, 3)]
    if chance(rng, 0.3):
        changes["admittance.travel_damping"] = float(rng.uniform(0.3, 1.0))
    return changes | frame(rng)


def thresholds(sensor: FtSensor, force: float, torque: float) -> dict[str, Any]:
    """Deadband of a law that the sensor's noise does not move; the force's noise has a lever to the TCP."""
    noise = np.array([sensor.noise_force, sensor.noise_torque + LEVER * sensor.noise_force])
    force, torque = np.maximum([force, torque], QUIET_NOISE * noise).tolist()
    return {"admittance.min_motion_threshold": force, "admittance.min_motion_threshold_torque": torque}


def frame(rng: Rng) -> dict[str, Any]:
    kind = pick(rng, ("base", "base", "tcp", "task"))
    turned = rpy_from_rotation(rotation_from_vector(direction(rng) * rng.uniform(0.0, 3.0)))
    return {"control_frame": kind, "task_rotation": turned.tolist() if kind == "task" else [0.0] * 3}


def caps(rng: Rng) -> dict[str, Any]:
    """Speed and acceleration limits, of the tool and of the joints."""
    changes: dict[str, Any] = {
        "max_linear_velocity": float(log_uniform(rng, 0.05, 1.0)),
        "max_angular_velocity": float(log_uniform(rng, 0.1, 2.0)),
        "max_linear_acceleration": float(log_uniform(rng, 1.0, 10.0)),
        "max_angular_acceleration": float(log_uniform(rng, 5.0, 50.0)),
        "joint_limits.acceleration": log_uniform(rng, 3.0, 40.0, 6).tolist(),
    }
    if chance(rng, 0.3):
        changes["velocity_scale_factor"] = float(rng.uniform(0.1, 1.0))
    return changes


def box(rng: Rng, p: Array) -> dict[str, Any]:
    """Walls 20 to 200 mm from the TCP, some of them left out."""
    low, high = p - log_uniform(rng, 0.02, 0.2, 3), p + log_uniform(rng, 0.02, 0.2, 3)
    low[rng.random(3) < 0.2], high[rng.random(3) < 0.2] = math.nan, math.nan
    return {"workspace.min": low.tolist(), "workspace.max": high.tolist()}


def joint_limits(rng: Rng, model: RobotModel, q: Array) -> dict[str, Any]:
    """Position limits 0.03 to 1 rad from the start, narrower speeds."""
    low = np.maximum(q - log_uniform(rng, 0.03, 1.0, 6), model.lower)
    high = np.minimum(q + log_uniform(rng, 0.03, 1.0, 6), model.upper)
    free = rng.random(6) < 0.5
    low[free], high[free] = math.nan, math.nan
    return {
        "joint_limits.position_lower": low.tolist(),
        "joint_limits.position_upper": high.tolist(),
        "joint_limits.velocity": (model.velocity * rng.uniform(0.1, 1.0, 6)).tolist(),
    }


def hand_wrench(rng: Rng, model: RobotModel, q: Array, tool: Tool, gravity: Array) -> Array:
    """A push about the TCP (6,) [N, Nm] that the motors can hold."""
    w = np.concatenate([direction(rng) * rng.uniform(0.1, 1.0), direction(rng) * rng.uniform(0.0, 1.0)])
    w[rng.permutation(2)[0] * 3 :][:3] *= pick(rng, (0.0, 0.2, 1.0))  # often mostly a force or mostly a torque
    w *= np.array(STRONGEST).repeat(3)
    needed = np.abs(tcp_jacobian(model, q, tool).T @ w) + WANDER * float(np.linalg.norm(w[:3]))
    return np.asarray(w * min(1.0, float(np.min(headroom(model, q, tool, gravity) / np.maximum(needed, 1e-9)))))


def headroom(model: RobotModel, q: ArrayLike, tool: Tool, gravity: Array) -> Array:
    """Torque that the motors have left beside the weight of arm and tool (6,) [Nm]; not positive: none."""
    rotations, positions = model.frames(q)
    masses = np.array([*(link.mass for link in model.links), tool.mass])
    centres = [*(link.com for link in model.links), np.array(tool.com)]
    points = np.array([R @ c + p for R, c, p in zip(rotations, centres, positions, strict=True)])
    weight = np.zeros(6)
    for i in range(6):
        moment = np.cross(points[i:] - positions[i], gravity) * masses[i:, None]
        weight[i] = abs(moment.sum(axis=0) @ rotations[i][:, 2])
    return np.asarray(HELD * model.effort - HEAVIER * weight)


def tcp_jacobian(model: RobotModel, q: ArrayLike, tool: Tool) -> Array:
    """(6, 6) about the TCP, base axes."""
    J = model.jacobian(q)
    lever = model.forward(q)[0] @ np.array(tool.tcp)
    J[:3] += np.cross(J[3:].T, lever).T
    return J


def tcp_position(model: RobotModel, q: ArrayLike, tool: Tool) -> Array:
    R, p = model.forward(q)
    return np.asarray(p + R @ np.array(tool.tcp))


def settling(parameters: Parameters) -> float:
    """Time to rest after a release [s]: the slowest root of the law on any enabled axis falls to a thousandth, then the
    pose error, some 10 mm at worst, to a fiftieth."""
    law, slowest = parameters.admittance, 0.0
    for enabled, m, d, k in zip(law.enabled_axes, law.mass, law.effective_damping, law.stiffness, strict=True):
        a = 0.5 * d / m
        root = a - math.sqrt(max(0.0, a * a - k / m)) if k > 0.0 else 2.0 * a
        slowest = max(slowest, 1.0 / root if enabled else 0.0)
    gain = max(parameters.tracking.velocity_gain)
    return math.log(1000.0) * slowest + (math.log(50.0) / gain if gain > 0.0 else 0.0)


def _three(values: ArrayLike) -> tuple[float, float, float]:
    x, y, z = np.asarray(values, dtype=float).tolist()
    return x, y, z


def _rows(matrix: Array) -> tuple[tuple[float, float, float], ...]:
    return tuple(_three(row) for row in matrix)
