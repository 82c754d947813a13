"""One controller at work in real time, visible to other processes: loop, telemetry, mailbox, perhaps a recording."""

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ur_admittance.runtime import registry
from ur_admittance.runtime.clock import Clock
from ur_admittance.runtime.interfaces import Controller, OnTick, Publisher, Stage
from ur_admittance.runtime.loop import run
from ur_admittance.runtime.mailbox import Mailbox
from ur_admittance.runtime.realtime import realtime
from ur_admittance.runtime.report import LoopReport
from ur_admittance.runtime.requests import Handler
from ur_admittance.runtime.robot import Robot
from ur_admittance.runtime.telemetry.writer import TelemetryWriter

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
    recorders: list[Any] = []

    def finish_recording() -> None:
        for recorder in recorders:
            say(recorder.finish() or f"recorded to {log}")

    with contextlib.ExitStack() as stack:
        stack.callback(finish_recording)  # last, when the telemetry has ended: the file is complete then
        told, mailbox = [*publishers], None
        if name is not None:
            told.insert(0, stack.enter_context(TelemetryWriter(name, model=model, rate=1.0 / clock.period)))
            mailbox = stack.enter_context(Mailbox(name, handlers=handlers))
        if name is not None and log is not None:
            from ur_admittance.recording.recorder import RecorderProcess  # 15 MB that a loop without it need not hold

            recorders.append(RecorderProcess(name, log))
        stack.enter_context(beside())
        setup = stack.enter_context(realtime(priority, lock_memory=priority is not None))
        say(str(setup))
        options: dict[str, Any] = {"duration": duration, "on_tick": on_tick, "stages": stages}
        return run(controller, robot, clock, telemetry=told, mailbox=mailbox, **options)
