"""The emulated controller's kinematics: pose, speed and inverse of the flange or the TCP, in UR base axes."""

import itertools

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ur_admittance.core import spatial
from ur_admittance.core.chain import forward
from ur_admittance.model import RobotModel
from ur_admittance_lab.emulator.ur_frames import from_ur_pose, matrix_of, turned, ur_pose, vector_of

Array = NDArray[np.float64]

IK_STEPS = 60
IK_TOLERANCE = 1e-9  # [m, rad]
IK_DAMPING = 1e-4
POSTURES = tuple(itertools.product((0.0, np.pi), (1.5, -1.5), (-1.5, 1.5)))  # [rad] shoulder, elbow, wrist
IK_STEP_LIMIT = 0.3  # [rad] of the fastest joint in one Newton step


class Kinematics:
    """One arm and its TCP offset (position [m] and rotation vector [rad] in the flange frame)."""

    def __init__(self, model: RobotModel) -> None:
        self.model = model
        self._rotation, self._position = np.array(model.chain_rotation), np.array(model.chain_position)
        self.tcp = np.zeros(6)
        self.R_flange_tcp = np.eye(3)
        self.R, self.p, self.J = np.empty((3, 3)), np.empty(3), np.empty((6, 6))  # of the flange, in base_link
        self.update(model.home)

    def set_tcp(self, offset: ArrayLike) -> None:
        self.tcp = np.array(offset, dtype=float)
        self.R_flange_tcp = matrix_of(self.tcp[3:])

    def update(self, q: ArrayLike) -> None:
        """Flange pose and Jacobian at ``q``, for the properties below."""
        forward(self._rotation, self._position, np.ascontiguousarray(q, dtype=float), self.R, self.p, self.J)

    def lever(self) -> Array:
        """From the flange to the TCP, base_link axes (3,) [m]."""
        return np.asarray(self.R @ self.tcp[:3])

    def tcp_pose(self) -> Array:
        """UR pose of the TCP (6,)."""
        return ur_pose(self.R @ self.R_flange_tcp, self.p + self.lever())

    def tcp_pose_at(self, q: ArrayLike, tcp: Array | None = None) -> Array:
        """The same for other joint angles and perhaps another TCP; the arm of this object stays where it is."""
        offset = self.tcp if tcp is None else tcp
        R, p = self.model.forward(q)
        return ur_pose(R @ matrix_of(offset[3:]), p + R @ offset[:3])

    def flange_pose(self) -> Array:
        return ur_pose(self.R, self.p)

    def tcp_jacobian(self) -> Array:
        """twist of the TCP = J qd, base_link axes (6, 6)."""
        J: Array = self.J.copy()
        J[:3] += np.asarray(np.cross(J[3:].T, self.lever()).T)
        return np.asarray(J)

    def tcp_speed(self, qd: Array) -> Array:
        """UR twist of the TCP (6,) [m/s, rad/s]."""
        twist: Array = self.J @ qd
        twist[:3] += cross(twist[3:], self.lever())
        return turned(twist)

    def joint_speed(self, twist_ur: ArrayLike) -> Array:
        """Joint speeds that give the TCP this UR twist; damped near singular arms."""
        J = self.tcp_jacobian()
        twist = turned(twist_ur)
        return np.asarray(J.T @ np.linalg.solve(J @ J.T + IK_DAMPING**2 * np.eye(6), twist))

    def inverse(self, pose_ur: ArrayLike, q_near: ArrayLike) -> Array | None:
        """Joint angles (6,) near ``q_near`` that give the TCP this UR pose; None: none were found. Newton's method."""
        R_wanted, p_wanted = from_ur_pose(pose_ur)
        q, saved = np.array(q_near, dtype=float), (self.R.copy(), self.p.copy(), self.J.copy())
        found = None
        for _ in range(IK_STEPS):
            self.update(q)
            error = np.concatenate(
                [p_wanted - self.p - self.lever(), vector_of(R_wanted @ (self.R @ self.R_flange_tcp).T)]
            )
            if np.abs(error).max() < IK_TOLERANCE:
                found = q
                break
            step = self.joint_speed(turned(error))
            q = q + step * min(1.0, IK_STEP_LIMIT / max(float(np.abs(step).max()), 1e-12))
        self.R[:], self.p[:], self.J[:] = saved
        return found

    def reach(self, pose_ur: ArrayLike, q_near: ArrayLike) -> Array | None:
        """As ``inverse``, also for poses far from ``q_near``, by other postures of the arm; inside the joint limits."""
        near = np.array(q_near, dtype=float)
        _, p = from_ur_pose(pose_ur)
        pan, turn = np.arctan2(p[1], p[0]), 2.0 * np.pi
        postures = [np.array([pan + side, -1.5, elbow, -1.5, wrist, 0.0]) for side, elbow, wrist in POSTURES]
        for start in (near, *postures):
            found = self.inverse(pose_ur, start)
            if found is None:
                continue
            q = found + turn * np.round((near - found) / turn)
            q = np.where(q > self.model.upper, q - turn, np.where(q < self.model.lower, q + turn, q))
            if ((q >= self.model.lower) & (q <= self.model.upper)).all():
                return np.asarray(q)
        return None


def cross(a: Array, b: Array) -> Array:
    """a x b; ten times as fast as NumPy's for three numbers."""
    out = np.empty(3)
    spatial.cross(a, b, out)
    return out
