"""Real-time set-up of the loop's process, as far as the system allows, with one line that tells what was obtained.

What each part is for, and what happens without it:

SCHED_FIFO          the loop runs before every ordinary program        else: a busy machine delays cycles
locked memory       no page that was used is taken away again          else: a cycle may wait for the disk
one core            no migration, warm caches                          else: cold caches after each migration
frozen collector    Python never walks its objects in the loop         else: pauses at random, longer with more objects
switch interval     other threads must hand the interpreter back       else: after 5 ms, more than two cycles
                    after 0.1 ms

Threads and processes started inside the block run with ordinary priority: only the loop itself is privileged.
"""

import contextlib
import ctypes
import gc
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

MCL_CURRENT, MCL_FUTURE, MCL_ONFAULT = 1, 2, 4  # sys/mman.h
SWITCH_INTERVAL_S = 0.0001


@dataclass
class RealTimeSetup:
    """What was obtained; ``str()`` is the line for the user."""

    parts: list[str] = field(default_factory=list)
    scheduler: bool = False
    memory_locked: bool = False
    core: int | None = None
    collector_frozen: bool = False

    def __str__(self) -> str:
        return "real-time: " + (", ".join(self.parts) if self.parts else "nothing asked for")


@contextlib.contextmanager
def realtime(
    priority: int | None = 50,
    lock_memory: bool = True,
    core: int | None = None,
    freeze_collector: bool = True,
    switch_interval: float | None = SWITCH_INTERVAL_S,
) -> Iterator[RealTimeSetup]:
    """Set the calling thread up for the loop; leaving the block restores everything. Nothing here ever raises.

    priority: SCHED_FIFO 1..99, None: leave; core: number of the CPU, None: leave; switch_interval [s], None: leave.
    """
    setup = RealTimeSetup()
    with contextlib.ExitStack() as undo:
        if priority is not None:
            _scheduler(setup, undo, priority)
        if lock_memory:
            _memory(setup, undo)
        if core is not None:
            _affinity(setup, undo, core)
        if switch_interval is not None:
            undo.callback(sys.setswitchinterval, sys.getswitchinterval())
            sys.setswitchinterval(switch_interval)
        if freeze_collector:
            undo.callback(_restore_collector, gc.isenabled())
            gc.collect()
            gc.freeze()
            gc.disable()
            setup.collector_frozen = True
            setup.parts.append("garbage collector frozen")
        yield setup


def leave_the_loop_alone() -> None:
    """For a process beside the loop. Any core, low priority: what its parent has set up for the loop is not for it."""
    with contextlib.suppress(OSError, AttributeError):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
    with contextlib.suppress(OSError):
        os.nice(5)


@contextlib.contextmanager
def whole_process(priority: int) -> Iterator[None]:
    """Real-time priority for all threads of this process, where several carry messages to the loop: it needs the
    interpreter, which another thread may hold, and data, which others deliver; an ordinary thread that waits for the
    processor would hold up a real-time one. Below 1: leave them."""

    if priority < 1 or not hasattr(os, "SCHED_FIFO"):
        yield
        return
    schedule_all(priority)
    try:
        yield
    finally:
        schedule_all(0)


def schedule_all(priority: int) -> None:
    """SCHED_FIFO for all threads of this process, as far as that is permitted; 0: ordinary ones."""
    policy = os.SCHED_FIFO if priority > 0 else os.SCHED_OTHER
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # it may have ended, or we may not
            os.sched_setscheduler(int(task.name), policy, os.sched_param(priority))


def highest_priority(process: int) -> int:
    """Real-time priority of its most urgent thread; 0: none has any."""
    highest = 0
    with contextlib.suppress(OSError, AttributeError):  # it has ended; not on this system
        for task in Path(f"/proc/{process}/task").iterdir():
            with contextlib.suppress(ProcessLookupError):
                highest = max(highest, os.sched_getparam(int(task.name)).sched_priority)
    return highest


def _scheduler(setup: RealTimeSetup, undo: contextlib.ExitStack, priority: int) -> None:
    if not hasattr(os, "sched_setscheduler"):
        setup.parts.append("SCHED_FIFO no (not on this system)")
        return
    try:
        policy, parameter = os.sched_getscheduler(0), os.sched_getparam(0)
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(priority))
    except (OSError, ValueError, OverflowError) as error:
        setup.parts.append(f"SCHED_FIFO {priority} no ({_cause(error, 'rtprio')})")
        return
    undo.callback(_restore_scheduler, policy, parameter)
    setup.scheduler = True
    setup.parts.append(f"SCHED_FIFO {priority} yes")


def _memory(setup: RealTimeSetup, undo: contextlib.ExitStack) -> None:
    if not sys.platform.startswith("linux"):
        setup.parts.append("memory locked no (not on this system)")
        return
    libc = ctypes.CDLL(None, use_errno=True)
    # ONFAULT: what the warm-up has used stays in memory, what is used later stays from then on. Fetching all that is
    # mapped would take 480 instead of 190 MB (most of it the compiler) and showed no better cycles in runs of 3 s.
    if libc.mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) != 0:
        code = ctypes.get_errno()
        setup.parts.append(f"memory locked no ({_cause(OSError(code, os.strerror(code)), 'memlock')})")
        return
    undo.callback(libc.munlockall)
    setup.memory_locked = True
    setup.parts.append("memory locked yes")


def _affinity(setup: RealTimeSetup, undo: contextlib.ExitStack, core: int) -> None:
    if not hasattr(os, "sched_setaffinity"):
        setup.parts.append("own core no (not on this system)")
        return
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {core})
    except (OSError, ValueError, OverflowError):
        setup.parts.append(f"core {core} no (this process may use {', '.join(map(str, sorted(before)))})")
        return
    undo.callback(_quietly, os.sched_setaffinity, 0, before)
    setup.core = core
    setup.parts.append(f"core {core}")


def _restore_scheduler(policy: int, parameter: os.sched_param) -> None:
    try:
        os.sched_setscheduler(0, policy, parameter)
    except PermissionError:  # clearing the reset-on-fork flag is a privilege of its own
        _quietly(os.sched_setscheduler, 0, policy | os.SCHED_RESET_ON_FORK, parameter)


def _restore_collector(was_enabled: bool) -> None:
    gc.unfreeze()
    if was_enabled:
        gc.enable()


def _quietly(action: Callable[..., object], *arguments: object) -> None:
    """Giving a privilege back must not hide how the loop ended."""
    with contextlib.suppress(OSError):
        action(*arguments)


def _cause(error: Exception, limit: str) -> str:
    if isinstance(error, OSError) and error.errno in (1, 12):  # EPERM, ENOMEM
        return f"not permitted; raise the {limit} limit in /etc/security/limits.conf"
    return str(error)
