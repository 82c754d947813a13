"""The control loop: wait, read, tick, write; then, in the time that is left, tell and listen.

    wait for the deadline -> robot.read(sample) -> controller.update() -> robot.write(command)
                          -> telemetry.publish  -> mailbox.poll

Requests are polled after the command is out: applying one (validating parameters) never adds to the latency from force
to motion, it only uses the rest of the cycle. However the loop ends, the arm is slowed down inside its limits, then
stopped.
"""

import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Protocol

import numpy as np

from ur_admittance.core.records import Mode, Status, new
from ur_admittance.core.views import scalar, vector
from ur_admittance.errors import RobotError, UrAdmittanceError
from ur_admittance.runtime.clock import Clock
from ur_admittance.runtime.interfaces import LOOP, Controller, Publisher
from ur_admittance.runtime.report import LoopReport
from ur_admittance.runtime.robot import Robot
from ur_admittance.runtime.statistics import Histogram

MAX_PERIOD_S = 0.1  # a longer pause is a fault: the arm has moved on without being watched (seeds: 0 < dt <= 0.1)
STOP_TIME_S = 2.0  # the slowest allowed deceleration; after it the robot's own stop is used
STANDSTILL_RAD_S = 1e-9
KNOWN_STATUS = frozenset(int(status) for status in Status)


class LoopError(UrAdmittanceError):
    """Something in the loop raised; the arm has been stopped."""


class Mailbox(Protocol):
    def poll(self, controller: Controller) -> object: ...


def run(
    controller: Controller,
    robot: Robot,
    clock: Clock,
    *,
    duration: float | None = None,
    telemetry: Publisher | None = None,
    mailbox: Mailbox | None = None,
    on_tick: Callable[[Any], bool | None] | None = None,
) -> LoopReport:
    """Run until `duration` [s] is over, ``on_tick(controller)`` returns True, or SIGINT / SIGTERM arrives.

    The first signal slows the arm down and stops it; the second stops it at once. Anything that raises in the loop
    becomes a fault: the arm is slowed down with what still works, stopped, and `LoopError` tells what happened.
    """
    return _Loop(controller, robot, clock, telemetry, mailbox, on_tick).run(duration)


