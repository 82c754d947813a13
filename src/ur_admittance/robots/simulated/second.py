"""A second force sensor on the simulated tool, and what can go wrong with the readings of either sensor."""

import math
from collections import deque
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ur_admittance.errors import SimulationError
from ur_admittance.robots.simulated.devices import FtSensor, Tool, need_device, need_number

Array = NDArray[np.float64]

Kind = Literal["silent", "stuck", "drift", "offset", "noise", "spike", "not_finite"]
KINDS = get_args(Kind)
SPIKE_EVERY = 0.05  # [s]
ZERO_TIME = 0.1  # [s] over which a zero is averaged


class SensorFault:
    """At most one fault of a sensor's readings at a time: ``begin("offset", 20.0)``, ``end()``."""

    def __init__(self, seed: int = 0) -> None:
        self.kind = ""
        self._size, self._axis, self._time = 0.0, 0, 0.0
        self._held = np.zeros(6)
        self._rng = np.random.default_rng([seed, 2])

    def begin(self, kind: Kind, size: float = 20.0, axis: int = 1) -> None:
        """size: of an offset, a spike or the noise [N], or of a drift [N/s]; along one axis of the sensor."""
        if kind not in KINDS:
            raise SimulationError(f"sensor fault {kind!r}: must be one of {', '.join(KINDS)}.")
        self.kind, self._size, self._axis, self._time = kind, size, axis, 0.0

    def end(self) -> None:
        self.kind = ""

    def apply(self, wrench: Array, age: float, dt: float) -> float:
        """Change a reading (6,) in place; returns its age [s]."""
        if self.kind in ("silent", "stuck") and self._time > 0.0:
            wrench[:] = self._held
        self._held[:] = wrench
        silent = self.kind == "silent"
        age += self._time if silent else 0.0
        if self.kind == "drift":
            wrench[self._axis] += self._size * self._time
        elif self.kind == "offset":
            wrench[self._axis] += self._size
        elif self.kind == "noise":
            wrench[:] += self._rng.normal(0.0, self._size, 6) * np.repeat([1.0, 0.1], 3)
        elif self.kind == "spike" and self._time % SPIKE_EVERY < dt:
            wrench[self._axis] += self._size
        elif self.kind == "not_finite":
            wrench[self._axis] = math.nan
        self._time += dt
        return age


@dataclass
class SecondSensor:
    """Mounted as ``sensor`` says, later than the first one by its delay and a low-pass of ``lag`` [s]."""

    sensor: FtSensor = FtSensor()  # noqa: RUF009  (frozen)
    lag: float = 0.0

    def __post_init__(self) -> None:
        need_device("second: sensor", self.sensor, FtSensor)
        need_number("second: lag", self.lag, "s")
        self.wrench = np.zeros(6)  # the reading (6,) [N, Nm], own axes
        self.faults = SensorFault()
        self._late: deque[Array] = deque()
        self._mean = np.zeros(6)

    def begin(self, clean: Array, first: FtSensor, seed: int) -> None:
        """The world starts. clean: what the first sensor feels, its axes, before sign, bias and noise."""
        self._R = np.array(self.sensor.rotation).T @ np.array(first.rotation)  # R_second_first
        self._lever = np.array(first.rotation).T @ (np.array(first.position) - np.array(self.sensor.position))
        self._rng = np.random.default_rng([seed, 1])
        self.faults = SensorFault(seed + 1)
        self._bias, self._drift = np.array(self.sensor.bias), np.zeros(6)
        self._late.clear()
        self._slow = self._moved(clean)
        self._report(0.0)
        self._mean[:] = self.wrench

    def sense(self, clean: Array, period: float) -> None:
        """One control period later."""
        self._late.append(self._moved(clean))
        if len(self._late) > round(self.sensor.delay / period):
            weight = -math.expm1(-period / self.lag) if self.lag > 0.0 else 1.0
            self._slow += weight * (self._late.popleft() - self._slow)
        self._report(period)

    def zero(self) -> None:
        self._bias -= self._mean
        self.wrench -= self._mean
        self._mean[:] = 0.0

    def parameters(self, tool: Tool) -> dict[str, Any]:
        """The controller's parameters for this sensor, as a perfect calibration would find them."""
        mounted, hangs = self.sensor.parameters(), tool.parameters(self.sensor)
        names = ("sign", "bias", "rotation", "position")
        return {f"second.{name}": mounted[f"sensor.{name}"] for name in names} | {
            "second.source": "simulation",
            "second.mass": hangs["tool.mass"],
            "second.center_of_mass": hangs["tool.center_of_mass"],
            "second.lag": self.lag + self.sensor.delay,
        }

    def _moved(self, clean: Array) -> Array:
        """A wrench of the first sensor about this one, own axes."""
        torque = clean[3:] + np.cross(self._lever, clean[:3])
        return np.concatenate([self._R @ clean[:3], self._R @ torque])

    def _report(self, period: float) -> None:
        s = self.sensor
        size = np.repeat([s.noise_force, s.noise_torque], 3)
        self._drift += np.array(s.drift) * math.sqrt(period) * self._rng.standard_normal(6)
        self.wrench[:] = s.sign * self._slow + self._bias + self._drift + size * self._rng.standard_normal(6)
        self._mean += min(1.0, period / ZERO_TIME) * (self.wrench - self._mean)


# Three times the noise, and as slow as an estimate of the arm itself may be: assumed
SECOND = SecondSensor(FtSensor(noise_force=0.3, noise_torque=0.015), lag=0.02)
