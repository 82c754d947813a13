"""The robot's dashboard server (port 29999): one line in, one line out, with a time limit on everything."""

import re
import socket

from ur_admittance.errors import RobotError
from ur_admittance.model import MODEL_NAMES
from ur_admittance.robots.rtde.versions import Version, twins

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

    def __exit__(self, *_: object) -> None:
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

    def version(self) -> Version:
        """Of the controller's software."""
        answer = self.ask("PolyscopeVersion")
        numbers = re.search(r"(\d+)\.(\d+)\.(\d+)", answer)
        if numbers is None:
            raise RobotError(f"{self.host} does not report its software version (it said {answer[:60]!r}); is it a UR?")
        return int(numbers[1]), int(numbers[2]), int(numbers[3])

    def emulated(self) -> bool:
        return "emulator" in self.ask("PolyscopeVersion")

    def models(self) -> tuple[str, ...]:
        """Types that it may be, the likeliest first; empty: it does not say. A UR5 and a UR5e both say UR5."""
        name = self.ask("get robot model").lower().replace(" ", "")
        if not name.startswith("ur"):
            return ()
        if self.version()[0] > 3 and f"{name}e" in MODEL_NAMES:
            name = f"{name}e"
        return twins(name) if name in ("ur5e", "ur10e") else (name,)

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

    def safety(self) -> str:
        """NORMAL, REDUCED, or a stop."""
        return self.word("safetystatus" if self.version()[0] > 3 else "safetymode")

    def mode(self) -> str:
        """Of the robot: RUNNING, IDLE (brakes on), POWER_OFF ..."""
        return self.word("robotmode")

    def power_on(self) -> None:
        self.ask("power on")

    def release_brakes(self) -> None:
        self.ask("brake release")

    def program(self) -> str:
        """What runs, for people; empty: nothing."""
        return self.ask("programState") if "true" in self.ask("running").lower() else ""

    def stop(self) -> None:
        """The program."""
        self.ask("stop")

    def unlock(self) -> str:
        """Release a protective stop; empty: the robot does, else why not."""
        self.ask("close safety popup")
        answer = self.ask("unlock protective stop")
        return "" if answer == "Protective stop releasing" else answer


def reason(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return error.strerror or str(error)
