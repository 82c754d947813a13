"""Commands through the library ur_rtde, which brings its own control program; its part runs in a child process.

That program holds the last speed for ever, so it runs under a watchdog of the controller, set once to its final rate
when TCP and payload are done. The child process keeps it quiet while the arm rests. A program that ends all the same,
at rest on a busy computer or because a call took longer than the watchdog waits, is started anew when it is needed.

ur_rtde 1.6.5 waits without a limit for a robot that does not answer (holding Python's interpreter lock in its
constructor), and crashes the process when it reconnects by itself after a lost connection. In a child process the
first gets a time limit and the second ends in an error message instead of ending the program. A streamed command
reaches the child in about ten microseconds; its answer is read in the next cycle.
"""

import contextlib
import json
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ur_admittance.core.records import STOPPED
from ur_admittance.errors import RobotError
from ur_admittance.robots.rtde.child import LARGEST, STREAMED
from ur_admittance.robots.rtde.link import START_TIME, Link
from ur_admittance.robots.rtde.settings import SPEEDJ_ACCELERATION, RtdeSettings
from ur_admittance.robots.rtde.versions import Version, is_polyscope_x

NOT_ON_X = (
    "the client ur_rtde cannot drive PolyScope X: it sends its program to port 30003, which is not among the services "
    "there, and its reconnection crashes; use --client direct."
)
CONNECT_TIME = 10.0  # [s] that the library may take
ACCEPTED, CONNECTED = 1, 2  # bits of what the child answers


