"""What hangs on the arm and what drives it: the tool, the wrist force/torque sensor, the joint servo."""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from ur_admittance import given
from ur_admittance.errors import SimulationError
from ur_admittance.model import RobotModel
from ur_admittance.model.frames import is_rotation, rpy_from_rotation

Array = NDArray[np.float64]
T = TypeVar("T")
Vector = tuple[float, float, float]
Vector6 = tuple[float, float, float, float, float, float]
Matrix = tuple[Vector, ...]  # three rows
Part = tuple[Vector, Vector, float]  # a cylinder: start, end [m, flange frame], radius [m]

IDENTITY: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
GRAVITY: Vector = (0.0, 0.0, -9.80665)  # [m/s2] base axes
ZERO6: Vector6 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def _need(condition: bool, sentence: str) -> None:
    if not condition:
        raise SimulationError(sentence)


def _need_rotation(name: str, rotation: Matrix) -> None:
    try:
        right = is_rotation(rotation)
    except (TypeError, ValueError):
        right = False
    _need(right, f"{name} = {_plain(rotation)!r}: must be a 3 x 3 rotation matrix.")


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


need_number = partial(given.number, error=SimulationError)
need_vector = partial(given.vector, error=SimulationError)
need_whole = partial(given.whole, error=SimulationError)


def need_device(name: str, value: T | None, kind: type[T]) -> T:
    """The given one, or that of the defaults."""
    value = kind() if value is None else value
    article = "an" if kind.__name__[:2] in ("En", "Ft") else "a"  # as they are spoken
    given.kind(name, value, kind, f"{article} {kind.__name__}", SimulationError)
    return value


@dataclass(frozen=True)
class Tool:
    """Everything beyond the wrist sensor. Positions are in the flange frame (``tool0``, z out of the flange).

    ``probe`` touches with a sphere at the TCP: one contact point on any surface. ``peg`` touches with a rounded pin of
    ``peg_length`` that ends at the TCP and points along its z.
    """

    mass: float = 1.0  # [kg]
    com: Vector = (0.0, 0.0, 0.05)  # [m]
    tcp: Vector = (0.0, 0.0, 0.15)  # [m]
    tcp_rotation: Matrix = IDENTITY  # R_flange_tcp
    inertia: Matrix | None = None  # [kg m2] about com, flange axes; None: that of a cylinder from flange to TCP
    shape: Literal["probe", "peg"] = "probe"
    radius: float = 0.01  # [m] of the sphere or the pin
    peg_length: float = 0.06  # [m]
    vibration: Vector = (0.0, 0.0, 0.0)  # amplitude of the force with which its motor shakes it at its com [N]
    vibration_hz: float = 0.0

    def __post_init__(self) -> None:
        need_number("tool.mass", self.mass, "kg")
        need_vector("tool.com", self.com, 3, "m")
        need_vector("tool.tcp", self.tcp, 3, "m")
        need_number("tool.radius", self.radius, "m", above=True)
        need_number("tool.peg_length", self.peg_length, "m")
        need_vector("tool.vibration", self.vibration, 3, "N")
        need_number("tool.vibration_hz", self.vibration_hz, "Hz")
        _need(self.shape in ("probe", "peg"), f"tool.shape = {self.shape!r}: must be 'probe' or 'peg'.")
        _need(self.peg_length > 2 * self.radius, f"tool.peg_length = {self.peg_length} m: must be > 2 radius.")
        _need_rotation("tool.tcp_rotation", self.tcp_rotation)

    @property
    def tip(self) -> Array:
        """Centre of the sphere whose surface the TCP lies on, flange frame [m]."""
        return np.array(self.tcp) - self.radius * np.array(self.tcp_rotation)[:, 2]

    def inertia_matrix(self) -> Array:
        """(3, 3) [kg m2] about the centre of mass."""
        if self.inertia is not None:
            return np.array(self.inertia, dtype=float)
        radius, length = 0.03, max(float(np.linalg.norm(self.tcp)), 0.02)
        across = (3.0 * radius**2 + length**2) / 12.0
        return max(self.mass, 1e-6) * np.diag([across, across, radius**2 / 2.0])

    def parameters(self, sensor: "FtSensor | None" = None) -> dict[str, Any]:
        """The controller's parameters for this tool, by dotted name: ``Parameters().changed(tool.parameters())``.

        sensor: the one that the tool hangs on; None: at the flange, in its axes."""
        sensor = sensor or FtSensor()
        R_sensor_flange = np.array(sensor.rotation).T
        return {
            "tool.mass": self.mass,
            "tool.center_of_mass": (R_sensor_flange @ (np.array(self.com) - np.array(sensor.position))).tolist(),
            "tool.tcp": [*self.tcp, *_rpy(self.tcp_rotation)],
            "tool.inertia_compensation": True,
        }


