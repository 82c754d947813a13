"""One stretch of a recording as the fit needs it: what was commanded, what the arm did, what the sensor read."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ur_admittance.model import RobotModel
from ur_admittance_lab.twin.found.dynamics import Kinematics, inertia_matrix, joint_torques, link_torques
from ur_admittance_lab.twin.found.filters import smoothed

Array = NDArray[np.float64]

GRAVITY = 9.80665  # [m/s2]


@dataclass(frozen=True, eq=False)
class Mounting:
    """Where sensor and TCP sit and what hangs on them: from the controller's parameters at the time."""

    R_flange_sensor: Array  # (3, 3)
    p_flange_sensor: Array  # (3,) [m]
    sign: float
    bias: Array  # (6,) [N, Nm] after the sign
    weight_base: Array  # (3,) [N]
    com: Array  # (3,) [m] sensor frame
    R_flange_tcp: Array  # (3, 3)
    p_flange_tcp: Array  # (3,) [m]

    @property
    def mass(self) -> float:
        """Of the tool, from its weight [kg]."""
        return float(np.linalg.norm(self.weight_base)) / GRAVITY

    @property
    def p_flange_com(self) -> Array:
        """Centre of mass of the tool (3,) [m]."""
        return np.asarray(self.p_flange_sensor + self.R_flange_sensor @ self.com)


@dataclass(frozen=True, eq=False)
class Stretch:
    """Cycles without a gap: row k was measured at k T; the command of row k was meant to be reached at (k + 1) T."""

    model: RobotModel
    period: float  # T [s]
    command: Array  # (n, 6) [rad]
    q: Array  # (n, 6) measured [rad]
    reading: Array  # (n, 6) raw wrench [N, Nm]
    mounting: Mounting

    @property
    def seconds(self) -> float:
        return len(self.q) * self.period

    @cached_property
    def kinematics(self) -> Kinematics:
        return Kinematics.of(self.model, self.q)

    @cached_property
    def sensor_pose(self) -> tuple[Array, Array]:
        """R_base_sensor (n, 3, 3) and the sensor's origin (n, 3) [m]."""
        R, p = self.kinematics.rotations[:, 6], self.kinematics.positions[:, 6]
        return R @ self.mounting.R_flange_sensor, p + R @ self.mounting.p_flange_sensor

    @cached_property
    def wrench(self) -> Array:
        """What the tool does to the wrist apart from its weight, about the sensor's origin, base axes (n, 6)."""
        m = self.mounting
        reading = m.sign * self.reading - m.bias
        R, _ = self.sensor_pose
        weight = np.einsum("nji,j->ni", R, m.weight_base)
        force, torque = reading[:, :3] - weight, reading[:, 3:] - np.cross(m.com, weight)
        return np.hstack([np.einsum("nij,nj->ni", R, force), np.einsum("nij,nj->ni", R, torque)])

    @cached_property
    def load(self) -> Array:
        """Torque of that wrench on the joints (n, 6) [Nm]."""
        return joint_torques(self.kinematics, self.sensor_pose[1], self.wrench)

    def carried(self, qdd: Array) -> Array:
        """Torque that accelerates the links, without rotors and tool (n, 6) [Nm]. The arm makes up for the tool's
        centrifugal force, which the sensor reads as well, so it is taken off."""
        R, p = self.sensor_pose
        com = p + R @ self.mounting.com
        arms = com[:, None] - self.kinematics.positions[:, :6]
        straight = np.einsum("njx,nj->nx", np.cross(self.kinematics.axes, arms), qdd)
        swing = self.mounting.mass * (smoothed(com, self.period, derivative=2) - straight)
        swung = joint_torques(self.kinematics, com, np.hstack([swing, np.zeros_like(swing)]))
        return np.asarray(link_torques(self.model, self.kinematics, qdd) - swung)

    @cached_property
    def inertia(self) -> Array:
        """M_jj of the links and of the tool as a point, in the middle of what was visited (6,) [kg m2]."""
        m = self.mounting
        middle = np.median(self.q, axis=0)
        return np.asarray(np.diag(inertia_matrix(self.model, middle, m.mass, m.p_flange_com)))
