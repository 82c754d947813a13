"""Kinematics and inertia of an arm for many joint angles at once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ur_admittance.model import RobotModel

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Kinematics:
    """Poses of the six link frames and, last, of the flange, in base."""

    rotations: Array  # (n, 7, 3, 3)
    positions: Array  # (n, 7, 3) [m]

    @property
    def axes(self) -> Array:
        """Joint axes (n, 6, 3)."""
        return self.rotations[:, :6, :, 2]

    @classmethod
    def of(cls, model: RobotModel, q: Array) -> "Kinematics":
        """At the angles q (n, 6) [rad]: T_base_flange = X0 Rz(q0) X1 Rz(q1) ... X6."""
        n = len(q)
        rotations, positions = np.empty((n, 7, 3, 3)), np.empty((n, 7, 3))
        R, p = np.tile(np.eye(3), (n, 1, 1)), np.zeros((n, 3))
        for i in range(7):
            p = p + R @ model.chain_position[i]
            R = R @ model.chain_rotation[i]
            if i < 6:
                R = R @ _turns_about_z(q[:, i])
            rotations[:, i], positions[:, i] = R, p
        return cls(rotations, positions)


def joint_torques(at: Kinematics, point: Array, wrench: Array) -> Array:
    """J^T w (n, 6) [Nm] of wrenches (n, 6) about the points (n, 3), base axes."""
    return _torques(at.axes, point[:, None] - at.positions[:, :6], wrench[:, :3], wrench[:, 3:])


def link_torques(model: RobotModel, at: Kinematics, qdd: Array) -> Array:
    """M(q) qdd (n, 6) [Nm] of the links alone: no rotors, no tool, no gravity, no Coriolis."""
    torque = np.zeros_like(qdd)
    for i, link in enumerate(model.links):
        R, joints = at.rotations[:, i], slice(0, i + 1)
        com = at.positions[:, i] + R @ link.com
        axes, arms = at.axes[:, joints], com[:, None] - at.positions[:, joints]
        turning = np.einsum("njx,nj->nx", axes, qdd[:, joints])
        moving = np.einsum("njx,nj->nx", np.cross(axes, arms), qdd[:, joints])
        inertia = R @ link.inertia @ R.transpose(0, 2, 1)
        moment = np.einsum("nxy,ny->nx", inertia, turning)
        torque[:, joints] += _torques(axes, arms, link.mass * moving, moment)
    return torque


def inertia_matrix(model: RobotModel, q: Array, mass: float, com: Array, inertia: Array | None = None) -> Array:
    """M(q) (6, 6) [kg m2] of the links and a tool, without rotors. com: of the tool in the flange frame [m]; inertia:
    about it, flange axes [kg m2], None: that of a point."""
    at = Kinematics.of(model, np.tile(q, (6, 1)))
    R = at.rotations[0, 6]
    moving = np.cross(at.axes[0], at.positions[0, 6] + R @ com - at.positions[0, :6])  # (6, 3)
    turning = at.axes[0] @ R
    tensor = np.zeros((3, 3)) if inertia is None else inertia
    return np.asarray(link_torques(model, at, np.eye(6)) + mass * moving @ moving.T + turning @ tensor @ turning.T)


def _torques(axes: Array, arms: Array, force: Array, moment: Array) -> Array:
    """About each axis, of a force at the end of its arm and a moment."""
    return np.asarray(np.sum(axes * (np.cross(arms, force[:, None]) + moment[:, None]), axis=2))


def _turns_about_z(angles: Array) -> Array:
    turns = np.zeros((len(angles), 3, 3))
    c, s = np.cos(angles), np.sin(angles)
    turns[:, 0, 0], turns[:, 0, 1], turns[:, 1, 0], turns[:, 1, 1], turns[:, 2, 2] = c, -s, s, c, 1.0
    return turns
