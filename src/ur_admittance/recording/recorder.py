"""Two ways to record: in the same process (lock-step, nobody waits), or in a process of its own beside a real loop.

with Recorder("run.mcap", model="ur5e", rate=500) as recorder:
    run(controller, robot, LockstepClock(500), duration=5, telemetry=recorder)  # or recorder.add(controller)

with TelemetryWriter("main", model="ur5e", rate=500) as telemetry, RecorderProcess("main", "run.mcap"):
    run(controller, robot, RealTimeClock(500), telemetry=telemetry)
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ur_admittance import given
from ur_admittance.core.records import new
from ur_admittance.core.views import Record, scalar, whole
from ur_admittance.errors import LogError, UrAdmittanceError, sentence_of
from ur_admittance.recording.log_writer import TICK, LogWriter, check_new
from ur_admittance.runtime.interfaces import LOOP, MAX_PERIOD_S, Controller
from ur_admittance.runtime.realtime import leave_the_loop_alone
from ur_admittance.runtime.telemetry import STATE_AT, TelemetryReader, TelemetryWriter, as_json, parts_of, warn

DRAIN_S = 0.05  # the ring holds 4 s: the recorder may be held up for that long without a loss
SYNC_S = 1.0  # a power cut loses no more than about this
FINISH_S = 10.0
LAST_NS = 2**31 * 1_000_000_000  # the stamps of ROS messages count seconds in 31 bits


class Recorder:
    """Records every cycle of a loop to a new file (.mcap), for `why`, `plot`, `replay`, `export` and ROS 2 tools.

    A loop of your own calls ``add`` after each tick. What cannot be recorded (a full disk, records that make no sense)
    ends the recording, not the loop: `problem` says why, and leaving the block raises LogError.

    path: a new file, never one that exists. model, rate [Hz]: written into it. realtime: for a loop that must not
    wait, a process of its own writes the file; otherwise this one does, 0.4 s of cycles at a time.
    """

    def __init__(self, path: str | Path, *, model: str = "", rate: float = 500.0, realtime: bool = False) -> None:
        self.path = given.file("path", path, LogError)
        given.kind("model", model, str, "a name such as 'ur5e'", LogError)
        given.number("rate", rate, "Hz", above=True, error=LogError)
        self.model, self.rate = model, float(rate)
        self._problem = ""
        self._closed = False
        self._log: LogWriter | None = None
        self._tick = memoryview(bytearray(TICK.itemsize))
        self._last_revision = -1  # of the parameters; none yet
        self._controller: Controller | None = None
        self._loop: Record | None = None
        self._own = new(LOOP)  # of a loop that has none
        check_new(self.path)
        self._ring: TelemetryWriter | None = None
        self._process: RecorderProcess | None = None
        if realtime:
            name = f"recording-{os.getpid()}-{time.monotonic_ns()}"
            self._ring = TelemetryWriter(name, model=model, rate=self.rate)
            try:
                self._process = RecorderProcess(name, self.path)
            except LogError:
                self._ring.close()
                raise

    @property
    def problem(self) -> str:
        """Why the recording has ended early; empty: it goes on, or is complete."""
        return self._problem or ("" if self._process is None else self._process.problem)

    def add(self, controller: Any, time_ns: int | None = None) -> None:
        """One cycle of a loop of your own, after the tick.

        controller: an AdmittanceController, or any object with the four records as `params`, `state`, `sample` and
        `command`, and perhaps `parameters` (for "what if") and `reason`. time_ns: when it was; without it the cycles
        follow each other by the `dt` of their samples. LogError: the recording is closed.
        """
        self._guarded(self._add_own, controller, time_ns)

    def publish(self, controller: Controller, loop: Record) -> None:
        """One cycle of the package's own loop."""
        self._guarded(self._add, controller, loop)

    def close(self) -> None:
        """Complete the file; nothing can be added then."""
        self._closed = True
        if self._ring is not None and self._process is not None:
            self._ring.close()
            self._process.finish()
        log, self._log = self._log, None
        if log is None or self._problem:
            return
        try:
            log.close()
        except LogError as error:
            self._problem = str(error)

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close()
        if self.problem and kind is None:
            raise LogError(self.problem)

    def _guarded(self, step: Callable[[Any, Any], None], controller: Any, when: Any) -> None:
        if self._closed:
            raise LogError(f"the recording {self.path} is closed: nothing can be added to it")
        if self._problem:
            return
        try:
            step(controller, when)
        except LogError as error:
            self._problem = str(error)
        except Exception as error:
            self._problem = f"recording to {self.path} ended: {sentence_of(error)}"

    def _add_own(self, controller: Any, time_ns: int | None) -> None:
        own = self._own
        dt = float(scalar(controller.sample, "dt")[0])
        dt = dt if 0.0 < dt <= MAX_PERIOD_S else 1.0 / self.rate  # whatever it was: it must not end the loop
        time_ns = int(own["time_ns"][0]) + round(1e9 * dt) if time_ns is None else time_ns
        if not 0 <= time_ns < LAST_NS:
            raise LogError(f"recording to {self.path} ended: time_ns = {time_ns} ns: must be >= 0 and < {LAST_NS}")
        own["sequence"] += 1
        own["time_ns"], own["period"] = time_ns, dt
        own["params_revision"] = scalar(controller.params, "revision")
        self._add(controller, own)

    def _add(self, controller: Controller, loop: Record) -> None:
        if self._ring is not None:
            self._ring.publish(controller, loop)
            return
        if controller is not self._controller or loop is not self._loop:
            self._bind(controller, loop)
        tick, params, about = self._tick, None, None
        for part, first, last in self._parts:
            tick[first:last] = part
        if self._revision[0] != self._last_revision or self._sequence[0] == 1:
            self._last_revision = int(self._revision[0])
            params = whole(controller.params)[0]
            about = {"model": self.model, "rate": self.rate, "parameters": json.loads(as_json(controller))}
        if self._log is None:
            self._log = LogWriter(self.path, about or {})
        self._log.add(tick, self._state, params, about, self._reason)

    def _bind(self, controller: Controller, loop: Record) -> None:
        """Views of the live records: looking them up by name in every cycle would take longer than the rest."""
        self._controller, self._loop = controller, loop
        self._parts = parts_of(controller, loop)
        self._state = self._parts.pop()[0]
        self._revision, self._sequence = scalar(controller.params, "revision"), scalar(loop, "sequence")
        self._last_revision = -1  # none yet

    def _reason(self) -> str:
        return str(getattr(self._controller, "reason", ""))


