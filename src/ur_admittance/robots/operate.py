"""One controller at work in real time, visible to other processes: loop, telemetry, mailbox, perhaps a recording."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ur_admittance.errors import LoopError
from ur_admittance.runtime import registry
from ur_admittance.runtime.clock import Clock
from ur_admittance.runtime.interfaces import Controller, OnTick, Publisher, Robot, Stage
from ur_admittance.runtime.loop import run
from ur_admittance.runtime.mailbox import Handler, Mailbox
from ur_admittance.runtime.realtime import realtime
from ur_admittance.runtime.report import LoopReport
from ur_admittance.runtime.telemetry import TelemetryWriter

LOOP_PRIORITY = 50  # SCHED_FIFO; below the kernel's own threads, above everything else


@dataclass(frozen=True)
class Operation:
    """How it is operated; the defaults: seen by others, recorded nowhere, until a signal comes."""

    model: str  # name of the arm
    name: str | None = registry.DEFAULT_NAME  # under which others see and ask it; None: not at all, nothing is recorded
    log: Path | None = None  # new file to record to
    handlers: dict[str, Handler] | None = None  # of further messages
    publishers: Sequence[Publisher] = ()  # told of every cycle, besides the telemetry
    on_tick: OnTick | None = None
    stages: Sequence[Stage] = ()  # in front of the law and behind it
    duration: float | None = None  # [s]
    priority: int | None = LOOP_PRIORITY  # of real-time scheduling with locked memory; None: ask for neither
    say: Callable[[str], None] = lambda text: None  # told what was obtained
    # processes that watch, started once the telemetry exists (status line, page)
    beside: Callable[[], contextlib.AbstractContextManager[Any]] = contextlib.nullcontext


def operate(controller: Controller, robot: Robot, clock: Clock, how: Operation) -> LoopReport:
    """Run until the duration is over or a signal comes. The robot is connected, the controller configured."""
    problem = ""  # of the recording

    def finish(recorder: Any) -> None:
        nonlocal problem
        problem = recorder.finish()
        how.say(problem or f"recorded to {how.log}")

    try:
        with contextlib.ExitStack() as stack:
            last = stack.enter_context(contextlib.ExitStack())  # after the telemetry: then the file is complete
            told, mailbox = [*how.publishers], None
            if how.name is not None:
                told.insert(0, stack.enter_context(TelemetryWriter(how.name, model=how.model, rate=1.0 / clock.period)))
                mailbox = stack.enter_context(Mailbox(how.name, handlers=how.handlers))
            if how.name is not None and how.log is not None:
                # 15 MB that a loop without it need not hold
                from ur_admittance.recording.recorder import RecorderProcess

                last.callback(finish, RecorderProcess(how.name, how.log))
            stack.enter_context(how.beside())
            setup = stack.enter_context(realtime(how.priority, lock_memory=how.priority is not None))
            how.say(str(setup))
            options: dict[str, Any] = {"duration": how.duration, "on_tick": how.on_tick, "stages": how.stages}
            report = run(controller, robot, clock, telemetry=told, mailbox=mailbox, **options)
    except LoopError as error:
        error.report = replace(error.report, recording_problem=problem)
        raise
    return replace(report, recording_problem=problem)