@dataclass(frozen=True)
class FtSensor:
    """The wrist force/torque sensor between flange and tool.

    reading = quantised( sign * w + bias + drift + noise ),  w: what gravity, hands and surfaces do to the tool (less
    its inertia force), about the sensor origin, sensor axes, averaged over the control period.
    """

    position: Vector = (0.0, 0.0, 0.0)  # [m] of the sensor origin in the flange frame
    rotation: Matrix = IDENTITY  # R_flange_sensor
    sign: float = 1.0  # -1: the sensor reports the reaction
    bias: Vector6 = ZERO6  # [N, Nm] as it appears in the reading
    drift: Vector6 = ZERO6  # [N/sqrt(s), Nm/sqrt(s)] random walk: its standard deviation after one second
    noise_force: float = 0.0  # [N] standard deviation of one reading
    noise_torque: float = 0.0  # [Nm]
    resolution_force: float = 0.0  # [N] smallest step of the reading, 0: continuous
    resolution_torque: float = 0.0  # [Nm]
    delay: float = 0.0  # [s]

    def __post_init__(self) -> None:
        need_number("sensor.sign", self.sign, low=-math.inf)
        _need(self.sign in (1.0, -1.0), f"sensor.sign = {self.sign}: must be 1 or -1.")
        need_vector("sensor.position", self.position, 3, "m")
        need_vector("sensor.bias", self.bias, 6, "N, Nm")
        need_vector("sensor.drift", self.drift, 6, "N/sqrt(s), Nm/sqrt(s)")
        for name in ("noise_force", "noise_torque", "resolution_force", "resolution_torque", "delay"):
            need_number(f"sensor.{name}", getattr(self, name))
        _need_rotation("sensor.rotation", self.rotation)

    def parameters(self) -> dict[str, Any]:
        """The controller's parameters for this sensor: how it is mounted, its bias at the start, its delay."""
        return {
            "sensor.sign": self.sign,
            "sensor.bias": (self.sign * np.array(self.bias)).tolist(),
            "sensor.rotation": _rpy(self.rotation),
            "sensor.position": list(self.position),
            "sensor.delay": self.delay,
        }


STEADY_HAND = {"safety.steady_force_time": 1e6}  # [s] a simulated hand may push for ever with the same force
# Assumed values of a UR5e, not identified on an arm: about 35 kN/m at the TCP.
UR5E_STIFFNESS = (20e3, 20e3, 12e3, 4e3, 4e3, 3e3)  # [Nm/rad]
UR5E_EFFORT = (150.0, 150.0, 150.0, 28.0, 28.0, 28.0)  # [Nm]
# Rotor inertia seen through the gear: large joints, wrist joints. Not identified on an arm: the large joints' value was
# fitted so that the least damping that is stable on 100 kN/m agrees with reference simulations of a UR5e.
UR5E_ARMATURE = (0.6, 0.6, 0.6, 0.1, 0.1, 0.1)  # [kg m2]


