"""The twin of an arm: the numbers that a recording has shown, for simulation and stability.

twin = Twin.load("twin.yaml")
World(robot_model(twin.robot), twin.tool(), environment, twin.servo(), twin.sensor())
minimum_damping(twin.loop(parameters, axis=2), 1e4)
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ur_admittance import given
from ur_admittance.analysis.axis_loop import Arm, Loop, loop_of
from ur_admittance.errors import CalibrationError
from ur_admittance.model import RobotModel, robot_model
from ur_admittance.model.frames import frame_with_z_along, rotation_from_rpy
from ur_admittance.params import Parameters
from ur_admittance.robots.simulated import FtSensor, Servo, Tool
from ur_admittance_lab.twin import twin_file as file
from ur_admittance_lab.twin.found import Finding
from ur_admittance_lab.twin.found.dynamics import inertia_matrix
from ur_admittance_lab.twin.found.filters import SERVO_STEP
from ur_admittance_lab.twin.found.servo import SPEED_AGE

Array = NDArray[np.float64]

MATCHED_HZ = 6.0  # where mass and damping of the arm are taken: contact bounces at 4 to 15 Hz
SHORTEST_LAG = 1e-4  # [s]
SIGNIFICANT = 2.0  # standard deviations from which on a friction is one


@dataclass(frozen=True)
class Twin:
    """What `ur-admittance identify` has found. ``values`` by name, see ``file.MEANINGS``."""

    robot: str
    logs: tuple[str, ...]
    seconds: float  # of work that was used
    pose: tuple[float, ...]  # [rad] middle of the work
    com: tuple[float, ...]  # of the tool, flange frame [m]
    tcp: tuple[float, ...]  # of the tool, flange frame [m, rad]
    values: dict[str, tuple[Finding, ...]]

    @classmethod
    def load(cls, path: str | Path) -> "Twin":
        """CalibrationError when the file is not a twin."""
        return cls(**file.load(given.file("twin", path, CalibrationError)))

    def save(self, path: str | Path) -> None:
        file.save(vars(self), Path(path))

    def value(self, name: str) -> float:
        return self.values[name][0].value

    def vector(self, name: str) -> Array:
        """Of a number that each joint has (6,)."""
        return np.array([finding.value for finding in self.values[name]])

    @property
    def response_time(self) -> float:
        """Delay and lag [s]: the controller's robot.response_time."""
        return self.value("delay") + self.value("lag")

    @cached_property
    def model(self) -> RobotModel:
        return robot_model(self.robot)

    # for the simulation

    def servo(self) -> Servo:
        """The simulation delays by whole steps of 1 ms. What is left over, of the sensor's delay too, goes into the
        lag: the loop is as late as it was found to be."""
        rest = self.value("delay") - _steps(self.value("delay"))
        rest += self.value("sensor_delay") - _steps(self.value("sensor_delay"))
        lag = max(self.value("lag") + rest, SHORTEST_LAG)
        return Servo(
            delay=_steps(self.value("delay")),
            lag_hz=1.0 / (2.0 * math.pi * lag),
            stiffness=_six(self.vector("stiffness")),
            damping_ratio=self.value("damping_ratio"),
            friction=_six(self.friction),
            armature=_six(self.armature),
        )

    def sensor(self) -> FtSensor:
        """At the flange, in its axes, without bias."""
        return FtSensor(
            noise_force=self.value("noise_force"),
            noise_torque=self.value("noise_torque"),
            delay=_steps(self.value("sensor_delay")),
        )

    def tool(self) -> Tool:
        rotation = tuple(_three(row) for row in rotation_from_rpy(self.tcp[3:]))
        return Tool(mass=self.value("tool_mass"), com=_three(self.com), tcp=_three(self.tcp[:3]), tcp_rotation=rotation)

    def parameters(self) -> dict[str, Any]:
        """What the controller should know of this arm, by dotted name."""
        return self.tool().parameters() | {"robot.response_time": self.response_time}

    # for the stability of contact

    def loop(self, parameters: Parameters, axis: int = 2, arm: Arm | None = None) -> Loop:
        """One translation axis with this arm. A late sensor is as bad as a late robot: its delay counts as one."""
        delay = self.value("delay") + max(self.value("sensor_delay"), 0.0) + SPEED_AGE
        direction = np.eye(3)[axis]
        loop = loop_of(parameters, axis, arm or self.arm(direction), delay, self.value("lag"))
        return replace(loop, tool_mass=self.value("tool_mass"))

    def arm(self, direction: ArrayLike = (0.0, 0.0, 1.0), q: ArrayLike | None = None, sliding: bool = False) -> Arm:
        """The servoed arm along a direction of the base, in the pose ``q`` [rad] (default: the middle of the work).

        sliding: the tool may move sideways on the surface; otherwise it sticks, which makes the arm stiffer.
        K: force over deflection at rest. M and C: from how the tool follows its command at MATCHED_HZ, F = x / y:
            F / (1 - F) s^2 = (C s + K) / M"""
        angles = np.array(self.pose if q is None else q, dtype=float)
        n = np.asarray(direction, dtype=float) / np.linalg.norm(direction)
        omega = 2.0 * math.pi * MATCHED_HZ
        _, yielding = self._motion(angles, n, 0.0, sliding)
        follow, _ = self._motion(angles, n, 1j * omega, sliding)
        stiffness = 1.0 / yielding.real
        ratio = follow / (1.0 - follow) * -(omega**2)
        mass = stiffness / ratio.real
        return Arm(stiffness, mass, mass * ratio.imag / omega / (2.0 * math.sqrt(stiffness * mass)))

    def _motion(self, q: Array, n: Array, s: complex, sliding: bool) -> tuple[complex, complex]:
        """Along n: motion over commanded motion, and over force [m/N].
        (M s^2 + kd s + kp) q = (kd s + kp) y + J^T f;  speeds that are SPEED_AGE late take inertia away."""
        J, kd, kp = self._jacobian(q), self.damping, self.vector("stiffness")
        M = self._inertia(q) - np.diag(SPEED_AGE * kd)
        turning = self.model.jacobian(q)[3:]
        y = np.linalg.pinv(np.vstack([J, turning])) @ np.concatenate([n, np.zeros(3)])
        moved = np.linalg.solve(
            M * s**2 + np.diag(kd * s + kp), np.column_stack([(kd * s + kp) * y, J.T]).astype(complex)
        )
        axes = frame_with_z_along(n).T  # two directions along the surface, then n
        follow, yielding = axes @ J @ moved[:, 0], axes @ J @ moved[:, 1:] @ axes.T
        held = np.zeros(2) if sliding else np.linalg.solve(yielding[:2, :2].T, yielding[2, :2])
        return complex(follow[2] - held @ follow[:2]), complex(yielding[2, 2] - held @ yielding[:2, 2])

    def friction_at_tool(self) -> Array:
        """Force along x, y, z of the base that joint friction takes (3,) [N]: F v = sum friction_j |qd_j|."""
        J = np.vstack([self._jacobian(np.array(self.pose)), self.model.jacobian(self.pose)[3:]])
        speeds = np.linalg.pinv(J)[:, :3]  # (6, 3) of a tool that moves with 1 m/s and does not turn
        return np.asarray(self.friction @ np.abs(speeds))

    @property
    def friction(self) -> Array:
        """Of the joints (6,) [Nm], 0 where it is not more than the uncertainty."""
        rows = self.values["friction"]
        return np.array([row.value if row.value > SIGNIFICANT * row.deviation else 0.0 for row in rows])

    @property
    def armature(self) -> Array:
        """Rotor inertia (6,) [kg m2]."""
        return np.asarray(self.value("rotors") * Servo().armature_of(self.model))

    @property
    def damping(self) -> Array:
        """kd of the joints (6,) [Nms/rad]."""
        inertia = np.diag(self._inertia(self.model.home))
        return np.asarray(2.0 * self.value("damping_ratio") * np.sqrt(self.vector("stiffness") * inertia))

    def _inertia(self, q: Array) -> Array:
        tool = self.tool()
        M = inertia_matrix(self.model, q, tool.mass, np.array(tool.com), tool.inertia_matrix())
        return np.asarray(M + np.diag(self.armature))

    def _jacobian(self, q: Array) -> Array:
        """Of the TCP's velocity (3, 6), base axes."""
        J, lever = self.model.jacobian(q), self.model.forward(q)[0] @ np.array(self.tcp[:3])
        return np.asarray(J[:3] + np.cross(J[3:].T, lever).T)


def _steps(seconds: float) -> float:
    return SERVO_STEP * max(0, round(seconds / SERVO_STEP))


def _three(values: ArrayLike) -> tuple[float, float, float]:
    x, y, z = np.asarray(values, dtype=float).tolist()
    return x, y, z


def _six(values: Array) -> tuple[float, float, float, float, float, float]:
    a, b, c, d, e, f = values.tolist()
    return a, b, c, d, e, f
