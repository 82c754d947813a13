"""What the emulated arm can be told to do: speedj, speedl, servoj, movej, movel, stopj, stopl.

Each motion moves ``arm.q_set`` on by one cycle. ``dt`` is the cycle time times the speed scaling, so that the speed
slider stretches time as it does on the robot; stops are never stretched.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ur_admittance.runtime.braking import slow_down
from ur_admittance_lab.emulator.emulated_arm import Arm, Motion
from ur_admittance_lab.emulator.motion_limits import PATH_CHECK, SINGULARITY, Cause, ProgramError, check_joints
from ur_admittance_lab.emulator.ur_frames import matrix_of, vector_of

Array = NDArray[np.float64]

SERVO_ACCELERATION = 40.0  # [rad/s2] the arm's own limit for a servoj step


def _ramp(now: Array, wanted: Array, largest: float) -> Array:
    """``now`` moved towards ``wanted`` along a straight line, the leading axis by at most ``largest``."""
    step = wanted - now
    size = float(np.abs(step).max())
    return wanted.copy() if size <= largest else now + step * (largest / size)


@dataclass
class SpeedJ(Motion):
    """speedj(qd, a): the leading axis accelerates with ``acceleration`` [rad/s2]; then holds that speed."""

    qd: Array
    acceleration: float

    def advance(self, arm: Arm, dt: float) -> None:
        arm.qd_set[:] = _ramp(arm.qd_set, self.qd, self.acceleration * dt)
        arm.q_set += arm.qd_set * dt


@dataclass
class SpeedL(Motion):
    """speedl(twist, a) of the TCP, UR base axes."""

    twist: Array
    acceleration: float
    now: Array | None = None  # the twist that the arm is told; None: not begun

    def advance(self, arm: Arm, dt: float) -> None:
        before = arm.commanded.tcp_speed(arm.qd_set) if self.now is None else self.now
        self.now = _ramp(before, self.twist, self.acceleration * dt)
        arm.qd_set[:] = arm.commanded.joint_speed(self.now)
        arm.q_set += arm.qd_set * dt


@dataclass
class ServoJ(Motion):
    """servoj(q, lookahead): first-order approach with the time constant ``lookahead``, so a ramp is followed that late.

    A user measured 34 ms on a UR10e with a lookahead of 30 ms. A target so far away that a joint would have to exceed
    its speed limit is a sudden change, which stops a robot (C204A1).
    """

    q: Array
    lookahead: float = 0.1

    def advance(self, arm: Arm, dt: float) -> None:
        wanted = (self.q - arm.q_set) / max(self.lookahead, arm.period)
        if (np.abs(wanted) > arm.model.velocity).any():
            i = int(np.argmax(np.abs(wanted) / arm.model.velocity))
            distance = abs(self.q[i] - arm.q_set[i])
            text = f"sudden change in target position: joint {i} is {distance:.3f} rad away"
            self.problem = Cause(text, PATH_CHECK, 1)
            return
        arm.qd_set[:] = _ramp(arm.qd_set, wanted, SERVO_ACCELERATION * dt)
        arm.q_set += arm.qd_set * dt


@dataclass
class Stop(Motion):
    """stopj(a), and stopl, a paused or ended program, a protective stop: all joints slow down together."""

    deceleration: float  # [rad/s2] of the fastest joint
    scaled = False

    def advance(self, arm: Arm, dt: float) -> None:
        slow_down(arm.qd_set, self.deceleration * dt)
        arm.q_set += arm.qd_set * dt
        self.done = not arm.qd_set.any()


def _trapezoid(distance: float, speed: float, acceleration: float, t: float) -> tuple[float, bool]:
    """Share 0..1 of a straight line covered at time t, and whether it is over."""
    if distance <= 0.0:
        return 1.0, True
    speed = min(speed, float(np.sqrt(distance * acceleration)))
    ramp = speed / acceleration
    total = distance / speed + ramp
    if t >= total:
        return 1.0, True
    if t < ramp:
        covered = 0.5 * acceleration * t * t
    elif t < total - ramp:
        covered = speed * (t - 0.5 * ramp)
    else:
        covered = distance - 0.5 * acceleration * (total - t) ** 2
    return covered / distance, False


@dataclass
class Move(Motion):
    """To ``target``, with a trapezoidal speed from rest to rest."""

    target: Array
    speed: float
    acceleration: float

    def __post_init__(self) -> None:
        self._t, self._distance = 0.0, -1.0  # [s], [m or rad]; not begun

    def begin(self, arm: Arm) -> float:
        """Remember the start; returns the distance that speed and acceleration refer to."""
        raise NotImplementedError

    def at(self, arm: Arm, share: float) -> Array | None:
        """Joint angles after a share 0..1 of the path; None: the arm cannot go there."""
        raise NotImplementedError

    def advance(self, arm: Arm, dt: float) -> None:
        if self._distance < 0.0:
            self._distance = self.begin(arm)
        self._t += dt
        share, self.done = _trapezoid(self._distance, self.speed, self.acceleration, self._t)
        q = self.at(arm, share)
        if q is None:
            self.problem, self.done = Cause("the arm cannot follow this straight line", SINGULARITY), False
            return
        arm.move_setpoint(q, dt)
        if self.done:
            arm.qd_set[:] = 0.0


class MoveJ(Move):
    """movej(q, a, v): straight line in joint space; speed and acceleration of the leading axis."""

    def begin(self, arm: Arm) -> float:
        self._start = arm.q_set.copy()
        return float(np.abs(self.target - self._start).max())

    def at(self, arm: Arm, share: float) -> Array | None:
        return np.asarray(self._start + share * (self.target - self._start))


class MoveL(Move):
    """movel(pose, a, v): straight line of the TCP, rotation about a fixed axis."""

    def begin(self, arm: Arm) -> float:
        start = arm.commanded.tcp_pose()
        self._p, self._R = start[:3], matrix_of(start[3:])
        self._line = self.target[:3] - self._p
        self._turn = vector_of(matrix_of(self.target[3:]) @ self._R.T)
        return max(float(np.linalg.norm(self._line)), 0.1 * float(np.linalg.norm(self._turn)))

    def at(self, arm: Arm, share: float) -> Array | None:
        turned = vector_of(matrix_of(share * self._turn) @ self._R)
        return arm.commanded.inverse(np.concatenate([self._p + share * self._line, turned]), arm.q_set)


def planned(arm: Arm, kind: str, target: Array, speed: float, acceleration: float) -> Move:
    """The move of movej ("j": joint angles) or movel ("l": pose of the TCP); ProgramError where the arm cannot go."""
    if not (speed > 0.0 and acceleration > 0.0):
        raise ProgramError(f"move{kind}: speed {speed:g} and acceleration {acceleration:g}: must be > 0")
    if kind == "j":
        check_joints(arm.model, target)
        return MoveJ(target, speed, acceleration)
    joints_for(arm, target, arm.q_set)
    return MoveL(target, speed, acceleration)


def joints_for(arm: Arm, pose: Array, near: Array) -> Array:
    """Joint angles that give the TCP this UR pose; ProgramError when it is out of reach."""
    q = arm.commanded.reach(pose, near)
    if q is None:
        where = ", ".join(f"{x:.3f}" for x in pose)
        raise ProgramError(f"get_inverse_kin: no inverse kinematics solution for p[{where}]")
    return q