@dataclass(frozen=True)
class Servo:
    """The arm's own position control: delay -> straight line inside the period -> first-order lag -> joint PD.

    torque = kp (y - q) + kd (yd - qd) + gravity and Coriolis torque of the arm with its configured payload,
    y: commanded angle after delay and lag.
    """

    delay: float = 0.0  # [s] from the command to the first motion
    lag_hz: float = 25.0  # corner of the first-order lag, inf: none
    stiffness: Vector6 | None = None  # kp [Nm/rad]; None: the UR5e's, scaled by the joints' torque limits
    damping_ratio: float = 0.9  # kd = 2 ratio sqrt(kp M_ii), M_ii of the arm with its tool in the home position
    payload: float | None = None  # [kg] what the arm was told it carries, at the tool's com; None: the true mass
    friction: Vector6 = ZERO6  # Coulomb's, of the joints, not made up for by the servo [Nm]
    armature: Vector6 | None = None  # rotor inertia seen through the gear [kg m2]; None: as the stiffness

    def __post_init__(self) -> None:
        need_number("servo.delay", self.delay, "s")
        need_number("servo.lag_hz", self.lag_hz, "Hz", above=True, infinite=True)
        need_number("servo.damping_ratio", self.damping_ratio, above=True)
        if self.payload is not None:
            need_number("servo.payload", self.payload, "kg")
        if self.stiffness is not None:
            need_vector("servo.stiffness", self.stiffness, 6, "Nm/rad")
            _need(min(self.stiffness) > 0.0, f"servo.stiffness = {self.stiffness} Nm/rad: must be > 0.")
        need_vector("servo.friction", self.friction, 6, "Nm")
        _need(min(self.friction) >= 0.0, f"servo.friction = {self.friction} Nm: must be >= 0.")
        if self.armature is not None:
            need_vector("servo.armature", self.armature, 6, "kg m2")
            _need(min(self.armature) >= 0.0, f"servo.armature = {self.armature} kg m2: must be >= 0.")

    @property
    def response_time(self) -> float:
        """Delay plus time constant of the lag [s]: the controller's robot.response_time."""
        return self.delay + (0.0 if math.isinf(self.lag_hz) else 1.0 / (2.0 * math.pi * self.lag_hz))

    def stiffness_of(self, model: RobotModel) -> Array:
        """kp of this arm (6,) [Nm/rad]: the UR5e's, scaled by the torque limits. At the TCP in the home position this
        gives 13 to 18 kN/m for a UR3e, 29 to 43 for a UR5e, 31 to 81 for a UR20: plausible, not measured."""
        if self.stiffness is not None:
            return np.array(self.stiffness)
        return np.array(UR5E_STIFFNESS) * _strength(model)

    def armature_of(self, model: RobotModel) -> Array:
        """Rotor inertia of this arm's joints (6,) [kg m2]: the UR5e's, scaled as the stiffness."""
        if self.armature is not None:
            return np.array(self.armature)
        return np.array(UR5E_ARMATURE) * _strength(model)


def _rpy(rotation: Matrix) -> list[float]:
    """Roll, pitch, yaw [rad]; adding 0.0 turns -0.0 into 0.0."""
    return [float(angle) + 0.0 for angle in rpy_from_rotation(np.array(rotation))]


def _strength(model: RobotModel) -> Array:
    """Torque limits over those of the UR5e (6,); 1 where the description gives no limit."""
    return np.where(np.isfinite(model.effort), model.effort / np.array(UR5E_EFFORT), 1.0)


SERVO = Servo(delay=0.010, lag_hz=25.0)  # what a streamed UR looks like from outside, assumed
NOISE = FtSensor(noise_force=0.1, noise_torque=0.005)


@dataclass(frozen=True)
class PracticeTool:
    """A tool and what it looks like. The sizes are plausible, of no make."""

    tool: Tool
    parts: tuple[Part, ...]  # without the rod to the tip, which follows the TCP
    root: Vector  # where that rod begins

    def with_tcp(self, tcp: Vector) -> "PracticeTool":
        return replace(self, tool=replace(self.tool, tcp=tcp))

    def drawn(self) -> list[Part]:
        """All cylinders, to the centre of the tip."""
        x, y, z = self.tool.tip.tolist()
        return [*self.parts, (self.root, (x, y, z), 0.8 * self.tool.radius)]


BENT = math.radians(40.0)
TOOLS = {
    "probe": PracticeTool(Tool(mass=1.0), (((0.0, 0.0, 0.0), (0.0, 0.0, 0.012), 0.034),), (0.0, 0.0, 0.012)),
    "gripper": PracticeTool(
        Tool(mass=0.9, com=(0.0, 0.0, 0.055), tcp=(0.0, 0.0, 0.18), radius=0.012),
        (
            ((0.0, 0.0, 0.0), (0.0, 0.0, 0.02), 0.037),
            ((0.0, 0.0, 0.02), (0.0, 0.0, 0.1), 0.034),
            ((0.03, 0.0, 0.09), (0.045, 0.0, 0.125), 0.009),
            ((-0.03, 0.0, 0.09), (-0.045, 0.0, 0.125), 0.009),
            ((0.045, 0.0, 0.125), (0.014, 0.0, 0.165), 0.008),
            ((-0.045, 0.0, 0.125), (-0.014, 0.0, 0.165), 0.008),
        ),
        (0.0, 0.0, 0.1),
    ),
    "spindle": PracticeTool(
        Tool(
            mass=2.2,
            com=(0.03, 0.0, 0.07),
            tcp=(0.12, 0.0, 0.17),
            tcp_rotation=(
                (math.cos(BENT), 0.0, math.sin(BENT)),
                (0.0, 1.0, 0.0),
                (-math.sin(BENT), 0.0, math.cos(BENT)),
            ),
        ),
        (((0.0, 0.0, 0.0), (0.0, 0.0, 0.05), 0.036), ((0.0, 0.0, 0.03), (0.09, 0.0, 0.135), 0.03)),
        (0.08, 0.0, 0.125),
    ),
}
