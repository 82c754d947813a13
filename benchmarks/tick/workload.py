"""What everybody computes: a UR5e with a tool, pushed with 10 N, that moves so that its Jacobian changes every tick.

The constants of core are read here, once, and handed to the peers: none of them has numbers of its own.
"""

from dataclasses import dataclass, field, replace
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core import bounds, checks, choose, law, quadratic, rows, singular, wrench
from ur_admittance.core.records import PARAMS, Frame, Integrator, new
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
NARROW = 0.008  # [m] that the tool may move among boxes
TWISTS_PER_TURN = 3  # another frequency than the push, or their product would make the arm drift away

FROM_CORE: dict[ModuleType, tuple[str, ...]] = {
    checks: ("LONGEST_PERIOD",),
    wrench: ("ACCELERATION_CUTOFF_HZ",),
    law: ("QUIET",),
    bounds: ("ELBOW", "BRAKING", "PLANNED", "NEAR_RATE", "FAR"),
    choose: ("SPEED", "TURNING", "SLIDING", "CUTS"),
    singular: ("SINGULAR", "DAMPING", "CURVE", "AHEAD"),
}
# Slack of comparisons and the end of a loop that converges: a little more or less changes no command that is compared.
NUMERICAL: dict[ModuleType, tuple[str, ...]] = {
    rows: ("KEPT",),
    choose: ("NORM_KEPT",),
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


def setting(changes: dict[str, object] | None = None) -> Setting:
    """Raises an error when it uses what the peers do not have."""
    model, parameters, params = robot_model("ur5e"), Parameters().changed(SETTINGS | (changes or {})), new(PARAMS)
    fill(params[0], parameters, model)
    params["revision"] = 1
    for name, neutral in LEFT_OUT.items():
        if np.any(params[name] != neutral):
            raise UrAdmittanceError(f"bench: the peers have no {name}.")
    return Setting(model, parameters, params)


def circling(count: int = TURN_TICKS) -> Workload:
    """The push turns around the tool axis while the tool is twisted to and fro."""
    phase = 2.0 * np.pi * np.arange(count) / count
    zero = np.zeros(count)
    return _workload(
        np.column_stack(
            [PUSH * np.cos(phase), PUSH * np.sin(phase), zero, zero, zero, TWISTING * np.sin(TWISTS_PER_TURN * phase)]
        )
    )


def crowded() -> Workload:
    """The same pushes among four boxes that leave the tool a fifth of its circle, above a table."""
    w = circling()
    x, y, z = w.model.forward(w.home)[1] + w.model.forward(w.home)[0] @ np.array(w.parameters.tool.tcp[:3])
    off = 0.05 + w.parameters.collision.tool_radius + w.parameters.collision.clearance + NARROW
    places = {1: (x + off, y), 2: (x - off, y), 3: (x, y + off), 4: (x, y - off)}
    boxes = {f"collision.box_{i}.center": [*place, z] for i, place in places.items()}
    parameters, params = w.parameters.changed(boxes | {"collision.table_height": 0.0}), w.params.copy()
    fill(params[0], parameters, w.model)
    return replace(w, parameters=parameters, params=params)


def steady() -> Workload:
    """10 N along the tool's x axis, held: the arm reaches (10 N - deadband) / damping."""
    return _workload(np.array([[PUSH, 0.0, 0.0, 0.0, 0.0, 0.0]]))


def _workload(wrench_tcp: Array) -> Workload:
    """wrench_tcp: (n, 6) about the TCP in sensor axes -> what the sensor would read with the arm at home."""
    s = setting()
    R = s.model.forward(s.home)[0] @ rotation_from_rpy(s.parameters.tool.tcp[3:]) @ s.params[0]["R_tcp_sensor"]
    in_base = np.hstack([wrench_tcp[:, :3] @ R.T, wrench_tcp[:, 3:] @ R.T])
    return Workload(s.model, s.parameters, s.params, np.array([s.reading(s.home, w) for w in in_base]))
