"""What a person does at the pendant, over the network: who is it, power, stops, the program.

PolyScope 3 and 5 have a dashboard server for it. PolyScope X has none: RTDE shows its state, the primary port takes the
commands, and the Robot API says whether it is in remote control.
"""

import contextlib
import time
import zlib
from collections.abc import Iterator

from ur_admittance.robots import ROBOT_MODES
from ur_admittance.robots.rtde import robot_api
from ur_admittance.robots.rtde.dashboard_port import Dashboard
from ur_admittance.robots.rtde.listen import newest, read_version
from ur_admittance.robots.rtde.primary_port import MESSAGE, VERSION, Primary
from ur_admittance.robots.rtde.versions import Version, is_polyscope_x, twins

RELEASE_TIME = 2.0  # [s] that the release of a protective stop may take
LOOK_TIME = 1.0  # [s] for version and type of the arm; they come at once and with the first state
KINEMATICS, CONFIGURATION = 5, 6  # types of parts of the state
TYPE_AT = 5 + 53 * 8 + 2 * 4  # [bytes] where it holds the type of the arm: after 53 numbers and two integers
STOPPED, PAUSED = 1, 4  # runtime_state

TYPES = {1: "ur5e", 2: "ur10e", 3: "ur3e", 4: "ur16e", 5: "ur18", 6: "ur8long", 7: "ur20", 8: "ur30", 9: "ur15"}
# safety_status; every other number is a stop as well
SAFETY = {1: "NORMAL", 2: "REDUCED", 3: "PROTECTIVE_STOP", 4: "RECOVERY", 8: "VIOLATION", 9: "FAULT"}
SAFETY |= dict.fromkeys((5, 12, 16, 18, 19, 22), "SAFEGUARD_STOP")
SAFETY |= dict.fromkeys((6, 7, 15, 20), "EMERGENCY_STOP")


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
        return robot_api.remote_control(self.host, self.timeout)

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


@contextlib.contextmanager
def panel(host: str, timeout: float = 3.0, version: Version | None = None) -> Iterator[Dashboard | PolyscopeX]:
    """RobotError: no robot answers. version: of its software, if it is known already."""
    found = read_version(host, timeout) if version is None else version
    if is_polyscope_x(found):
        yield PolyscopeX(host, found, timeout)
    else:
        with Dashboard(host, timeout) as dashboard:
            yield dashboard
