"""What a calibration has found, and how it enters the parameters."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ur_admittance.calibration.model import predicted
from ur_admittance.calibration.readings import Array, Flags
from ur_admittance.model.frames import rotation_from_rpy, rpy_from_rotation
from ur_admittance.params import Parameters


@dataclass(frozen=True)
class Deviation:
    """Standard deviations (one sigma) of what was identified."""

    mass: float  # [kg]
    center_of_mass: float  # [m] largest axis
    force_bias: float  # [N]
    torque_bias: float  # [Nm]
    rotation: float  # [rad] of the mounting
    tilt: float  # [rad] of the direction of gravity


@dataclass(frozen=True, eq=False)
class ToolCalibration:
    """Tool, sensor and tilt. ``None`` means withheld: the configured value stays, and a note says why."""

    sign: float
    mass: float  # [kg]
    bias: Array  # (6,) after the sign, sensor axes [N, Nm]
    center_of_mass: Array | None  # (3,) sensor frame [m]
    R_flange_sensor: Array | None  # (3, 3)
    gravity: Array | None  # (3,) base axes [m/s2]
    tilt: float  # between identified and configured gravity [rad]
    deviation: Deviation
    noise: tuple[float, float]  # of one sample [N, Nm]
    residual: Array  # (n, 6) reading minus model, dropped poses too [N, Nm]
    used: Flags  # (n,) bool: False for a pose that was dropped as an outlier
    excitation: float
    condition: float  # of the 15 unknowns, scaled
    notes: tuple[str, ...] = ()
    robot: str = ""
    made: str = field(default="")  # ISO date

    @property
    def residual_channels(self) -> Array:
        """RMS of the used poses per channel (6,) [N, Nm]."""
        return np.asarray(np.sqrt((self.residual[self.used] ** 2).mean(axis=0)))

    @property
    def residual_force(self) -> float:
        """RMS of the length of the force residual [N]."""
        return float(np.sqrt((self.residual[self.used, :3] ** 2).sum(axis=1).mean()))

    @property
    def residual_torque(self) -> float:
        """RMS of the length of the torque residual [Nm]."""
        return float(np.sqrt((self.residual[self.used, 3:] ** 2).sum(axis=1).mean()))

    def changes(self) -> dict[str, Any]:
        """Dotted parameter names -> values, as `Parameters.changed` takes them."""
        values: dict[str, Any] = {}
        if self.gravity is not None:
            values["gravity"] = self.gravity.tolist()
        values["sensor.sign"] = self.sign
        values["sensor.bias"] = self.bias.tolist()
        if self.R_flange_sensor is not None:
            values["sensor.rotation"] = rpy_from_rotation(self.R_flange_sensor).tolist()
        values["tool.mass"] = self.mass
        values["tool.center_of_mass"] = [0.0] * 3 if self.center_of_mass is None else self.center_of_mass.tolist()
        return values

    def applied_to(self, parameters: Parameters) -> Parameters:
        return parameters.changed(self.changes())


def expected_reading(parameters: Parameters, R_base_flange: Array) -> Array:
    """The wrench after the sign that these parameters expect of a free tool, sensor frame (6,) [N, Nm]."""
    weight = parameters.tool.mass * np.array(parameters.gravity)
    R_sensor_flange = rotation_from_rpy(parameters.sensor.rotation).T
    bias, com = np.array(parameters.sensor.bias), np.array(parameters.tool.center_of_mass)
    one: Array = predicted(R_sensor_flange, weight, bias, com, R_base_flange.T[None])[0]
    return one
