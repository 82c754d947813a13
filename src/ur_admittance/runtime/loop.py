"""The control loop: wait, read, tick, write; then, in the time that is left, tell and listen.

    clock.wait -> robot.read(sample) -> stages in front -> controller.update() -> stages behind -> robot.write(command)
               -> publisher.publish  -> mailbox.poll, on_tick

Every form of the program is this loop with another robot, clock and publishers. Requests are polled after the command
is out: applying one (validating parameters) never adds to the latency from force to motion, it only uses the rest of
the cycle. However the loop ends, the arm is slowed down inside its limits, then stopped.
"""

import signal
import struct
import threading
from collections.abc import Sequence
from enum import Enum
from types import FrameType
from typing import Any

import numpy as np

from ur_admittance.core.records import STANDSTILL, Mode, Status, new
from ur_admittance.core.views import record_bytes, scalar, vector
from ur_admittance.errors import LoopError, RobotError, sentence_of
from ur_admittance.runtime.clock import Clock
from ur_admittance.runtime.interfaces import (
    LOOP,
    MAX_PERIOD_S,
    Controller,
    Mailbox,
    OnTick,
    Publisher,
    Robot,
    Stage,
    check_enabling,
    check_second,
)
from ur_admittance.runtime.report import LoopReport, Timings
from ur_admittance.runtime.stages import Stages

STOP_TIME_S = 2.0  # the slowest allowed deceleration; after it the robot's own stop is used
LOOP_BYTES = struct.Struct("3q4d5q")  # the scalars of LOOP in their order: one call instead of twelve assignments
KNOWN_STATUS = frozenset(int(status) for status in Status)


class Step(Enum):
    """What the loop is doing; the words are for people."""

    START = "starting"
    WAIT = "waiting"
    READ = "reading the robot"
    LEAD = "running a stage in front of the law"
    UPDATE = "computing the command"
    FOLLOW = "running a stage behind the law"
    WRITE = "writing to the robot"
    LISTEN = "answering a message"
    ON_TICK = "running on_tick"


# looked up once: members of an enumeration cost up to 0.3 us each time in Python 3.11
WAIT, READ, UPDATE, WRITE, LISTEN, ON_TICK = Step.WAIT, Step.READ, Step.UPDATE, Step.WRITE, Step.LISTEN, Step.ON_TICK
START, LEAD, FOLLOW = Step.START, Step.LEAD, Step.FOLLOW


def run(
    controller: Controller,
    robot: Robot,
    clock: Clock,
    *,
    duration: float | None = None,
    telemetry: Publisher | Sequence[Publisher] = (),
    mailbox: Mailbox | None = None,
    on_tick: OnTick | None = None,
    stages: Sequence[Stage] = (),
) -> LoopReport:
    """Run until `duration` [s] is over, ``on_tick(controller)`` returns True, or SIGINT, SIGTERM or SIGHUP arrives.

    The first signal slows the arm down and stops it; the second stops it at once. Anything that raises in the loop
    becomes a fault: the arm is slowed down with what still works, stopped, and `LoopError` says what happened. It
    carries the report, too.
    stages: run in every cycle, in their order, in front of the law or behind it as each says of itself.
    """
    publishers = list(telemetry) if isinstance(telemetry, Sequence) else [telemetry]
    return Loop(controller, robot, clock, publishers, mailbox, on_tick, stages).run(duration)