class RecorderProcess:
    """Records a running controller from outside; ends by itself when the controller ends.

    If it ends early (a full disk), those who watch the controller are told at once (TelemetryReader.warning)."""

    def __init__(self, name: str, path: str | Path) -> None:
        self.path = given.file("path", path, LogError)
        self._problem: str | None = None  # not known yet
        check_new(self.path)
        command = [sys.executable, "-m", "ur_admittance.recording.recorder", name, str(path)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.pid = self._process.pid
        self._wait_until_ready()

    @property
    def problem(self) -> str:
        """Why the recording has ended early; empty: it goes on, or is complete."""
        return "" if self._process.poll() is None else self.finish()

    def finish(self, timeout: float = FINISH_S) -> str:
        """Wait until the file is complete; the controller must have ended. Returns the problem, empty: none."""
        if self._problem is None:
            self._problem = self._finish(timeout)
        return self._problem

    def stop(self) -> str:
        """End the recording now, with a complete file."""
        if self._process.poll() is None:
            self._process.terminate()
        return self.finish()

    def __enter__(self) -> "RecorderProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _finish(self, timeout: float) -> str:
        try:
            _, errors = self._process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
            return (
                f"the recorder did not finish {self.path} within {timeout:g} s; the file can be read but not replayed"
            )
        code, said = self._process.returncode, errors.strip().splitlines()
        if code < 0:
            return f"the recorder of {self.path} was killed by {signal.Signals(-code).name}"
        return "" if code == 0 else said[-1] if said else f"the recorder of {self.path} failed"

    def _wait_until_ready(self) -> None:
        assert self._process.stdout is not None
        if self._process.stdout.readline().strip() != "recording":
            raise LogError(f"the recorder did not start: {self.finish(1.0)}")


def record(name: str, path: str | Path) -> str:
    """Record the controller called `name` until it ends or SIGTERM comes; returns one line about what was recorded."""
    stop: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: stop.append(number))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the controller; its last cycles belong in the file
    with TelemetryReader(name) as reader:
        sys.stdout.write("recording\n")
        sys.stdout.flush()
        log: LogWriter | None = None
        synced = time.monotonic()
        revision, params, about = -1, None, None
        while True:
            last = reader.ended or bool(stop)  # asked before draining: nothing can follow what is drained now
            records = reader.drain()
            for i, entry in enumerate(records["loop"]):
                if int(entry["params_revision"]) != revision or entry["sequence"] == 1:
                    revision = int(entry["params_revision"])
                    params, about = reader.params(revision), reader.about()
                if log is None:
                    log = LogWriter(path, about or {})
                record = records[i : i + 1].view(np.uint8).data
                log.add(record[: TICK.itemsize], record[STATE_AT:], params, about, reader.reason)
                params = about = None
            if log is not None and time.monotonic() > synced + SYNC_S:
                log.sync()
                synced = time.monotonic()
            if last:
                break
            time.sleep(DRAIN_S)
        if log is None:
            return "nothing was recorded: the controller never ran"
        log.close()
        return f"{log.ticks} cycles recorded to {path}, {reader.lost} lost"


def main(arguments: list[str]) -> int:
    """Process entry: name of the controller, path of the file."""
    leave_the_loop_alone()
    name, path = arguments
    try:
        sys.stdout.write(record(name, path) + "\n")
    except UrAdmittanceError as error:
        warn(name, str(error))
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
