"""What the user knows of the cell: which arms, which tool, and between which bounds everything else lies."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ur_admittance.errors import ParameterError
from ur_admittance.model.frames import rotation_from_rpy
from ur_admittance.params import Parameters
from ur_admittance.robots.simulated import FtSensor, Servo, Tool
from ur_admittance.robots.simulated.devices import NOISE, SERVO
from ur_admittance_lab.scenarios.stage import TOOL
from ur_admittance_lab.stability.eigenvalues import RESERVE

Array = NDArray[np.float64]
Vector = tuple[float, float, float]
Joints = tuple[float, ...]  # six


# Beyond these nothing is a contact of a UR arm, and the stability model runs out of digits or of memory.
BELIEVED = {"stiffness": (1.0, 1e8), "speed": (1e-4, 10.0), "delay": (0.0, 0.5), "mass": (0.0, 100.0)}
LARGEST_RESERVE = 100.0
TURN = 2.0 * math.pi  # [rad] to either side: how far a joint of a UR turns


@dataclass(frozen=True)
class Range:
    """From low to high; both alike: a known value."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and 0.0 <= self.low <= self.high):
            raise ParameterError(f"range {self.low:g}..{self.high:g}: must be finite, >= 0, the smaller number first.")

    @property
    def known(self) -> bool:
        return self.low == self.high

    @property
    def middle(self) -> float:
        return 0.5 * (self.low + self.high)

    def text(self, unit: str, scale: float = 1.0) -> str:
        """'5 to 20 ms'."""
        low, high = f"{scale * self.low:g}", f"{scale * self.high:g}"
        return f"{low} {unit}" if low == high else f"{low} to {high} {unit}"

    def uniform(self, rng: np.random.Generator) -> float:
        return float(rng.uniform(self.low, self.high))

    def stepwise(self, rng: np.random.Generator, rate: float) -> float:
        """One of the whole steps of 1 / rate inside the range, each as likely; a range without one: its lower end."""
        share = rng.uniform()
        first, last = self.first(rate), self.last(rate)
        if first == last:
            return first
        count = round((last - first) * rate) + 1
        return (round(first * rate) + min(int(share * count), count - 1)) / rate

    def first(self, rate: float) -> float:
        """Smallest whole step inside the range."""
        return math.ceil(self.low * rate - 1e-9) / rate if self._has_step(rate) else self.low

    def last(self, rate: float) -> float:
        """Largest whole step inside the range."""
        return math.floor(self.high * rate + 1e-9) / rate if self._has_step(rate) else self.low

    def _has_step(self, rate: float) -> bool:
        return math.ceil(self.low * rate - 1e-9) <= math.floor(self.high * rate + 1e-9)

    def log(self, rng: np.random.Generator) -> float:
        """Every factor of ten equally often. The ends themselves are never left by rounding."""
        value = math.exp(rng.uniform(math.log(self.low), math.log(self.high)))
        return min(max(value, self.low), self.high)


