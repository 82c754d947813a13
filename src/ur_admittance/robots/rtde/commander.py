"""The command connection to the robot, in a process of its own.

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

from ur_admittance.errors import RobotError
from ur_admittance.robots.rtde.child import LARGEST, STREAMED

ACCEPTED, CONNECTED = 1, 2


class Commander:
    """Opening it stops any program on the robot and uploads the control program."""

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
