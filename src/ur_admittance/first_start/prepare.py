"""The first start on a computer: the controller is compiled, in parallel, in processes of their own.

This process then loads the result from the cache, in a second, and never has the compiler's memory. Of several that
start at the same time one compiles and the others wait for it.
"""

import contextlib
import fcntl
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from typing import IO, Any

from ur_admittance.core.compile import cache_folder, stamp
from ur_admittance.core.records import PLAIN
from ur_admittance.first_start.parts import FAILED, all_parts

MOST_WORKERS = 4  # more find nothing to do: parts wait for the parts that they call
ONE_OTHER = 5.0  # [s] of one core for a part that is not in the list
SENTENCE_S = 5.0  # [s] between two sentences
LOOK_S = 0.1  # [s] between two looks whether another program is done
WAITING = "another program is compiling the controller: waiting for it"


@dataclass(frozen=True)
class Progress:
    done: int
    parts: int
    share: float  # of the work, 0..1
    left: float  # [s]

    @property
    def how_far(self) -> str:
        return f"{self.done} of {self.parts} parts, about {self.left:.0f} s left"

    def __str__(self) -> str:
        return f"compiling the controller once for this computer: {self.how_far}"


Tell = Callable[[Progress | str], None]  # how far it is, or a sentence. What it raises ends the compiling


def in_words(say: Callable[[str], None]) -> Tell:
    """Says how far it is, every few seconds, and sentences at once."""
    last = -math.inf

    def tell(progress: Progress | str) -> None:
        nonlocal last
        if isinstance(progress, str) or time.monotonic() - last >= SENTENCE_S:
            last = time.monotonic()
            say(str(progress))

    return tell


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def prepare(tell: Tell = lambda progress: None, others: Sequence[str] = ()) -> None:
    """Compile what this computer has not yet compiled. others: "module:function" that compile more than the controller.

    Nothing is lost where that is impossible (no folder to write to, no processes): it is told, and compiled when it is
    loaded, in this process."""
    if PLAIN or not _missing(others):
        return
    try:
        cache_folder.mkdir(parents=True, exist_ok=True)
        with (cache_folder / "compiling.lock").open("w") as lock:
            _wait_for(lock, tell)
            missing = _missing(others)
            failed = _compile([name for names in missing.values() for name in names], tell)
            for mark, names in missing.items():
                if not failed.intersection(names):
                    mark.touch()
            if failed:  # and tried again at the next start
                tell("some parts could not be compiled: that goes on in this process, for up to a minute")
    except OSError as error:
        tell(f"compiling the controller goes on in this process, for about a minute ({error})")


def _wait_for(lock: IO[str], tell: Tell) -> None:
    """Until no other program compiles."""
    last = -math.inf
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() - last >= SENTENCE_S:
                last = time.monotonic()
                tell(WAITING)
            time.sleep(LOOK_S)


def _missing(others: Sequence[str]) -> dict[Path, list[str]]:
    """What is to be compiled, by the file that will say that it was."""
    wanted = {"controller": list(all_parts()), **{other.replace(":", "."): [other] for other in others}}
    now = stamp()
    marks = {cache_folder / f"{name}.{now}.compiled": names for name, names in wanted.items()}
    return {mark: names for mark, names in marks.items() if not mark.exists()}


def _compile(names: Sequence[str], tell: Tell) -> set[str]:
    """Returns those that could not be compiled."""
    plan, failed = Plan(names), set()
    if plan.todo:
        count = min(cores(), MOST_WORKERS)
        began = time.monotonic()
        with _workers(count) as (free, selector):
            tell(plan.progress(0.0, count))
            while plan.todo or plan.running:
                while free and (name := plan.next()):
                    worker = free.pop()
                    worker.stdin.write(f"{name}\n".encode())
                for key, _ in selector.select():
                    line = key.data.stdout.readline()
                    if not line:
                        raise ChildProcessError("a process that compiles has ended")
                    answer = line.decode(errors="replace").strip()
                    name = answer.removeprefix(FAILED)
                    if name in plan.running:  # else a line that something else in that process has printed
                        plan.finish(name)
                        failed |= {name} if answer != name else set()
                        free.append(key.data)
                        tell(plan.progress(time.monotonic() - began, count))
    return failed


class Plan:
    """Which part next: of those that call nothing that is still to be compiled, the one with most work behind it."""

    def __init__(self, names: Sequence[str]) -> None:
        known = all_parts()
        names = [name for name in names if name not in known or known[name].exists]
        self.seconds = {name: known[name].seconds if name in known else ONE_OTHER for name in names}
        self.calls = {name: known[name].calls() & set(names) if name in known else set() for name in names}
        behind: dict[str, float] = {}

        def work(name: str) -> float:
            """Of this part and, one after the other, those that wait for it [s]."""
            if name not in behind:
                callers = [work(caller) for caller, called in self.calls.items() if name in called]
                behind[name] = self.seconds[name] + max(callers, default=0.0)
            return behind[name]

        self.todo = sorted(names, key=work, reverse=True)
        self.running: set[str] = set()

    def next(self) -> str:
        """Empty: all that is left waits for parts that are being compiled."""
        open_parts = self.running.union(self.todo)
        name = next((name for name in self.todo if not self.calls[name] & open_parts), "")
        if not name and not self.running:  # kernels that call each other wait for nothing
            name = self.todo[0] if self.todo else ""
        if name:
            self.todo.remove(name)
            self.running.add(name)
        return name

    def finish(self, name: str) -> None:
        self.running.remove(name)

    def progress(self, elapsed: float, workers: int) -> Progress:
        left = sum(self.seconds[name] for name in [*self.todo, *self.running])
        total = sum(self.seconds.values())
        share = 1.0 - left / total
        planned = left / workers
        measured = elapsed * left / (total - left) if share > 0.1 else planned
        return Progress(len(self.seconds) - len(self.todo) - len(self.running), len(self.seconds), share, measured)


@contextlib.contextmanager
def _workers(count: int) -> Iterator[tuple[list[Any], DefaultSelector]]:
    """Processes that import what this one would, and nothing from the folder in which the program was started; none
    outlives the block."""
    home = cache_folder.absolute()  # Python looks first where it is started
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(str(Path(path).absolute()) for path in sys.path)}
    environment["NUMBA_CACHE_DIR"] = str(home)
    command = [sys.executable, "-m", "ur_admittance.first_start.worker"]
    # without buffers: a line that was read ahead would not wake the selector
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "bufsize": 0}
    workers: list[subprocess.Popen[bytes]] = []
    with DefaultSelector() as selector:
        try:
            for _ in range(count):
                # of a session of their own: Ctrl-C comes to this process, which ends them
                worker = subprocess.Popen(
                    command, env=environment, cwd=home, stderr=subprocess.DEVNULL, start_new_session=True, **pipes
                )
                workers.append(worker)
                selector.register(_output(worker), EVENT_READ, worker)
            yield list(workers), selector
        finally:
            for worker in workers:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(worker.pid, signal.SIGKILL)
            for worker in workers:
                worker.wait()
                for pipe in filter(None, (worker.stdin, worker.stdout)):
                    with contextlib.suppress(OSError):
                        pipe.close()


def _output(worker: "subprocess.Popen[bytes]") -> IO[bytes]:
    assert worker.stdout is not None
    return worker.stdout
