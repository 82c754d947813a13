"""The simulated arm: a World behind the Robot protocol, in lock-step with the controller or with the clock.

Lock-step: every ``read`` but the first moves the physics on by one period, as fast as the machine can; the same seed
and commands give the same bytes. Real time: ``read`` moves the physics up to now.

For tests of faults: ``drop_wrench``, ``drop_joints``, ``corrupt``, ``freeze``, ``protective_stop``, and ``restore``.
"""

import math
import time
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.records import STOPPED, Status
from ur_admittance.core.views import SampleFields, vector
from ur_admittance.errors import RobotError
from ur_admittance.runtime.braking import BRAKING, Watchdog, slow_down
from ur_admittance.runtime.clock import Clock, LockstepClock, RealTimeClock
from ur_admittance.runtime.robot import Robot, RobotInfo
from ur_admittance.simulation.world import World

STOP_TIME_S = 3.0  # [s] enough from any joint's top speed
CATCH_UP_S = 0.1  # [s] a longer pause of the reader is skipped, not simulated


class SimulatedRobot(Robot):
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
        self._fields: SampleFields | None = None
        self._command: Any = None
        self._sent = np.array(world.q)
        self._watchdog = Watchdog(period)
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
        fields = self._fields
        if fields is None or fields.sample is not sample:
            fields = self._fields = SampleFields(sample)
        dt, since_state = self.period, 0.0
        if self.realtime:
            dt, since_state = self._catch_up()
        elif self._started:
            self._advance()
        self._started = True
        fields.dt[0] = dt
        fields.stamp_ns[0] = round(self.world.time * 1e9)
        fields.external_status[0] = self._external_status
        self._fill(fields, since_state)

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
        self._driven = True
        self._watchdog.kick()
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
            if not self._braking.any() and max(speeds.max(), -speeds.min()) < STOPPED:
                return
        raise RobotError(f"the simulated arm is still moving {STOP_TIME_S:g} s after the stop: something pushes it.")

    def zero_ft_sensor(self) -> None:
        self.world.zero_sensor()

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
        """The connection hangs: all data grow old and no command gets through, so the arm brakes by itself."""
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
        """True after the arm has braked because no command came."""
        return self._watchdog.expired

    # inside

    def _advance(self) -> None:
        """One period of physics under the last command, the brake, or the hold."""
        if self._driven and self._watchdog.tick():
            self._brake()
        if not self._driven:
            slow_down(self._braking, BRAKING * self.period)
            self.world.step(None, self._braking, self.period)
        elif self.mode == "position":
            self.world.step(self._sent, None, self.period)
        else:
            self.world.step(None, self._sent, self.period)
        self._ticks += 1
        self._joint_age = self._joint_age + self.period if self._joints_lost else 0.0
        self._wrench_age = self._wrench_age + self.period if self._wrench_lost else 0.0

    def _catch_up(self) -> tuple[float, float]:
        """Physics up to the clock; returns the time since the last read and the age of the newest state [s]."""
        now = self._monotonic()
        if not self._started:
            self._last_read = now - self.period
            self._origin = now - self._ticks * self.period
        behind = now - self._origin - self._ticks * self.period
        if behind > CATCH_UP_S:
            self._origin += behind - CATCH_UP_S
            behind = CATCH_UP_S
        for _ in range(int(behind / self.period + 1e-9)):
            self._advance()
        dt, self._last_read = now - self._last_read, now
        return dt, max(0.0, now - self._origin - self._ticks * self.period)

    def _fill(self, fields: SampleFields, since_state: float) -> None:
        world = self.world
        if not self._joints_lost:
            fields.q[:] = world.q
            fields.qd[:] = world.qd
        if not self._wrench_lost:
            fields.wrench[:] = world.wrench
        fields.joint_age[0] = self._joint_age + since_state
        fields.wrench_age[0] = self._wrench_age + since_state
        if self._corrupted:
            getattr(fields, self._corrupted)[0] = self._corrupt_value

    def _brake(self) -> None:
        top = self.world.model.velocity
        self._braking, self._driven = np.clip(self.world.qd, -top, top), False

    def _hold(self) -> None:
        self._braking, self._driven = np.zeros(6), False
        self._watchdog.kick()
