"""Commands through the library ur_rtde, which brings its own control program; its part runs in a child process.

That program holds the last speed for ever, so it runs under a watchdog of the controller, set once to its final rate
when TCP and payload are done. The child process keeps it quiet while the arm rests. A program that ends all the same,
at rest on a busy computer or because a call took longer than the watchdog waits, is started anew when it is needed.
"""

import time
from collections.abc import Sequence
from typing import Any

from ur_admittance.core.records import STOPPED
from ur_admittance.errors import RobotError
from ur_admittance.robots.rtde.commander import Commander
from ur_admittance.robots.rtde.link import START_TIME, Link
from ur_admittance.robots.rtde.settings import SPEEDJ_ACCELERATION, RtdeSettings
from ur_admittance.robots.rtde.versions import Version, is_polyscope_x

NOT_ON_X = (
    "the client ur_rtde cannot drive PolyScope X: it sends its program to port 30003, which is not among the services "
    "there, and its reconnection crashes; use --client direct."
)
CONNECT_TIME = 10.0  # [s] that the library may take


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