class Loop:
    """One cycle after the other. `run` does all of them; a script that is in charge itself calls `cycle`."""

    def __init__(
        self,
        controller: Controller,
        robot: Robot,
        clock: Clock,
        publishers: Sequence[Publisher] = (),
        mailbox: Mailbox | None = None,
        on_tick: OnTick | None = None,
        stages: Sequence[Stage] = (),
    ) -> None:
        self.controller, self.robot, self.clock = controller, robot, clock
        check_second(controller, robot)
        check_enabling(controller, robot)
        for stage in stages:
            if prepare := getattr(stage, "prepare", None):
                prepare(controller, robot)
        self._publishers, self._mailbox, self._on_tick = list(publishers), mailbox, on_tick
        self._sample, self._command, self._references = controller.sample, controller.command, controller.references
        self._dt = scalar(self._sample, "dt")
        self._external_status = scalar(self._sample, "external_status")
        self._joint_age, self._wrench_age = scalar(self._sample, "joint_age"), scalar(self._sample, "wrench_age")
        self._stages = Stages(controller, stages) if stages else None
        self._sent = self._stages.sent if self._stages else self._command
        self._mode, self._qd = scalar(self._command, "mode"), vector(controller.state, "qd_command")
        self._params_revision = scalar(controller.params, "revision")
        self._loop = new(LOOP)
        self._loop_bytes = record_bytes(self._loop)
        self._told = [vector(self._loop, name) for name in ("q_sent", "qd_sent", "q_shaped", "qd_shaped")]
        self._q_sent, self._qd_sent = vector(self._sent, "q"), vector(self._sent, "qd")
        self._period_ns = self._publish_ns = -1  # of the last cycle; none yet
        self._timings = Timings()
        self.ticks = self.overruns = self.stalls = self.bad_periods = 0
        self._cycles = 0
        self._signals = 0
        self._forced_status = 0  # set after an exception: a fault in every tick that follows
        self._step = START
        self._publish_problem = ""
        self._previous_ns: int | None = None
        self._finished = False

    def run(self, duration: float | None) -> LoopReport:
        """From start to stop, see `run` above."""
        handlers = self._take_signals()
        failure: Exception | None = None  # of the loop
        refusal: Exception | None = None  # of the robot, to stop
        because = ""
        try:
            self.clock.start()
            because = self._until_told(duration)
            self.come_to_rest()
        except Exception as error:  # an exception is a fault, not a crash with the arm moving
            failure, because = error, f"failed while {self._step.value} in cycle {self._cycles}"
            self._come_to_rest_after(error)
        finally:
            try:
                self.robot.stop()
            except Exception as error:
                refusal = error
            self.clock.stop()
            for number, handler in handlers.items():
                signal.signal(number, handler)
        if failure is None and refusal is None:
            return self._report(because)
        words = f"ended ({because}), but" if failure is None else f"{because}: {sentence_of(failure)};"
        stop = "the arm was stopped"
        if refusal is not None:
            stop = f"the robot did not take the stop ({sentence_of(refusal)}): use the emergency stop"
        words = f"the control loop {words} {stop}"
        raise LoopError(words, self._report(because), refusal is None, self.robot) from (failure or refusal)

    def cycle(self) -> None:
        self._step = WAIT
        self._cycles += 1
        if not self.clock.wait():
            self._listen()
            return
        begin = self.clock.now_ns()
        self._external_status[0] = 0
        self._step = READ
        self.robot.read(self._sample)
        self._check_period()
        self._compute()
        self._step = WRITE
        self.robot.write(self._sent)
        self._tell(begin, self.clock.now_ns())

    def _compute(self) -> None:
        """What is to be sent, from the sample."""
        stages = self._stages
        if stages is not None:
            self._step = LEAD
            stages.lead()
        self._step = UPDATE
        self.controller.update()
        if stages is not None:
            self._step = FOLLOW
            stages.follow()

    def come_to_rest(self) -> None:
        """Decelerating stop: ticks on until the arm stands still, at most 2 s; a second signal ends it at once."""
        if self._mode[0] in (Mode.ACTIVE, Mode.FAULT):  # a fault may be on its retreat
            self.controller.deactivate()
        for _ in range(round(STOP_TIME_S / self.clock.period)):
            if self._stands_still() or self._signals > 1:
                return
            self.cycle()

    def _stands_still(self) -> bool:
        """Both what the tick commands and what is sent."""
        return stands_still(self._mode[0], self._qd) and (self._stages is None or self._stages.stand_still())

    def _until_told(self, duration: float | None) -> str:
        end_ns = None if duration is None else self.clock.woke_ns + round(duration * 1e9)
        while True:
            self.cycle()
            if self._signals:
                return "interrupted"
            if self._finished or (self._stages is not None and self._stages.finished):
                return "the program was done"
            if end_ns is not None and self.clock.woke_ns >= end_ns:
                return f"{duration:g} s were over"

    def _check_period(self) -> None:
        """A pause of the loop itself is LOOP_OVERRUN; a bad dt from the robot is left to the tick (BAD_PERIOD)."""
        clock = self.clock
        if self._previous_ns is not None:
            self._period_ns = period_ns = clock.woke_ns - self._previous_ns
            if period_ns > MAX_PERIOD_S * 1e9:
                self.stalls += 1
                # the deceleration takes steps of a normal size: the arm held its last command during the pause
                self._dt[0] = clock.period
                if self._external_status[0] == 0:
                    self._external_status[0] = Status.LOOP_OVERRUN
        self._previous_ns = clock.woke_ns
        if not 0.0 < self._dt[0] <= MAX_PERIOD_S:
            self.bad_periods += 1
        if self._forced_status:
            self._external_status[0] = self._forced_status
        elif self._external_status[0] and self._external_status[0] not in KNOWN_STATUS:
            self._external_status[0] = Status.INTERNAL_ERROR  # a number without a sentence

    def _tell(self, begin: int, written: int) -> None:
        clock = self.clock
        self.ticks += 1
        late, took = clock.woke_ns - clock.deadline_ns, written - begin
        if self._publishers:
            times = (1e-9 * max(0, self._period_ns), 1e-9 * late, 1e-9 * took, 1e-9 * max(0, self._publish_ns))
            behind = 0 if self._stages is None else len(self._stages.behind)
            if behind and self._stages is not None:
                for to, values in zip(
                    self._told, (self._q_sent, self._qd_sent, self._stages.q, self._stages.qd), strict=True
                ):
                    to[:] = values
            counts = (clock.missed, self.overruns, self.stalls, self._references.leader, behind)
            revision = self._params_revision[0]
            LOOP_BYTES.pack_into(self._loop_bytes, 0, self.ticks, clock.time_ns(), revision, *times, *counts)
            self._publish()
            self._publish_ns = clock.now_ns() - written
        self._timings.add(self._period_ns, late, took, self._publish_ns)
        self._listen()
        if clock.now_ns() - begin > clock.period_ns:
            self.overruns += 1

    def _publish(self) -> None:
        """Losing a publisher is no reason to stop the arm: it is dropped and the report says so."""
        for publisher in self._publishers:
            try:
                publisher.publish(self.controller, self._loop)
            except Exception as error:
                self._publishers = [other for other in self._publishers if other is not publisher]
                self._publish_problem = sentence_of(error)

    def _listen(self) -> None:
        if self._mailbox is not None:
            self._step = LISTEN
            self._mailbox.poll(self.controller)
        if self._on_tick is not None:
            self._step = ON_TICK
            self._finished = bool(self._on_tick(self.controller)) or self._finished

    def _come_to_rest_after(self, error: Exception) -> None:
        """As `come_to_rest`, after an exception, with the parts that still work."""
        broken = self._step
        self._forced_status = int(Status.CONNECTION_LOST if isinstance(error, RobotError) else Status.INTERNAL_ERROR)
        self._mailbox = self._on_tick = None
        if broken in (START, UPDATE, FOLLOW):
            return  # nothing to command that could be trusted to slow the arm down: the robot's own stop follows
        if broken == LEAD and self._stages is not None:
            self._stages.drop_leaders()
        for _ in range(round(STOP_TIME_S / self.clock.period)):
            try:
                self.cycle()
            except Exception:
                if self._step != READ or not self._blind_cycle():
                    break
            if self._stands_still() or self._signals > 1:
                break

    def _blind_cycle(self) -> bool:
        """Without measurements the command is still slowed down from where it was."""
        try:
            self._joint_age[0] += self.clock.period
            self._wrench_age[0] += self.clock.period
            self._check_period()
            self._compute()
            self.robot.write(self._sent)
            self._tell(self.clock.now_ns(), self.clock.now_ns())
        except Exception:
            return False
        return True

    def _take_signals(self) -> dict[int, Any]:
        if threading.current_thread() is not threading.main_thread():
            return {}  # Python delivers signals to the main thread only

        def count(number: int, frame: FrameType | None) -> None:
            self._signals += 1

        return {number: signal.signal(number, count) for number in ending_signals()}

    def _report(self, because: str) -> LoopReport:
        period, lateness, latency, publish = self._timings.distributions()
        return LoopReport(
            ticks=self.ticks,
            ended_because=because,
            mode=Mode(int(self._mode[0])),
            status=Status(int(scalar(self._command, "status")[0])),
            reason=self.controller.reason,
            period=period,
            lateness=lateness,
            latency=latency,
            publish=publish,
            missed=self.clock.missed,
            overruns=self.overruns,
            stalls=self.stalls,
            bad_periods=self.bad_periods,
            publish_problem=self._publish_problem,
            slowest_stages={} if self._stages is None else self._stages.slowest(),
        )


def stands_still(mode: int, qd: Any) -> bool:
    """No motion is commanded any more, and none will be without a request."""
    return mode in (Mode.INACTIVE, Mode.FAULT) and float(np.abs(qd).max()) <= STANDSTILL


def ending_signals() -> list[signal.Signals]:
    """Ctrl-C, a request to end, and a terminal that was closed or lost; the last one not under nohup."""
    ending = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        ending.append(signal.SIGHUP)
    return ending