class _Loop:
    def __init__(
        self,
        controller: Controller,
        robot: Robot,
        clock: Clock,
        telemetry: Publisher | None,
        mailbox: Mailbox | None,
        on_tick: Callable[[Any], bool | None] | None,
    ) -> None:
        self.controller, self.robot, self.clock = controller, robot, clock
        self.telemetry, self.mailbox, self.on_tick = telemetry, mailbox, on_tick
        self.sample, self.command = controller.sample, controller.command
        self.dt = scalar(self.sample, "dt")
        self.external_status = scalar(self.sample, "external_status")
        self.joint_age, self.wrench_age = scalar(self.sample, "joint_age"), scalar(self.sample, "wrench_age")
        self.mode, self.qd = scalar(self.command, "mode"), vector(self.command, "qd")
        self.params_revision = scalar(controller.params, "revision")
        self.loop = new(LOOP)
        self.fields = {name: scalar(self.loop, name) for name in LOOP.names or ()}
        self.period, self.lateness = Histogram(), Histogram()
        self.latency, self.publish = Histogram(), Histogram()
        self.ticks = self.overruns = self.stalls = self.bad_periods = 0
        self.cycle = 0
        self.signals = 0
        self.forced_status = 0  # set after an exception: a fault in every tick that follows
        self.doing = "starting"
        self.publish_problem = ""
        self.previous_ns = -1
        self.finished = False

    def run(self, duration: float | None) -> LoopReport:
        handlers = self._take_signals()
        failure: Exception | None = None
        failed_cycle = 0
        because, ending = "", "the arm was stopped"
        try:
            self.clock.start()
            because = self._until_told(duration)
            self._slow_down()
        except Exception as error:  # an exception is a fault, not a crash with the arm moving
            failure, failed_cycle = error, self.cycle
            self._slow_down_after(error)
        finally:
            doing, self.doing = self.doing, "stopping the robot"
            try:
                self.robot.stop()
            except Exception as error:
                ending = f"the robot did not take the stop ({_sentence(error)}): use the emergency stop"
                failure, doing = failure or error, doing if failure else self.doing
            self.clock.stop()
            for number, handler in handlers.items():
                signal.signal(number, handler)
        if failure is not None:
            where = f"while {doing} in cycle {failed_cycle or self.cycle}"
            raise LoopError(f"the control loop failed {where}: {_sentence(failure)}; {ending}") from failure
        return self._report(because)

    def _until_told(self, duration: float | None) -> str:
        start_ns = self.clock.woke_ns
        end_ns = None if duration is None else start_ns + round(duration * 1e9)
        while True:
            self._cycle()
            if self.signals:
                return "interrupted"
            if self.finished:
                return "the program was done"
            if end_ns is not None and self.clock.woke_ns >= end_ns:
                return f"{duration:g} s were over"

    def _cycle(self) -> None:
        self.doing = "waiting"
        self.cycle += 1
        self.clock.wait()
        begin = time.perf_counter_ns()
        self.external_status[0] = 0
        self.doing = "reading the robot"
        self.robot.read(self.sample)
        self._check_period()
        self.doing = "computing the command"
        self.controller.update()
        self.doing = "writing to the robot"
        self.robot.write(self.command)
        self._account(begin, time.perf_counter_ns())

    def _check_period(self) -> None:
        """A pause of the loop itself is LOOP_OVERRUN; a bad dt from the robot is left to the tick (BAD_PERIOD)."""
        clock, fields = self.clock, self.fields
        if self.previous_ns >= 0:
            period_ns = clock.woke_ns - self.previous_ns
            self.period.add(period_ns)
            fields["period"][0] = period_ns * 1e-9
            if period_ns > MAX_PERIOD_S * 1e9:
                self.stalls += 1
                # the deceleration takes steps of a normal size: the arm held its last command during the pause
                self.dt[0] = clock.period
                if self.external_status[0] == 0:
                    self.external_status[0] = Status.LOOP_OVERRUN
        self.previous_ns = clock.woke_ns
        if not 0.0 < self.dt[0] <= MAX_PERIOD_S:
            self.bad_periods += 1
        if self.forced_status:
            self.external_status[0] = self.forced_status
        elif self.external_status[0] and self.external_status[0] not in KNOWN_STATUS:
            self.external_status[0] = Status.INTERNAL_ERROR  # a number without a sentence

    def _account(self, begin: int, written: int) -> None:
        clock, fields = self.clock, self.fields
        self.ticks += 1
        self.latency.add(written - begin)
        self.lateness.add(clock.woke_ns - clock.deadline_ns)
        fields["sequence"][0] = self.ticks
        fields["time_ns"][0] = clock.time_ns()
        fields["lateness"][0] = (clock.woke_ns - clock.deadline_ns) * 1e-9
        fields["latency"][0] = (written - begin) * 1e-9
        fields["params_revision"][0] = self.params_revision[0]
        fields["missed"][0] = clock.missed
        fields["overruns"][0] = self.overruns
        if self.telemetry is not None:
            before = time.perf_counter_ns()
            self._publish(self.telemetry)
            took = time.perf_counter_ns() - before
            self.publish.add(took)
            fields["publish"][0] = took * 1e-9
        if self.mailbox is not None:
            self.doing = "answering a message"
            self.mailbox.poll(self.controller)
        if self.on_tick is not None:
            self.doing = "running on_tick"
            self.finished = bool(self.on_tick(self.controller)) or self.finished
        if clock.realtime and time.perf_counter_ns() - begin > clock.period_ns:
            self.overruns += 1

    def _publish(self, telemetry: Publisher) -> None:
        """Losing the telemetry is no reason to stop the arm: it is dropped and the report says so."""
        try:
            telemetry.publish(self.controller, self.loop)
        except Exception as error:
            self.telemetry = None
            self.publish_problem = _sentence(error)

    def _slow_down(self) -> None:
        """Decelerating stop: ticks on until the arm stands, at most 2 s; a second signal ends it at once."""
        if self.mode[0] == Mode.ACTIVE:
            self.controller.deactivate()
        for _ in range(round(STOP_TIME_S / self.clock.period)):
            if self._stands() or self.signals > 1:
                return
            self._cycle()

    def _slow_down_after(self, error: Exception) -> None:
        """The same after an exception, with the parts that still work."""
        broken = self.doing
        self.forced_status = int(Status.CONNECTION_LOST if isinstance(error, RobotError) else Status.INTERNAL_ERROR)
        self.mailbox = self.on_tick = None
        self.doing = broken
        if broken in ("starting", "computing the command"):
            return  # without a tick there is no deceleration to command: the robot's own stop follows
        for _ in range(round(STOP_TIME_S / self.clock.period)):
            try:
                self._cycle()
            except Exception:
                if self.doing != "reading the robot" or not self._blind_cycle():
                    break
            if self._stands() or self.signals > 1:
                break
        self.doing = broken

    def _blind_cycle(self) -> bool:
        """Without measurements the command is still slowed down from where it was."""
        try:
            self.joint_age[0] += self.clock.period
            self.wrench_age[0] += self.clock.period
            self._check_period()
            self.controller.update()
            self.robot.write(self.command)
            self._account(time.perf_counter_ns(), time.perf_counter_ns())
        except Exception:
            return False
        return True

    def _stands(self) -> bool:
        still = bool(np.max(np.abs(self.qd)) <= STANDSTILL_RAD_S)
        return still and self.mode[0] in (Mode.INACTIVE, Mode.FAULT)

    def _take_signals(self) -> dict[int, Any]:
        if threading.current_thread() is not threading.main_thread():
            return {}  # Python delivers signals to the main thread only

        def count(number: int, frame: FrameType | None) -> None:
            self.signals += 1

        return {number: signal.signal(number, count) for number in (signal.SIGINT, signal.SIGTERM)}

    def _report(self, because: str) -> LoopReport:
        return LoopReport(
            ticks=self.ticks,
            ended_because=because,
            mode=Mode(int(self.mode[0])),
            status=Status(int(scalar(self.command, "status")[0])),
            reason=self.controller.reason,
            period=self.period.distribution(),
            lateness=self.lateness.distribution(),
            latency=self.latency.distribution(),
            publish=self.publish.distribution(),
            missed=self.clock.missed,
            overruns=self.overruns,
            stalls=self.stalls,
            bad_periods=self.bad_periods,
            publish_problem=self.publish_problem,
        )


def _sentence(error: BaseException) -> str:
    text = str(error).strip().rstrip(".") or "no message"
    return text if isinstance(error, UrAdmittanceError) else f"{type(error).__name__}: {text}"