class Commander:
    """The command connection, in a process of its own. Opening it stops any program on the robot and uploads the
    control program."""

    def __init__(self, host: str, frequency: float, priority: int, timeout: float, patience: float) -> None:
        """patience: without a command for that long [s] the child slows the arm down."""
        self.host = host
        self.accepted = True  # the last streamed command whose answer is known
        self.connected = True
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket = ours
        child = str(Path(__file__).with_name("child.py"))
        arguments = [sys.executable, child, str(theirs.fileno()), host, str(frequency), str(priority)]
        arguments.append(str(patience))
        self._process = subprocess.Popen(arguments, pass_fds=[theirs.fileno()], stdout=subprocess.DEVNULL)
        theirs.close()
        answer = self._answer(timeout)
        if "error" in answer:
            self.close()
            raise _explained(host, answer["error"])

    # each cycle

    def stream(self, kind: bytes, six: Sequence[float], a: float, b: float, c: float = 0.0) -> bool:
        """Send speedJ (S) or servoJ (V). False when the child cannot take it or refused the one before."""
        self.listen()
        try:
            self._socket.send(STREAMED.pack(kind, *six, a, b, c), socket.MSG_DONTWAIT)
        except OSError:
            self.connected = False
        return self.accepted and self.connected

    def listen(self) -> None:
        """Take the answers that have come."""
        while True:
            try:
                answer = self._socket.recv(LARGEST, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            except OSError:
                answer = b""
            if not answer:
                self.connected = False
                return
            if len(answer) == 1:
                self.accepted, self.connected = bool(answer[0] & ACCEPTED), bool(answer[0] & CONNECTED)

    # outside the loop

    def call(self, name: str, *arguments: Any, timeout: float = 2.0) -> Any:
        """Call a method of the library; None when it fails or does not return in time."""
        self.listen()
        try:
            self._socket.send(json.dumps({"call": name, "arguments": arguments}).encode())
        except OSError:
            self.connected = False
            return None
        return self._answer(timeout).get("value")

    def _answer(self, timeout: float) -> dict[str, Any]:
        end = time.monotonic() + timeout
        while (left := end - time.monotonic()) > 0.0:
            if not select.select([self._socket], [], [], left)[0]:
                break
            try:
                message = self._socket.recv(LARGEST)
            except OSError:
                message = b""
            if not message:
                self.connected = False
                return {"error": f"the program that talks to the robot ended (exit code {self._process.poll()})"}
            if len(message) > 1:  # a single byte belongs to a streamed command
                answer: dict[str, Any] = json.loads(message)
                return answer
        return {"error": f"no answer from the robot within {timeout:g} s"}

    def close(self) -> None:
        """At once: the robot sees its connection closed. An arm that still moves is stopped by its watchdog."""
        self.connected = False
        with contextlib.suppress(OSError):
            self._socket.close()
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()


def _explained(host: str, message: str) -> RobotError:
    """The library's exception in our words."""
    lowered = message.lower()
    if "no module named" in lowered:
        return RobotError("the package ur-rtde is missing: pip install 'ur-admittance[robot]', or leave --client out.")
    if "in use" in lowered or "in_use" in lowered:
        return RobotError(
            f"another program already commands {host} through RTDE; close it (also EtherNet/IP and PROFINET adapters)."
        )
    return RobotError(f"{host} does not accept the control program: {message.strip().rstrip('.')}.")


class LibraryLink(Link):
    def __init__(self, host: str, version: Version, settings: RtdeSettings) -> None:
        if is_polyscope_x(version):
            raise RobotError(NOT_ON_X)
        super().__init__(host, version, settings)
        s = settings
        try:
            self.commander = Commander(host, self.rate, s.rt_priority, CONNECT_TIME, s.command_patience)
        except BaseException:
            self.states.close()
            raise
        self._armed = False  # the watchdog of the program that runs
        period = 1.0 / self.rate
        self._kind, self._stop, self._arguments = {
            "speed": (b"S", "speedStop", (SPEEDJ_ACCELERATION, period)),
            "servo": (b"V", "servoStop", (period, s.lookahead, s.gain)),
        }[s.command]

    def stream(self, six: Sequence[float]) -> bool:
        return self.commander.stream(self._kind, six, *self._arguments)

    @property
    def commanding(self) -> bool:
        self.commander.listen()
        return self.commander.connected

    def restart_program(self) -> bool:
        self._armed = False
        self.commander.call("reuploadScript")
        end = time.monotonic() + START_TIME
        self.states.refresh()
        while not (self.program_running() and self.commander.call("isProgramRunning")):
            if time.monotonic() > end:
                return False
            self.states.wait(self.states.timestamp, 0.01)
        self.commander.accepted = True
        return True

    def arm_watchdog(self) -> bool:
        self._armed = self._armed or bool(self.commander.call("setWatchdog", self.settings.watchdog_hz))
        return self._armed

    def keep_alive(self) -> None:
        """The child process does that, many times as often."""

    def set_tcp(self, tcp: Sequence[float]) -> bool:
        return bool(self.commander.call("setTcp", list(tcp)))

    def set_payload(self, mass: float, center: Sequence[float]) -> bool:
        return bool(self.commander.call("setPayload", mass, list(center)))

    def zero_ft_sensor(self) -> bool:
        zeroed = bool(self.commander.call("zeroFtSensor"))
        self.states.refresh()
        if zeroed or self.program_running():
            return zeroed
        zeroed = self.restart_program() and bool(self.commander.call("zeroFtSensor"))
        return self.arm_watchdog() and zeroed

    def tcp_offset(self) -> Sequence[float] | None:
        found: Any = self.commander.call("getTCPOffset")
        return None if found is None else list(found)

    def _brake(self, timeout: float) -> bool:
        """Speeds are brought to zero by a command in each cycle: a single call that brakes takes longer than the
        watchdog waits."""
        end, a = time.monotonic() + timeout, self.settings.stop_deceleration
        while self._kind == b"S" and max(map(abs, self.states["actual_qd"])) > STOPPED and time.monotonic() < end:
            if not self.commander.stream(b"S", [0.0] * 6, a, 1.0 / self.rate):
                break
            self.states.wait(self.states.timestamp, 0.1)
        return bool(self.commander.call(self._stop, a, timeout=timeout))

    def close(self) -> None:
        super().close()
        self.commander.close()
