"""Real-time priority for all threads of a process."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def whole_process(priority: int) -> Iterator[None]:
    """The loop needs the interpreter, which another thread of this process may hold, and messages, which the threads of
    DDS deliver: an ordinary thread that waits for the processor would hold up a real-time one. So they come along."""

    def schedule(policy: int, value: int) -> None:
        for task in Path("/proc/self/task").iterdir():
            with contextlib.suppress(OSError):  # it may have ended, or we may not
                os.sched_setscheduler(int(task.name), policy, os.sched_param(value))

    if priority < 1 or not hasattr(os, "SCHED_FIFO"):
        yield
        return
    schedule(os.SCHED_FIFO, priority)
    try:
        yield
    finally:
        schedule(os.SCHED_OTHER, 0)
