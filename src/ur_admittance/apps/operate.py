"""One controller at work in real time, visible to other processes: loop, telemetry, mailbox, perhaps a recording."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ur_admittance.recording.recorder import RecorderProcess
from ur_admittance.runtime import registry
from ur_admittance.runtime.clock import Clock
from ur_admittance.runtime.interfaces import Controller
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
    name: str = registry.DEFAULT_NAME,
    log: Path | None = None,
    handlers: dict[str, Handler] | None = None,
    on_tick: Callable[[Any], bool | None] | None = None,
    duration: float | None = None,
    privileged: bool = True,
    say: Callable[[str], None] = lambda text: None,
    beside: Callable[[], contextlib.AbstractContextManager[Any]] = contextlib.nullcontext,
) -> LoopReport:
    """Run until `duration` [s] is over or a signal comes. The robot is connected, the controller configured.

    privileged: ask for real-time scheduling and locked memory; say: told what was obtained; beside: processes that
    watch, started once the telemetry exists (a status line, a page).
    """
    rate = 1.0 / clock.period
    with contextlib.ExitStack() as stack:
        telemetry = stack.enter_context(TelemetryWriter(name, model=model, rate=rate))
        mailbox = stack.enter_context(Mailbox(name, handlers=handlers))
        recorder = RecorderProcess(name, log) if log is not None else None
        stack.enter_context(beside())
        setup = stack.enter_context(realtime(LOOP_PRIORITY if privileged else None, lock_memory=privileged))
        say(str(setup))
        report = run(controller, robot, clock, duration=duration, telemetry=telemetry, mailbox=mailbox, on_tick=on_tick)
    if recorder is not None:
        problem = recorder.finish()
        say(problem or f"recorded to {log}")
    return report
