"""The emulated arm: motion commands in, joint state and wrenches with the conventions of a UR out."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ur_admittance.robots.simulated import World
from ur_admittance_lab.emulator.emulated_kinematics import Kinematics, cross
from ur_admittance_lab.emulator.motion_limits import Cause, check_payload, check_tcp
from ur_admittance_lab.emulator.ur_frames import turned

Array = NDArray[np.float64]

STANDSTILL = 2e-3  # [rad/s] of the measured joints
ZERO_TIME = 0.05  # [s] over which zeroing averages


class Motion:
    """What the arm is told to do (motions.py): one cycle moves its set-point on."""

    scaled = True  # by the speed slider
    done = False
    problem: Cause | None = None  # why a robot would not go on with it: a protective stop

    def advance(self, arm: "Arm", dt: float) -> None:
        raise NotImplementedError


class Hold(Motion):
    scaled, done = False, True

    def advance(self, arm: "Arm", dt: float) -> None:
        arm.qd_set[:] = 0.0


class Arm:
    """A World behind a motion generator. Forces: ``raw`` in flange axes with the weight of the tool in it,
    ``tcp_force`` in UR base axes, payload removed, about the flange (e-Series) or about the TCP (CB3)."""

    def __init__(self, world: World, period: float, about_tcp: bool = False) -> None:
        self.world, self.period, self.about_tcp = world, period, about_tcp
        self.model = world.model
        self.q_set = np.array(world.q)
        self.qd_set = np.zeros(6)  # before speed scaling
        self.qdd_set = np.zeros(6)
        self.motion: Motion = Hold()
        self.scaling = 1.0
        self.actual, self.commanded = Kinematics(self.model), Kinematics(self.model)
        self.payload, self.cog = world.tool.mass, np.array(world.tool.com)
        self.payload_inertia = np.zeros(6)
        self._gravity = np.array(world.gravity)  # [m/s2] base_link axes
        self._zero = np.zeros(6)  # flange axes
        self._mean = np.zeros(6)
        self.raw, self.tcp_force = np.zeros(6), np.zeros(6)
        self.travel = 0.0  # [m] distance covered by the flange since the start
        self._p_before: Array | None = None
        self._sense()
        self._mean[:] = self._compensated()

    def reset(self) -> None:
        """Home, at rest, sensor not zeroed; payload and TCP stay."""
        self.world.reset()
        self.motion, self.scaling = Hold(), 1.0
        self.q_set[:] = self.world.q
        self.qd_set[:] = self.qdd_set[:] = self._zero[:] = 0.0
        self._p_before = None
        self._sense()
        self._mean[:] = self._compensated()

    # settings

    def set_tcp(self, offset: ArrayLike) -> None:
        check_tcp(np.asarray(offset, dtype=float))
        self.actual.set_tcp(offset)
        self.commanded.set_tcp(offset)

    def set_payload(self, mass: float, cog: ArrayLike | None = None) -> None:
        """What the arm believes it carries: its wrench and its servo compensate for it."""
        cog = self.cog if cog is None else np.array(cog, dtype=float)
        check_payload(self.model, mass, cog)
        self.payload, self.cog = mass, cog

    def zero_ft_sensor(self) -> None:
        """Subtract the present reading from all later ones, in flange axes."""
        self._zero += self._mean
        self._mean[:] = 0.0

    # motion

    def start(self, motion: Motion) -> None:
        if self.motion.scaled and not motion.scaled:
            self.qd_set *= self.scaling  # a stop begins with the true speed
        elif motion.scaled and not self.motion.scaled and self.scaling > 0.0:
            self.qd_set /= self.scaling
        self.motion = motion

    def move_setpoint(self, q: Array, dt: float) -> None:
        if dt > 0.0:
            self.qd_set[:] = (q - self.q_set) / dt
        self.q_set[:] = q

    def settle(self) -> None:
        """The set-point becomes the place where the arm stands: after a stop a robot's target is its place."""
        self.q_set[:] = self.world.q

    def step(self, scaling: float) -> None:
        """One cycle."""
        before = self.target_speed.copy()
        self.scaling = scaling
        self.motion.advance(self, self.period * scaling if self.motion.scaled else self.period)
        if self.motion.done and not isinstance(self.motion, Hold):
            self.motion = Hold()
        self.qdd_set = (self.target_speed - before) / self.period
        self.world.step(self.q_set, None, self.period)
        self._sense()

    @property
    def standing(self) -> bool:
        return not self.qd_set.any() and float(np.abs(self.world.qd).max()) < STANDSTILL

    @property
    def target_speed(self) -> Array:
        """Commanded joint speeds as they really are, after scaling (6,) [rad/s]."""
        return np.asarray(self.qd_set * self.scaling) if self.motion.scaled else self.qd_set

    @property
    def following_error(self) -> float:
        """Largest distance of a joint from its set-point [rad]."""
        return float(np.abs(self.q_set - self.world.q).max())

    @property
    def last_to_follow(self) -> int:
        """The joint that is farthest from its set-point: a robot names the one that detected a collision."""
        return int(np.argmax(np.abs(self.q_set - self.world.q)))

    # what it feels

    def _compensated(self) -> Array:
        """Reading minus weight of the configured payload, flange axes."""
        weight: Array = self.actual.R.T @ (self.payload * self._gravity)
        wrench = self.raw.copy()
        wrench[:3] -= weight
        wrench[3:] -= cross(self.cog, weight)
        return np.asarray(wrench)

    def _sense(self) -> None:
        self.actual.update(self.world.q)
        self.commanded.update(self.q_set)
        if self._p_before is not None:
            self.travel += float(np.linalg.norm(self.actual.p - self._p_before))
        self._p_before = self.actual.p.copy()
        self.raw[:] = self.world.wrench
        wrench = self._compensated() - self._zero
        self._mean += min(1.0, self.period / ZERO_TIME) * (wrench - self._mean)
        if self.about_tcp:
            wrench[3:] -= cross(self.actual.tcp[:3], wrench[:3])
        R = self.actual.R
        self.tcp_force = turned(np.concatenate([R @ wrench[:3], R @ wrench[3:]]))
