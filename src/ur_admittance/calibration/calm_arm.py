"""Driving the arm calmly from pose to pose, waiting until it stands still, and reading the sensor there.

    arm = CalmArm(robot, model, period)
    arm.move(q)
    reading = arm.read_at_rest()

Every cycle reads and writes once, through the same protocol as the control loop. Anything unusual raises: leaving the
robot's `with` block then stops it.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.calibration.fit import Array, Reading
from ur_admittance.control import zeroing
from ur_admittance.core.faults import sentence
from ur_admittance.core.records import COMMAND, SAMPLE, Mode, Status, new
from ur_admittance.errors import CalibrationError, RobotError
from ur_admittance.model import RobotModel
from ur_admittance.runtime.own_commands import OwnCommands

CALM_SPEED = 0.5  # [rad/s] fastest joint of a move: a UR5e's tool turns by 30 degrees per second
CALM_ACCELERATION = 1.0  # [rad/s2]
PEAK_SPEED, PEAK_ACCELERATION = 15.0 / 8.0, 10.0 / 3.0**0.5  # of the quintic s(t) over unit distance and time
COLLISION = 60.0  # [N] more than turning a payload's weight explains, for arms without a known payload
CORRECTION, CLOSE = 1.0, 5e-4  # [1/s], [rad] of the position when speeds are commanded
LAG = 0.15  # [rad] command minus measurement: blocked
OLD = 0.1  # [s]

SETTLE = 0.3  # [s] after a move, before any reading counts
SAMPLING = 1.0  # [s]
PATIENCE = 8.0  # [s] to come to rest
CREEPING = 5e-4  # [rad] change of a joint angle over the sampling time
TIMES_NOISE = 4.0  # the halves of a sampling time differ by less than this times their standard error, plus
TREND_FORCE, TREND_TORQUE = 0.1, 0.01  # [N], [Nm]
TOUCHED = "is something touching the tool?"


class Arm(Protocol):
    """The part of a robot that is needed here."""

    def read(self, sample: Any) -> None: ...
    def write(self, command: Any) -> Any: ...


class CalmArm:
    """Motions and readings of one arm. ``wait`` paces the cycles of a real robot (``clock.wait``)."""

    def __init__(
        self,
        robot: Arm,
        model: RobotModel,
        period: float,
        wait: Callable[[], object] = lambda: None,
        commanding: bool = True,
    ) -> None:
        self.robot, self.model, self.period = robot, model, period
        self._wait, self._commanding = wait, commanding
        self._sample, self._command = new(SAMPLE), new(COMMAND)
        self.sample: np.void = self._sample[0]
        self.command: np.void = self._command[0]
        self._commands = OwnCommands(model.velocity)
        self._target: Array | None = None
        self.watch: Callable[[], None] = lambda: None  # called after every cycle that commands
        self.speed = np.minimum(CALM_SPEED, 0.25 * model.velocity)  # (6,) [rad/s]
        payload = model.payload_kg
        self.collision = COLLISION if payload is None else max(COLLISION, 2.0 * 9.81 * payload)  # [N]

    def cycle(self, q: Array | None = None, qd: Array | None = None) -> np.void:
        """One period: read, then command ``q`` (default: hold). Returns the sample."""
        self._read()
        if q is not None:
            self._target = np.array(q)
        if self._commanding:
            self.command["stamp_ns"] = self.sample["stamp_ns"]
            self.command["mode"] = Mode.ACTIVE
            self.command["q"] = self.q
            self.command["qd"] = self._speed(qd)
            self._commands.fit(self.sample, self.command)
            self.robot.write(self.command)
            self.watch()
        return self.sample

    def _read(self) -> None:
        self._wait()
        self.sample["external_status"] = 0
        self.robot.read(self.sample)
        self._check()
        if self._target is None:
            self._target = np.array(self.sample["q"])

    def _speed(self, qd: Array | None) -> Array:
        """For arms that are driven by speed: the planned speed, plus a gentle correction of the position error."""
        assert self._target is not None
        off = self._target - self.sample["q"]
        correction = np.where(np.abs(off) > CLOSE, CORRECTION * off, 0.0)
        return np.asarray(correction if qd is None else qd + correction)

    def _check(self) -> None:
        status = int(self.sample["external_status"])
        if status != Status.OK:
            raise RobotError(f"stopped: {sentence(status)}")
        for age, what in (("joint_age", "joint state"), ("wrench_age", "wrench")):
            if not self.sample[age] <= OLD:
                raise RobotError(
                    f"stopped: no {what} for {1e3 * float(self.sample[age]):.0f} ms (limit {1e3 * OLD:.0f} ms)."
                )
        if not (np.isfinite(self.sample["q"]).all() and np.isfinite(self.sample["wrench"]).all()):
            raise RobotError("stopped: joint angles or wrench are not finite numbers.")

    @property
    def q(self) -> Array:
        """Commanded joint angles (6,) [rad]; before the first command, the measured ones. Sends nothing: the first
        command arms a real robot's watchdog, and choosing poses takes longer than that."""
        if self._target is None:
            self._read()
        assert self._target is not None
        return np.array(self._target)

    def move(self, goal: ArrayLike) -> None:
        """Straight in joint space on a quintic in time: no jump in speed or acceleration, calm all the way."""
        start, end = self.q, np.asarray(goal, dtype=float)
        distance = np.abs(end - start)
        duration = max(
            PEAK_SPEED * float((distance / self.speed).max()),
            float(np.sqrt(PEAK_ACCELERATION * distance.max() / CALM_ACCELERATION)),
        )
        first_force = np.array(self.sample["wrench"][:3])
        elapsed = 0.0
        while elapsed < duration:
            # the robot's own time: with its speed slider at 30 % everything takes that much longer
            elapsed = min(duration, elapsed + min(float(self.sample["dt"]), 2.0 * self.period))
            s = elapsed / duration
            blend, rate = s**3 * (10.0 - 15.0 * s + 6.0 * s**2), 30.0 * s**2 * (1.0 - s) ** 2
            self.cycle(start + blend * (end - start), rate * (end - start) / duration)
            lag = float(np.abs(self.sample["q"] - self._target).max())
            if lag > LAG:
                raise RobotError(
                    f"stopped: a joint is {lag:.2f} rad behind its command (limit {LAG} rad); is it blocked?"
                )
            force = float(np.linalg.norm(self.sample["wrench"][:3] - first_force))
            if force > self.collision:
                raise RobotError(
                    f"stopped: the force changed by {force:.0f} N during the move (limit {self.collision:.0f} N); "
                    "did the tool hit something?"
                )

    def record(self, seconds: float) -> tuple[Array, Array, Array]:
        """Hold and record: q, qd, raw wrench, each (n, 6)."""
        n = max(2, round(seconds / self.period))
        q, qd, wrench = np.empty((n, 6)), np.empty((n, 6)), np.empty((n, 6))
        for k in range(n):
            sample = self.cycle()
            q[k], qd[k], wrench[k] = sample["q"], sample["qd"], sample["wrench"]
        return q, qd, wrench

    def read_at_rest(self, seconds: float = SAMPLING, patience: float = PATIENCE) -> Reading:
        """Wait until still, then average. CalibrationError when the arm or the reading does not come to rest."""
        self.record(SETTLE)
        left = patience
        while True:
            q, qd, wrench = self.record(seconds)
            reason = unrest(q, qd, wrench)
            if not reason:
                break
            left -= seconds
            if left < 0.0:
                raise CalibrationError(f"no reading at rest after {patience:.0f} s: {reason}")
        where = q.mean(axis=0)
        R_base_flange = self.model.forward(where)[0]
        return Reading(where, R_base_flange, wrench.mean(axis=0), wrench.std(axis=0), len(wrench))


def unrest(q: Array, qd: Array, wrench: Array) -> str:
    """Why these samples (n, 6) are not a reading at rest; empty: they are."""
    spread = wrench.std(axis=0)
    reason = zeroing.unrest(float(np.abs(qd).max()), spread)
    if reason:
        return f"{reason}."
    creep = float(np.ptp(q, axis=0).max())
    if creep > CREEPING:
        return f"the arm is moving (by {1e3 * creep:.2f} mrad while sampling, allowed {1e3 * CREEPING:.1f} mrad)."
    half = len(wrench) // 2
    trend = wrench[half:].mean(axis=0) - wrench[:half].mean(axis=0)
    for part, floor, unit in ((slice(0, 3), TREND_FORCE, "N"), (slice(3, 6), TREND_TORQUE, "Nm")):
        wander = float(np.linalg.norm(trend[part]))
        allowed = floor + TIMES_NOISE * float(spread[part].max()) * np.sqrt(2.0 / half)
        if wander > allowed:
            return f"the reading drifts by {wander:.3g} {unit} (allowed {allowed:.2g} {unit}); {TOUCHED}"
    return ""
