"""The simulated arm: a World behind the Robot protocol, in lock-step with the controller or with the clock.

Lock-step: every ``read`` but the first moves the physics on by one period, as fast as the machine can; the same seed
and commands give the same bytes. Real time: ``read`` moves the physics up to now.

For tests of faults: ``drop_wrench``, ``drop_joints``, ``corrupt``, ``freeze``, ``protective_stop``, and ``restore``;
``faults.begin`` and ``world.second.faults.begin`` for those of the readings of a force sensor.
"""

import math
import time
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ur_admittance import given
from ur_admittance.core.records import STOPPED, Status, new
from ur_admittance.core.views import vector, whole
from ur_admittance.errors import RobotError
from ur_admittance.model import RobotModel
from ur_admittance.params.parameters import FIRST_INPUT
from ur_admittance.robots.simulated.kernels import controller_box as kernels
from ur_admittance.robots.simulated.second import SensorFault
from ur_admittance.robots.simulated.world import World
from ur_admittance.runtime.clock import Clock, LockstepClock, RealTimeClock
from ur_admittance.runtime.interfaces import Robot, RobotInfo

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
        """period of a cycle [s], a multiple of the world's physics_dt. realtime: at the pace of the clock, not in
        lock-step with the controller. mode: of the commands. monotonic: that clock [s]."""
        if mode not in ("position", "velocity"):
            raise RobotError(f"mode = {mode!r}: must be 'position' or 'velocity'.")
        given.kind("world", world, World, "a World, such as World('ur5e')", RobotError)
        given.number("period", period, "s", above=True, error=RobotError)
        steps = period / world.physics_dt
        if steps < 0.5 or abs(steps - round(steps)) > 1e-6:
            raise RobotError(f"period = {period} s: must be a multiple of the physics step, {world.physics_dt} s.")
        self.period, self.realtime, self.mode = period, realtime, mode
        self._monotonic = monotonic
        self._target = np.array(world.q)
        self._arms = new_arm(world.model, period, mode)
        self._arm = self._arms[0]
        self.world = world
        self._sent: NDArray[np.float64] = self._arm["sent"]
        self.faults = SensorFault(world.seed)  # of the first sensor
        self.reads_second = world.second is not None
        self.enabling = tuple(FIRST_INPUT)
        self.outputs: list[tuple[float, str, bool]] = []  # what was set: time [s], name, on
        self._started = False
        self._origin = self._last_read = 0.0  # [s] monotonic clock
        self._ticks = 0

    @property
    def world(self) -> World:
        return self._world

    @world.setter
    def world(self, world: World) -> None:
        """The arm goes on in this one."""
        self._world = world
        self._sample: Any = None  # those that are bound to what follows of the old one
        self._command: Any = None
        self._aim = kernels.aim.on(self._arms, world.setpoint, world.qd, self._target)

    # the protocol

    def connect(self) -> RobotInfo:
        model, rate = self.world.model, 1.0 / self.period
        pace = "in real time" if self.realtime else "in lock-step with the controller"
        kernels.hold(self._arm)
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
        world = self.world
        if sample is not self._sample:
            self._sample, self._samples = sample, whole(sample)
            self._fill = kernels.fill.on(self._arms, world.q, world.qd, world.wrench, sample)
        dt, since_state = self.period, 0.0
        if self.realtime:
            dt, since_state = self._catch_up()
        elif self._started:
            self._advance()
        self._started = True
        stamp_ns = round(world.time * 1e9)
        self._fill(stamp_ns, dt, since_state)
        if self.faults.kind:
            ages, wrench = self._samples["wrench_age"], self._samples["wrench"][0]
            ages[0] = self.faults.apply(wrench, float(ages[0]), dt)
        if world.second is not None:
            wrench = self._samples["second_wrench"][0]
            wrench[:] = world.second.wrench
            self._samples["second_age"] = world.second.faults.apply(wrench, since_state, dt)
            self._samples["second_read"] = 1

    def write(self, command: Any) -> NDArray[np.float64]:
        if command is not self._command:
            self._command = command
            wanted = vector(command, "q" if self.mode == "position" else "qd")
            self._take = kernels.take.on(self._arms, self.world.qd, wanted)
        self._take()
        return self._sent

    def stop(self) -> None:
        kernels.brake(self._arm, self.world.qd)
        end = self.world.time + STOP_TIME_S
        while self.world.time < end:
            self._advance()
            if self.realtime:
                time.sleep(self.period)
                self._origin = self._monotonic() - self._ticks * self.period
            speeds = self.world.qd
            if not self._arm["braking"].any() and max(speeds.max(), -speeds.min()) < STOPPED:
                return
        raise RobotError(f"the simulated arm is still moving {STOP_TIME_S:g} s after the stop: something pushes it.")

    def zero_ft_sensor(self) -> None:
        self.world.zero_sensor()

    def set_digital_input(self, number: int, on: bool) -> None:
        """0 to 7: standard, 8 to 15: configurable, 16 and 17: of the tool."""
        bits = int(self._arm["digital_in"])
        self._arm["digital_in"] = bits & ~(1 << number) | on << number

    def open_outputs(self) -> Callable[[str, bool], object]:
        """For digital:0 to 7, configurable:0 to 7 and tool:0 and 1: remembered in `outputs`."""
        return lambda name, on: self.outputs.append((self.world.time, name, on))

    # what can go wrong

    def drop_wrench(self) -> None:
        """No new readings of the sensor: the last one stays and grows old."""
        self._arm["wrench_lost"] = 1

    def drop_joints(self) -> None:
        """No new joint states: the last one stays and grows old."""
        self._arm["joints_lost"] = 1

    def corrupt(self, field: Literal["q", "qd", "wrench"] = "wrench", value: float = math.nan) -> None:
        """The first number of that field reads ``value``."""
        self._arm["corrupted"] = {"q": kernels.Q, "qd": kernels.QD, "wrench": kernels.WRENCH}[field]
        self._arm["corrupt_value"] = value

    def freeze(self) -> None:
        """The connection hangs: all data grow old and no command gets through, so the arm brakes by itself."""
        for field in ("wrench_lost", "joints_lost", "frozen"):
            self._arm[field] = 1

    def protective_stop(self, status: Status = Status.PROTECTIVE_STOP) -> None:
        """The arm's own safety stops it; it takes no commands until ``restore``."""
        self._arm["external_status"] = status
        kernels.brake(self._arm, self.world.qd)

    def restore(self) -> None:
        """Everything works again."""
        kernels.restore(self._arm)
        self.faults.end()
        if self.world.second is not None:
            self.world.second.faults.end()

    @property
    def watchdog_tripped(self) -> bool:
        """True after the arm has braked because no command came."""
        return bool(kernels.silent(self._arm))

    # inside

    def _advance(self) -> None:
        """One period of physics under the last command, the brake, or the hold."""
        self._aim()
        self.world.step(self._target, None, self.period)
        self._ticks += 1

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


def new_arm(model: RobotModel, period: float, mode: str) -> NDArray[Any]:
    """One record of the controller box, as an array: it holds until the first command."""
    arms = new(kernels.ARM)
    arms[0]["period"], arms[0]["velocity"], arms[0]["top_speed"] = period, mode == "velocity", model.velocity
    return arms
