"""The simulated arm: a World behind the Robot protocol, in lock-step with the controller or with the clock.

Lock-step: every ``read`` but the first moves the physics on by one period, as fast as the machine can; the same seed
and commands give the same bytes. Real time: ``read`` moves the physics up to now.

For tests of faults: ``drop_wrench``, ``drop_joints``, ``corrupt``, ``freeze``, ``protective_stop``, and ``restore``.
"""

import math
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.records import Status
from ur_admittance.core.views import scalar, vector
from ur_admittance.errors import RobotError
from ur_admittance.runtime.clock import Clock, LockstepClock, RealTimeClock
from ur_admittance.runtime.robot import RobotInfo
from ur_admittance.simulation.world import World

WATCHDOG_S = 0.1  # without a command for this long the arm brakes by itself
BRAKING = 8.0  # [rad/s2] of the fastest joint; all joints slow down together
STANDSTILL = 1e-3  # [rad/s]
STOP_TIME_S = 3.0  # [s] enough from any joint's top speed
CATCH_UP_S = 0.1  # [s] a longer pause of the reader is skipped, not simulated


class SimulatedRobot:
    """A ``World`` that behaves like an arm with a controller box."""

    def __init__(
        self,
        world: World,
        period: float = 0.002,
        realtime: bool = False,
        mode: Literal["position", "velocity"] = "position",
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        if mode not in ("position", "velocity"):
            raise RobotError(f"mode = {mode!r}: must be 'position' or 'velocity'.")
        steps = period / world.physics_dt
        if steps < 0.5 or abs(steps - round(steps)) > 1e-6:
            raise RobotError(f"period = {period} s: must be a multiple of the physics step, {world.physics_dt} s.")
        self.world, self.period, self.realtime, self.mode = world, period, realtime, mode
        self._monotonic = monotonic
        self._sample: Any = None
        self._command: Any = None
        self._sent = np.array(world.q)
        self._rest = np.zeros(6)
        self._started = False
        self._origin = self._last_read = 0.0  # [s] monotonic clock
        self._ticks = 0
        self._external_status = 0
        self._corrupted: str = ""
        self.restore()

    # the protocol

    def connect(self) -> RobotInfo:
        model, rate = self.world.model, 1.0 / self.period
        pace = "in real time" if self.realtime else "in lock-step with the controller"
        self._hold()
        self._started = False
        return RobotInfo(
            name=f"simulated {model.name}",
            model=model,
            rate=rate,
            joint_names=model.joint_names,
            simulated=True,
            sentences=(f"A simulated {model.name} at {rate:g} Hz, {self.mode} commands, {pace}: nothing real moves.",),
        )

    def clock(self) -> Clock:
        return RealTimeClock(1.0 / self.period) if self.realtime else LockstepClock(1.0 / self.period)

    def read(self, sample: Any) -> None:
        if sample is not self._sample:
            self._bind(sample)
        since_state = 0.0
        if self.realtime:
            since_state = self._catch_up()
        elif self._started:
            self._advance()
            self._dt[0] = self.period
        else:
            self._started = True
            self._dt[0] = self.period
        self._stamp[0] = round(self.world.time * 1e9)
        self._status[0] = self._external_status
        self._fill(since_state)

    def write(self, command: Any) -> NDArray[np.float64]:
        if command is not self._command:
            self._command = command
            self._wanted = vector(command, "q" if self.mode == "position" else "qd")
        if self._frozen or self._external_status in (Status.PROTECTIVE_STOP, Status.EMERGENCY_STOP):
            return self._sent  # nothing gets through
        if not math.isfinite(self._wanted.dot(self._wanted)):
            self._external_status = int(Status.COMMAND_REJECTED)
            self._brake()
            return self._sent
        if self._external_status == Status.COMMAND_REJECTED:
            self._external_status = 0
        self._sent[:] = self._wanted
        self._driven, self._silence = True, 0.0
        return self._sent

    def stop(self) -> None:
        self._brake()
        end = self.world.time + STOP_TIME_S
        while self.world.time < end:
            self._advance()
            if self.realtime:
                time.sleep(self.period)
                self._origin = self._monotonic() - self._ticks * self.period
            speeds = self.world.qd
            if not self._braking.any() and max(speeds.max(), -speeds.min()) < STANDSTILL:
                return
        raise RobotError(f"the simulated arm still moves {STOP_TIME_S:g} s after the stop: something pushes it.")

    def zero_ft_sensor(self) -> None:
        self.world.zero_sensor()

    def __enter__(self) -> "SimulatedRobot":
        self.connect()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # what can go wrong

    def drop_wrench(self) -> None:
        """No new readings of the sensor: the last one stays and grows old."""
        self._wrench_lost = True

    def drop_joints(self) -> None:
        """No new joint states: the last one stays and grows old."""
        self._joints_lost = True

    def corrupt(self, field: Literal["q", "qd", "wrench"] = "wrench", value: float = math.nan) -> None:
        """The first number of that field reads ``value``."""
        self._corrupted, self._corrupt_value = field, value

    def freeze(self) -> None:
        """The connection hangs: all data grow old and no command gets through, so that the arm brakes by itself."""
        self._wrench_lost = self._joints_lost = self._frozen = True

    def protective_stop(self, status: Status = Status.PROTECTIVE_STOP) -> None:
        """The arm's own safety stops it; it takes no commands until ``restore``."""
        self._external_status = int(status)
        self._brake()

    def restore(self) -> None:
        """Everything works again."""
        self._wrench_lost = self._joints_lost = self._frozen = False
        self._corrupted, self._corrupt_value = "", math.nan
        self._joint_age = self._wrench_age = 0.0
        self._external_status = 0
        self._hold()

    @property
    def watchdog_tripped(self) -> bool:
        """True while the arm has braked because nobody commanded it."""
        return self._silence >= WATCHDOG_S

    # inside

    def _advance(self) -> None:
        """One period of physics under the last command, the brake, or the hold."""
        if self._driven:
            self._silence += self.period
            if self._silence >= WATCHDOG_S + 0.5 * self.period:
                self._brake(self._silence)
        if not self._driven:
            fastest = max(self._braking.max(), -self._braking.min())
            if fastest > 0.0:
                self._braking *= max(0.0, 1.0 - BRAKING * self.period / fastest)
            self.world.step(None, self._braking, self.period)
        elif self.mode == "position":
            self.world.step(self._sent, None, self.period)
        else:
            self.world.step(None, self._sent, self.period)
        self._ticks += 1
        self._joint_age = self._joint_age + self.period if self._joints_lost else 0.0
        self._wrench_age = self._wrench_age + self.period if self._wrench_lost else 0.0

    def _catch_up(self) -> float:
        """Physics up to the clock; returns how old the newest state is [s]."""
        now = self._monotonic()
        if not self._started:
            self._started, self._last_read = True, now - self.period
            self._origin = now - self._ticks * self.period
        behind = now - self._origin - self._ticks * self.period
        if behind > CATCH_UP_S:
            self._origin += behind - CATCH_UP_S
            behind = CATCH_UP_S
        for _ in range(int(behind / self.period + 1e-9)):
            self._advance()
        self._dt[0] = now - self._last_read
        self._last_read = now
        return max(0.0, now - self._origin - self._ticks * self.period)

    def _fill(self, since_state: float) -> None:
        world = self.world
        if not self._joints_lost:
            self._q[:] = world.q
            self._qd[:] = world.qd
        if not self._wrench_lost:
            self._wrench[:] = world.wrench
        self._ages[0][0] = self._joint_age + since_state
        self._ages[1][0] = self._wrench_age + since_state
        if self._corrupted:
            {"q": self._q, "qd": self._qd, "wrench": self._wrench}[self._corrupted][0] = self._corrupt_value

    def _brake(self, silence: float = 0.0) -> None:
        top = self.world.model.velocity
        self._braking = np.clip(self.world.qd, -top, top)
        self._driven, self._silence = False, silence

    def _hold(self) -> None:
        self._braking = self._rest.copy()
        self._driven, self._silence = False, 0.0

    def _bind(self, sample: Any) -> None:
        """Keep views of the fields: a field look-up in a record costs more than the copy."""
        self._sample = sample
        self._q, self._qd, self._wrench = (vector(sample, field) for field in ("q", "qd", "wrench"))
        self._dt, self._stamp = scalar(sample, "dt"), scalar(sample, "stamp_ns")
        self._status = scalar(sample, "external_status")
        self._ages = (scalar(sample, "joint_age"), scalar(sample, "wrench_age"))
