"""What a person does at the pendant, over the network: who is it, power, stops, the program.

PolyScope 3 and 5 have a dashboard server for it: one line in, one line out. PolyScope X has none: RTDE shows its state,
the primary port takes the commands, and the Robot API (HTTP and JSON, from software 10.11 on; questions about the state
from 3.1.4, software 10.12, on) says whether it is in remote control. Everything has a time limit.
Source: Universal_Robots_Client_Library, src/ur/dashboard_client_implementation_x.cpp.
"""

import contextlib
import json
import re
import socket
import time
import zlib
from collections.abc import Iterator
from http.client import HTTPException
from typing import Any
from urllib.request import ProxyHandler, build_opener

from ur_admittance.errors import RobotError
from ur_admittance.model import MODEL_NAMES
from ur_admittance.robots import ROBOT_MODES
from ur_admittance.robots.rtde.listen import newest, read_version
from ur_admittance.robots.rtde.primary_port import KINEMATICS, MESSAGE, VERSION, Primary
from ur_admittance.robots.rtde.versions import Version, is_polyscope_x, twins
from ur_admittance.robots.rtde.wire import reason

DASHBOARD_PORT, API_PORT = 29999, 80
API_BASE = "/universal-robots/robot-api"
MODES_SINCE = (3, 1, 4)
LARGEST_ANSWER = 1 << 22  # [bytes]
RELEASE_TIME = 2.0  # [s] that the release of a protective stop may take
LOOK_TIME = 1.0  # [s] for version and type of the arm; they come at once and with the first state
CONFIGURATION = 6  # type of a part of the state
TYPE_AT = 5 + 53 * 8 + 2 * 4  # [bytes] where it holds the type of the arm: after 53 numbers and two integers
STOPPED, PAUSED = 1, 4  # runtime_state

TYPES = {1: "ur5e", 2: "ur10e", 3: "ur3e", 4: "ur16e", 5: "ur18", 6: "ur8long", 7: "ur20", 8: "ur30", 9: "ur15"}
# safety_status; every other number is a stop as well
SAFETY = {1: "NORMAL", 2: "REDUCED", 3: "PROTECTIVE_STOP", 4: "RECOVERY", 8: "VIOLATION", 9: "FAULT"}
SAFETY |= dict.fromkeys((5, 12, 16, 18, 19, 22), "SAFEGUARD_STOP")
SAFETY |= dict.fromkeys((6, 7, 15, 20), "EMERGENCY_STOP")


class Dashboard:
    """``with Dashboard(host) as dashboard: dashboard.ask("robotmode")``"""

    def __init__(self, host: str, timeout: float = 3.0) -> None:
        self.host, self.timeout = host, timeout
        self._socket: socket.socket | None = None
        self._rest = b""

    def __enter__(self) -> "Dashboard":
        try:
            self._socket = socket.create_connection((self.host, DASHBOARD_PORT), timeout=self.timeout)
            self._line()  # the greeting
        except OSError as error:
            self.close()
            raise RobotError(
                f"the dashboard server of {self.host} (port {DASHBOARD_PORT}) does not answer ({reason(error)}); is it "
                "a UR, and are the network services enabled in its security settings?"
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


class PolyscopeX:
    """The questions and commands of ``Dashboard``."""

    def __init__(self, host: str, version: Version, timeout: float) -> None:
        self.host, self.timeout, self._version = host, timeout, version

    def version(self) -> Version:
        return self._version

    def emulated(self) -> bool:
        with Primary(self.host, self.timeout) as port:
            messages = (content for kind, content in port.packages(LOOK_TIME) if kind == MESSAGE)
            first = next((content for content in messages if content[9:10] == bytes([VERSION])), b"")
        return first.endswith(b"emulator")

    def models(self) -> tuple[str, ...]:
        name = TYPES.get(int.from_bytes(self._part(CONFIGURATION)[TYPE_AT : TYPE_AT + 4], "big"))
        return twins(name) if name else ()

    def serial_number(self) -> str:
        """Offered nowhere: the checksums of the arm's own geometry identify it as well."""
        checksums = self._part(KINEMATICS)[5:29]
        return f"unknown, calibration {zlib.crc32(checksums):08x}" if checksums else ""

    def remote_control(self) -> bool | None:
        """None: this software does not say."""
        if api_version(self.host, self.timeout) < MODES_SINCE:
            return None
        mode = (ask_api(self.host, "/system/v1/controlmode", self.timeout) or {}).get("mode")
        return None if mode is None else mode == "REMOTE"

    def safety(self) -> str:
        number = self._state("safety_status")
        return SAFETY.get(number, f"state {number}")

    def mode(self) -> str:
        number = self._state("robot_mode")
        return ROBOT_MODES.get(number, f"number {number}")

    def power_on(self) -> None:
        self._command("power on")

    def release_brakes(self) -> None:
        self._command("set robotmode run")

    def program(self) -> str:
        return "" if self._state("runtime_state") in (STOPPED, PAUSED) else "PLAYING"

    def stop(self) -> None:
        self._command("stop program")

    def unlock(self) -> str:
        """The port does not answer: the state shows what became of it."""
        self._command("set unlock protective stop")
        end = time.monotonic() + RELEASE_TIME
        while "PROTECTIVE" in self.safety():
            if time.monotonic() > end:
                return "it is still stopped; a robot stays so for five seconds, then it may still obey"
            time.sleep(0.1)
        return ""

    def _part(self, kind: int) -> bytes:
        """Of the robot's state; empty: it has none."""
        with Primary(self.host, self.timeout) as port:
            return next((part for part in port.parts(LOOK_TIME) if part[4] == kind), b"")

    def _state(self, name: str) -> int:
        return int(newest(self.host, (name,), self.timeout)[name])

    def _command(self, line: str) -> None:
        with Primary(self.host, self.timeout) as port:
            port.command(line)


def ask_api(host: str, path: str, timeout: float = 3.0) -> dict[str, Any] | None:
    """The answer; None: there is none, or it is an error. Redirections are followed, paths move between versions."""
    address = f"http://{host}:{API_PORT}{API_BASE}{path}"
    try:
        with build_opener(ProxyHandler({})).open(address, timeout=timeout) as answer:
            found = json.loads(answer.read(LARGEST_ANSWER))
    except (OSError, HTTPException, ValueError):
        return None
    return found if isinstance(found, dict) else None


def api_version(host: str, timeout: float = 3.0) -> tuple[int, ...]:
    """Of the API; empty: this software has none."""
    description = ask_api(host, "/openapi.json", timeout) or {}
    try:
        return tuple(int(part) for part in str(description["info"]["version"]).split("."))
    except (KeyError, TypeError, ValueError):
        return ()


@contextlib.contextmanager
def panel(host: str, timeout: float = 3.0, version: Version | None = None) -> Iterator[Dashboard | PolyscopeX]:
    """RobotError: no robot answers. version: of its software, if it is known already."""
    found = read_version(host, timeout) if version is None else version
    if is_polyscope_x(found):
        yield PolyscopeX(host, found, timeout)
    else:
        with Dashboard(host, timeout) as dashboard:
            yield dashboard
