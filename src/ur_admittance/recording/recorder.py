"""Two ways to record: in the same process (lock-step, nobody waits), or in a process of its own beside a real loop.

with Recorder("run.mcap", model="ur5e", rate=500) as recorder:
    run(controller, robot, LockstepClock(500), duration=5, telemetry=recorder)

with TelemetryWriter("main", model="ur5e", rate=500) as telemetry, RecorderProcess("main", "run.mcap"):
    run(controller, robot, RealTimeClock(500), telemetry=telemetry)
"""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from ur_admittance.core.views import Record, whole
from ur_admittance.errors import LogError, UrAdmittanceError
from ur_admittance.recording.writer import LogWriter, check_new
from ur_admittance.runtime.interfaces import Controller
from ur_admittance.runtime.realtime import leave_the_loop_alone
from ur_admittance.runtime.telemetry.reader import TelemetryReader
from ur_admittance.runtime.telemetry.writer import TELEMETRY, as_json

DRAIN_S = 0.05  # the ring holds 4 s: the recorder may be held up for that long without a loss
SYNC_S = 1.0  # a power cut loses no more than about this
FINISH_S = 10.0


class Recorder:
    """Records in the loop's own process; a failure of the disk ends the recording, not the loop (see `problem`)."""

    def __init__(self, path: str | Path, *, model: str = "", rate: float = 500.0) -> None:
        self.path, self.model, self.rate = Path(path), model, rate
        self.problem = ""  # why the recording ended early
        self._log: LogWriter | None = None
        self._record = np.zeros(1, TELEMETRY)
        self._revision = -1
        self._status = (-1, -1, "")
        self._reason = ""
        check_new(self.path)

    def publish(self, controller: Controller, loop: Record) -> None:
        if self.problem:
            return
        try:
            self._add(controller, loop)
        except LogError as error:
            self.problem = str(error)

    def close(self) -> None:
        log, self._log = self._log, None
        if log is None or self.problem:
            return
        try:
            log.close()
        except LogError as error:
            self.problem = str(error)

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _add(self, controller: Controller, loop: Record) -> None:
        record = self._record
        record["loop"] = whole(loop)
        record["sample"] = whole(controller.sample)
        record["command"] = whole(controller.command)
        record["state"] = whole(controller.state)
        params, about = None, None
        revision = int(record["loop"]["params_revision"][0])
        if revision != self._revision or record["loop"]["sequence"][0] == 1:
            self._revision = revision
            params = whole(controller.params)[0]
            about = {"model": self.model, "rate": self.rate, "parameters": json.loads(as_json(controller))}
        if self._log is None:
            self._log = LogWriter(self.path, about or {})
        remark = getattr(controller, "remark", "")
        status = (int(record["command"]["mode"][0]), int(record["command"]["status"][0]), remark)
        if status != self._status:
            self._status, self._reason = status, controller.reason
        self._log.add(record[0], params, about, self._reason)


class RecorderProcess:
    """Records a running controller from outside; ends by itself when the controller ends."""

    def __init__(self, name: str, path: str | Path) -> None:
        self.path = Path(path)
        check_new(self.path)
        command = [sys.executable, "-m", "ur_admittance.recording.recorder", name, str(path)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.pid = self._process.pid
        self._wait_until_ready()

    def finish(self, timeout: float = FINISH_S) -> str:
        """Wait until the file is complete; the controller must have ended. Returns the problem, empty: none."""
        try:
            _, errors = self._process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
            return (
                f"the recorder did not finish {self.path} within {timeout:g} s; the file can be read but not replayed"
            )
        if self._process.returncode == 0:
            return ""
        if self._process.returncode < 0:
            return f"the recorder of {self.path} was killed by {signal.Signals(-self._process.returncode).name}"
        return errors.strip().splitlines()[-1] if errors.strip() else f"the recorder of {self.path} failed"

    def stop(self) -> str:
        """End the recording now, with a complete file."""
        if self._process.poll() is None:
            self._process.terminate()
        return self.finish()

    def __enter__(self) -> "RecorderProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

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
        revision, params, about, reason, status = -1, None, None, "", (-1, -1)
        while True:
            last = reader.ended or bool(stop)  # asked before draining: nothing can follow what is drained now
            reason = reader.reason()  # which may change within a mode
            for entry in reader.drain():
                if int(entry["loop"]["params_revision"]) != revision or entry["loop"]["sequence"] == 1:
                    revision = int(entry["loop"]["params_revision"])
                    params, about = reader.params(revision), reader.about()
                if log is None:
                    log = LogWriter(path, about or {})
                new_status = (int(entry["command"]["mode"]), int(entry["command"]["status"]))
                if new_status != status:
                    status, reason = new_status, reader.reason()
                log.add(entry, params, about, reason)
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
    try:
        sys.stdout.write(record(arguments[0], arguments[1]) + "\n")
    except UrAdmittanceError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
