"""The emulator as another process, for tests, benchmarks and examples.

    with EmulatorProcess("--environment", "wall") as emulator:
        robot = RtdeRobot(emulator.host, robot_model("ur5e"))
        emulator.tell("push 10 0 0 0 0 0")

It must be another process: the client library's constructors hold Python's interpreter lock while they wait for the
robot's answer.
"""

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
from types import TracebackType
from typing import Any

from ur_admittance.errors import SimulationError
from ur_admittance_lab.emulator import CONSOLE_PORT
from ur_admittance_lab.emulator.ports import DASHBOARD_PORT

START_TIME = 120.0  # [s] the first start on a machine compiles
STOP_TIME = 5.0  # [s]


def free_loopback() -> str:
    """An address of this machine alone; the ports of a UR are fixed, so emulators differ by address."""
    return f"127.{random.randint(1, 254)}.{random.randint(0, 254)}.{random.randint(2, 254)}"


class EmulatorProcess:
    """Options as for the command ur-emulator."""

    def __init__(self, *options: str, host: str | None = None) -> None:
        self.host = host or free_loopback()
        self.options = options
        self.process: subprocess.Popen[str] | None = None
        self.lines: list[str] = []  # what it has said
        self._listens = threading.Event()

    def start(self) -> "EmulatorProcess":
        command = [sys.executable, "-m", "ur_admittance_lab.emulator", "--host", self.host, *self.options]
        self._listens.clear()
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        threading.Thread(target=self._collect, args=(self.process,), daemon=True).start()
        if not self._listens.wait(START_TIME) or self.process.poll() is not None:
            self.stop()
            raise SimulationError(f"the emulator did not start: {' '.join(self.lines[-3:]) or 'it said nothing'}.")
        return self

    def _collect(self, process: "subprocess.Popen[str]") -> None:
        assert process.stderr is not None
        for line in process.stderr:
            self.lines.append(line.rstrip())
            if "listens on" in line:
                self._listens.set()
        self._listens.set()  # it has ended

    def stop(self) -> None:
        """Ask it to end; kill it when it does not."""
        process, self.process = self.process, None
        if process is None or process.poll() is not None:
            return
        process.send_signal(signal.SIGCONT)
        process.terminate()
        try:
            process.wait(STOP_TIME)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(STOP_TIME)

    def kill(self) -> None:
        """As a power cut would."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(STOP_TIME)

    @contextlib.contextmanager
    def frozen(self) -> Any:
        """Everything stops inside the block: arm, program and network."""
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self.process.pid, signal.SIGCONT)

    @contextlib.contextmanager
    def hurried(self, pace: float = 4.0) -> Any:
        """Robot seconds per second inside the block, where nothing is judged by the clock."""
        self.tell(f"pace {pace}")
        try:
            yield
        finally:
            self.tell("pace 1")

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def tell(self, command: str, timeout: float = 5.0) -> str:
        """One ``emulator ...`` command; returns the answer."""
        return self.dashboard("emulator " + command, timeout, CONSOLE_PORT)

    def dashboard(self, command: str, timeout: float = 5.0, port: int = DASHBOARD_PORT) -> str:
        with socket.create_connection((self.host, port), timeout=timeout) as connection:
            lines = connection.makefile("rw", encoding="utf-8", newline="\n")
            lines.readline()
            lines.write(command + "\n")
            lines.flush()
            return lines.readline().strip()

    def ask(self, question: str) -> Any:
        """``state``, ``incident``, ``trace`` or ``counters`` as Python values."""
        return json.loads(self.tell(question))

    def __enter__(self) -> "EmulatorProcess":
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