@dataclass(frozen=True)
class Knowledge:
    """Everything a case is drawn from. The same knowledge and seed give the same cases, bit for bit."""

    robots: tuple[str, ...] = ("ur5e",)
    stiffness: Range = Range(1e3, 1e5)  # [N/m] of what is touched
    delay: Range = Range(0.005, 0.020)  # [s] pure delay of the arm, in whole steps of the physics
    mass: Range = Range(1.0, 1.0)  # [kg] of the tool, known to the controller by calibration
    speed: Range = Range(0.02, 0.05)  # [m/s] of the motion along the surface or of the hand
    force: float = 10.0  # [N] to press with
    reserve: float = RESERVE  # damping in contact over the least that the stability model needs, at least
    poses: tuple[Joints, ...] = ()  # [rad] empty: a spread with the tool pointing down
    tool: Tool = TOOL
    servo: Servo = SERVO  # its delay is replaced by the range
    sensor: FtSensor = NOISE
    base: Parameters = field(default_factory=Parameters)  # what the search starts from and leaves as it is

    def __post_init__(self) -> None:
        if not self.robots:
            raise ParameterError("--robot: at least one type is needed.")
        for option, unit, given in (
            ("stiffness", "N/m", self.stiffness),
            ("speed", "m/s", self.speed),
            ("delay", "s", self.delay),
            ("mass", "kg", self.mass),
        ):
            least, most = BELIEVED[option]
            if not least <= given.low <= given.high <= most:
                raise ParameterError(f"--{option} {given.text(unit)}: must be from {least:g} to {most:g} {unit}.")
        if not 1.0 <= self.reserve <= LARGEST_RESERVE:
            raise ParameterError(f"--reserve {self.reserve:g}: must be >= 1 and at most {LARGEST_RESERVE:g}.")
        for pose in self.poses:
            if max(map(abs, pose)) > TURN:
                raise ParameterError(f"--pose {','.join(f'{q:g}' for q in pose)}: must be within +-{TURN:.4g} rad.")
        limit = self.base.safety.max_force
        if not 0.0 < self.force <= 0.5 * limit:
            raise ParameterError(
                f"--force {self.force:g} N: must be > 0 and at most {0.5 * limit:g}, half of safety.max_force."
            )

    def response_time(self, delay: float) -> float:
        """robot.response_time [s] of an arm with this delay."""
        lag = 0.0 if math.isinf(self.servo.lag_hz) else 1.0 / (2.0 * math.pi * self.servo.lag_hz)
        return delay + lag

    def as_dict(self) -> dict[str, Any]:
        """The ranges that a certificate holds for, as JSON."""
        return {
            "robots": list(self.robots),
            "stiffness_N_per_m": [self.stiffness.low, self.stiffness.high],
            "delay_s": [self.delay.low, self.delay.high],
            "tool_mass_kg": [self.mass.low, self.mass.high],
            "speed_m_per_s": [self.speed.low, self.speed.high],
            "force_N": self.force,
            "reserve": self.reserve,
            "poses_rad": [list(pose) for pose in self.poses] or "spread, tool down",
            "tool": _plain(self.tool),
            "servo": _plain(self.servo),
            "sensor": _plain(self.sensor),
        }


def _plain(device: Tool | Servo | FtSensor) -> dict[str, Any]:
    """Every field, as JSON has it: lists, and no infinity."""
    values = json.loads(json.dumps(asdict(device)).replace("Infinity", "null"))
    return dict(values)


class Twin(Protocol):
    """What is needed of an arm that was identified from its recordings."""

    @property
    def robot(self) -> str: ...
    def servo(self) -> Servo: ...
    def sensor(self) -> FtSensor: ...
    def tool(self) -> Tool: ...


def of_twin(twin: Twin, base: Parameters) -> dict[str, Any]:
    """Arm, servo, sensor and tool of a twin, with its delay as a known one. A twin says how noisy and late the sensor
    is, ``base`` how it is mounted."""
    servo = twin.servo()
    return {
        "robots": (twin.robot,),
        "servo": servo,
        "sensor": mounted(twin.sensor(), base),
        "tool": twin.tool(),
        "delay": Range(servo.delay, servo.delay),
    }


def mounted(sensor: FtSensor, parameters: Parameters) -> FtSensor:
    """The sensor where and how a parameter file says that it is mounted."""
    return replace(
        sensor,
        position=_vector(parameters.sensor.position),
        rotation=_rows(parameters.sensor.rotation),
        sign=parameters.sensor.sign,
    )


def of_parameters(parameters: Parameters) -> dict[str, Any]:
    """Base parameters, tool and sensor as a parameter file describes them. A file without a tool: the usual one."""
    sensor = mounted(NOISE, parameters)
    if parameters.tool == Parameters().tool:
        return {"base": parameters, "sensor": sensor}
    tool, R_flange_sensor = parameters.tool, np.array(sensor.rotation)
    com = R_flange_sensor @ np.array(tool.center_of_mass) + np.array(sensor.position)
    found = Tool(
        mass=tool.mass,
        com=_vector(com),
        tcp=_vector(tool.tcp[:3]),
        tcp_rotation=_rows(tool.tcp[3:]),
    )
    return {"base": parameters, "sensor": sensor, "tool": found}


def _vector(values: Sequence[float] | Array) -> Vector:
    x, y, z = values
    return float(x), float(y), float(z)


def _rows(rpy: Sequence[float]) -> tuple[Vector, ...]:
    return tuple(_vector(row) for row in rotation_from_rpy(rpy))
