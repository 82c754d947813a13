"""The robot's dashboard server (port 29999): one line in, one line out, with a time limit on everything."""

import re
import socket
from types import TracebackType

from ur_admittance.errors import RobotError

PORT = 29999


class Dashboard:
    """``with Dashboard(host) as dashboard: dashboard.ask("robotmode")``"""

    def __init__(self, host: str, timeout: float = 3.0) -> None:
        self.host, self.timeout = host, timeout
        self._socket: socket.socket | None = None
        self._rest = b""

    def __enter__(self) -> "Dashboard":
        try:
            self._socket = socket.create_connection((self.host, PORT), timeout=self.timeout)
            self._line()  # the greeting
        except OSError as error:
            self.close()
            raise RobotError(
                f"the dashboard server of {self.host} (port {PORT}) does not answer ({reason(error)}); is it a UR, and "
                "are the network services enabled in its security settings?"
            ) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def ask(self, command: str) -> str:
        """The answer to one command."""
        if self._socket is None:
            raise RobotError("the dashboard is not connected.")
        try:
            self._socket.sendall(command.encode("ascii") + b"\n")
            return self._line()
        except OSError as error:
            raise RobotError(f"the dashboard server of {self.host} failed on {command!r} ({reason(error)}).") from None

    def _line(self) -> str:
        assert self._socket is not None
        while b"\n" not in self._rest:
            data = self._socket.recv(4096)
            if not data:
                raise ConnectionResetError("closed by the robot")
            self._rest += data
        line, self._rest = self._rest.split(b"\n", 1)
        return line.decode("utf-8", "replace").strip()

    # answers as values

    def version(self) -> tuple[int, int, int] | None:
        """Of the controller's software; None when the answer has none."""
        numbers = re.search(r"(\d+)\.(\d+)\.(\d+)", self.ask("PolyscopeVersion"))
        return (int(numbers[1]), int(numbers[2]), int(numbers[3])) if numbers else None

    def word(self, command: str) -> str:
        """What follows the colon: POWER_OFF in ``Robotmode: POWER_OFF``."""
        return self.ask(command).rpartition(":")[2].strip()

    def serial_number(self) -> str:
        """Digits; empty: software before 5.6 does not tell it."""
        answer = self.ask("get serial number")
        return answer if answer.isdigit() else ""

    def remote_control(self) -> bool | None:
        """None: this controller (a CB3) has no remote control."""
        answer = self.ask("is in remote control").lower()
        return None if answer not in ("true", "false") else answer == "true"


def reason(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return error.strerror or str(error)
