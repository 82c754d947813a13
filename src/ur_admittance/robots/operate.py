"""One controller at work in real time, visible to other processes: loop, telemetry, mailbox, perhaps a recording."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ur_admittance.errors import LoopError
from ur_admittance.runtime import registry
from ur_admittance.runtime.clock import Clock
from ur_admittance.runtime.interfaces import Controller, OnTick, Publisher, Stage
from ur_admittance.runtime.loop import run
from ur_admittance.runtime.mailbox import Mailbox
from ur_admittance.runtime.realtime import realtime
from ur_admittance.runtime.report import LoopReport
from ur_admittance.runtime.requests import Handler
from ur_admittance.runtime.robot import Robot
from ur_admittance.runtime.telemetry.telemetry_writer import TelemetryWriter

LOOP_PRIORITY = 50  # SCHED_FIFO; below the kernel's own threads, above everything else


def operate(
    controller: Controller,
    robot: Robot,
    clock: Clock,
    *,
    model: str,
    name: str | None = registry.DEFAULT_NAME,
    log: Path | None = None,
    handlers: dict[str, Handler] | None = None,
    publishers: Sequence[Publisher] = (),
    on_tick: OnTick | None = None,
    stages: Sequence[Stage] = (),
    duration: float | None = None,
    priority: int | None = LOOP_PRIORITY,
    say: Callable[[str], None] = lambda text: None,
    beside: Callable[[], contextlib.AbstractContextManager[Any]] = contextlib.nullcontext,
) -> LoopReport:
    """Run until `duration` [s] is over or a signal comes. The robot is connected, the controller configured.

    name: under which other processes see and ask it, None: they do not, and nothing is recorded; publishers: told of
    every cycle, besides the telemetry; stages: in front of the law and behind it; priority: of real-time scheduling
    with locked memory, None: ask for neither; say: told what was obtained; beside: processes that watch, started once
    the telemetry exists (status line, page).
    """
    problem = ""  # of the recording

    def finish(recorder: Any) -> None:
        nonlocal problem
        problem = recorder.finish()
        say(problem or f"recorded to {log}")

    try:
        with contextlib.ExitStack() as stack:
            last = stack.enter_context(contextlib.ExitStack())  # after the telemetry: then the file is complete
            told, mailbox = [*publishers], None
            if name is not None:
                told.insert(0, stack.enter_context(TelemetryWriter(name, model=model, rate=1.0 / clock.period)))
                mailbox = stack.enter_context(Mailbox(name, handlers=handlers))
            if name is not None and log is not None:
                # 15 MB that a loop without it need not hold
                from ur_admittance.recording.recorder import RecorderProcess

                last.callback(finish, RecorderProcess(name, log))
            stack.enter_context(beside())
            setup = stack.enter_context(realtime(priority, lock_memory=priority is not None))
            say(str(setup))
            options: dict[str, Any] = {"duration": duration, "on_tick": on_tick, "stages": stages}
            report = run(controller, robot, clock, telemetry=told, mailbox=mailbox, **options)
    except LoopError as error:
        error.report = replace(error.report, recording_problem=problem)
        raise
    return replace(report, recording_problem=problem)
