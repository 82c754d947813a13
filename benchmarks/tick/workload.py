"""What everybody computes: a UR5e with a tool, pushed with 10 N, that moves so that its Jacobian changes every tick.

The constants of core are read here, once, and handed to the peers: none of them has numbers of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core import checks
from ur_admittance.core.law import twist as law
from ur_admittance.core.law.admittance import FAST
from ur_admittance.core.limits import approach, choose, quadratic, reach, rows, singular, tool, walls
from ur_admittance.core.records import PARAMS, Frame, Integrator, new
from ur_admittance.core.wrench import condition as wrench
from ur_admittance.errors import UrAdmittanceError
from ur_admittance.model import RobotModel, robot_model
from ur_admittance.model.frames import rotation_from_rpy
from ur_admittance.params import Parameters
from ur_admittance.params.record import fill

Array = NDArray[np.float64]

PERIOD = 0.002  # [s]
PUSH = 10.0  # [N]
TWISTING = 1.0  # [Nm]
TURN_TICKS = 1000  # the push turns once around the tool axis in 2 s: the arm goes in a circle of 4 cm
TWISTS_PER_TURN = 3  # another frequency than the push, or their product would make the arm drift away
NARROW = 0.008  # [m] that the tool may move among boxes
TIGHT = 0.0002  # [m, rad] to a wall or a joint limit at the start: it acts from the first ticks on
HELD = 20.0  # [N] towards it: more than PUSH, so that it acts in every tick

FROM_CORE: dict[ModuleType, tuple[str, ...]] = {
    checks: ("LONGEST_PERIOD",),
    wrench: ("ACCELERATION_CUTOFF_HZ",),
    law: ("QUIET",),
    approach: ("BRAKING", "PLANNED", "NEAR_RATE"),
    reach: ("ELBOW",),
    walls: ("FAR",),
    choose: ("SPEED", "TURNING", "SLIDING", "CUTS"),
    singular: ("SINGULAR", "DAMPING", "CURVE", "AHEAD"),
}
# Slack of comparisons and the end of a loop that converges: a little more or less changes no command that is compared.
NUMERICAL: dict[ModuleType, tuple[str, ...]] = {
    rows: ("KEPT",),
    tool: ("NORM_KEPT",),
    quadratic: ("VIOLATED", "STEPS"),
}


def _values(modules: dict[ModuleType, tuple[str, ...]]) -> dict[str, float]:
    return {name: float(getattr(module, name)) for module, names in modules.items() for name in names}


CONSTANTS, TOLERANCES = _values(FROM_CORE), _values(NUMERICAL)

# What the peers do not have, and the value with which it does nothing.
LEFT_OUT = {
    "control_frame": Frame.BASE,
    "integrator": Integrator.EXACT,
    "force_axes": 0.0,
    "travel_damping": 1.0,
    "region_damping": 1.0,
    "region_speed": 1.0,
}

# Every step of the wrench conditioning has something to do: bias, weight, inertia, lever arm, turned sensor, walls.
SETTINGS = {
    "sensor.bias": [1.0, -2.0, 3.0, 0.05, -0.1, 0.02],
    "sensor.rotation": [0.0, 0.0, 0.3],
    "tool.mass": 0.8,
    "tool.center_of_mass": [0.0, 0.01, 0.05],
    "tool.tcp": [0.0, 0.0, 0.12, 0.0, 0.0, 0.0],
    "tool.inertia_compensation": True,
    "workspace.min": [-0.8, -0.8, 0.0],
    "workspace.max": [0.8, 0.8, 1.2],
}


class Missing(UrAdmittanceError):
    """A peer cannot run here; the message says what to install."""


@dataclass(frozen=True)
class Setting:
    """An arm, its parameters and the constants of the controller."""

    model: RobotModel
    parameters: Parameters
    params: NDArray[np.void]  # one PARAMS record
    constants: dict[str, float] = field(default_factory=lambda: CONSTANTS | TOLERANCES, kw_only=True)

    @property
    def home(self) -> Array:
        return np.asarray(self.model.home)

    def place(self, q: Array) -> Array:
        """Position of the TCP (3,) at q, base axes [m]."""
        R_flange, p_flange = self.model.forward(q)
        return np.asarray(p_flange + R_flange @ np.array(self.parameters.tool.tcp[:3]))

    def reading(self, q: Array, wrench_base: Array) -> Array:
        """What the sensor reads (6,) at q when `wrench_base`, about the TCP in base axes, acts on the tool."""
        p = self.params[0]
        R_tcp = self.model.forward(q)[0] @ rotation_from_rpy(self.parameters.tool.tcp[3:])
        R_sensor = R_tcp @ p["R_tcp_sensor"]
        force, torque = wrench_base[:3], wrench_base[3:] - np.cross(R_tcp @ p["p_tcp_sensor"], wrench_base[:3])
        load = R_sensor.T @ p["tool_weight_base"]
        net = np.concatenate([R_sensor.T @ force + load, R_sensor.T @ torque + np.cross(p["tool_com"], load)])
        return np.asarray(p["sensor_sign"] * (net + p["sensor_bias"]))


@dataclass(frozen=True)
class Workload(Setting):
    pushes: Array  # (n, 6) raw sensor readings, repeated [N, Nm]


@dataclass(frozen=True)
class Samples(Setting):
    """What came in, tick by tick, from an arm at rest at q[0]."""

    name: str
    q: Array  # (n, 6)
    qd: Array
    wrench: Array
    reference_twist: Array


def setting(changes: Mapping[str, object] | None = None) -> Setting:
    """Raises an error when it uses what the peers do not have."""
    model, parameters, params = robot_model("ur5e"), Parameters().changed({**SETTINGS, **(changes or {})}), new(PARAMS)
    fill(params[0], parameters, model)
    params["revision"] = 1
    mass, damping, stiffness = (params[0][name] for name in ("mass", "damping", "stiffness"))
    if (damping * PERIOD > FAST * mass).any() or (stiffness * PERIOD**2 > FAST**2 * mass).any():
        raise UrAdmittanceError("bench: the peers do not hold back stiff springs and dampers at a limit.")
    for name, neutral in LEFT_OUT.items():
        if np.any(params[name] != neutral):
            raise UrAdmittanceError(f"bench: the peers have no {name}.")
    return Setting(model, parameters, params)


def circling() -> Workload:
    """The push turns around the tool axis while the tool is twisted to and fro: nothing limits the arm."""
    return _workload(_turning(setting()))


def cornered() -> Workload:
    """The same while the tool is pressed into a corner of its workspace: it slides along three walls."""
    s = setting()
    corner = {"workspace.max": (s.place(s.home) + TIGHT).tolist()}
    return _workload(_turning(s) + [HELD, HELD, HELD, 0.0, 0.0, 0.0], corner)


def at_joint_limit() -> Workload:
    """The same while the base joint is pressed against its limit: the whole motion is slowed down."""
    s = setting()
    x, y, _ = s.place(s.home)
    sideways = HELD / np.hypot(x, y)
    limit = {"joint_limits.position_upper": [float(s.home[0]) + TIGHT, *[None] * 5]}
    return _workload(_turning(s) + [-y * sideways, x * sideways, 0.0, 0.0, 0.0, 0.0], limit)


def without_distances() -> Workload:
    """circling() without the distances of the arm to itself."""
    return _workload(_turning(setting()), {"collision.enabled": False})


def crowded() -> Workload:
    """The same pushes among four boxes that leave the tool a fifth of its circle, above a table."""
    s = setting()
    x, y, z = s.place(s.home)
    off = 0.05 + s.parameters.collision.tool_radius + s.parameters.collision.clearance + NARROW
    places = {1: (x + off, y), 2: (x - off, y), 3: (x, y + off), 4: (x, y - off)}
    boxes = {f"collision.box_{i}.center": [*place, z] for i, place in places.items()}
    return _workload(_turning(s), {**boxes, "collision.table_height": 0.0})


def steady() -> Workload:
    """10 N along the tool's x axis, held: the arm reaches (10 N - deadband) / damping."""
    return _workload(_turning(setting())[:1])


def _turning(s: Setting) -> Array:
    """Wrenches (n, 6) about the TCP, base axes: a push that turns around the tool axis, and a twist about it."""
    phase = 2.0 * np.pi * np.arange(TURN_TICKS) / TURN_TICKS
    R = s.model.forward(s.home)[0] @ rotation_from_rpy(s.parameters.tool.tcp[3:]) @ s.params[0]["R_tcp_sensor"]
    push = PUSH * np.column_stack([np.cos(phase), np.sin(phase), np.zeros(TURN_TICKS)])
    twist = TWISTING * np.sin(TWISTS_PER_TURN * phase)[:, None] * [0.0, 0.0, 1.0]
    return np.hstack([push @ R.T, twist @ R.T])


def _workload(wrenches: Array, changes: Mapping[str, object] | None = None) -> Workload:
    """wrenches: (n, 6) about the TCP in base axes -> what the sensor would read with the arm at home."""
    s = setting(changes)
    return Workload(s.model, s.parameters, s.params, np.array([s.reading(s.home, w) for w in wrenches]))
