"""Commands by input registers on the connection that brings the states, carried out by a URScript of our own.

Registers 24 to 47 are the ones that UR keeps for external clients; field buses and ur_rtde use those below. The
script, direct.script, takes one package per control cycle and says in output registers which one it uses and which
request it has done. Its life: uploaded to the script port, it answers with the token of this upload; it ends on
request, from outside (dashboard or primary port), or by itself when an arm that it drives gets no commands. PolyScope
X takes it on the primary port.
"""

import random
import socket
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ur_admittance.core.records import Status
from ur_admittance.errors import RobotError
from ur_admittance.robots.rtde.link import ANOTHER, RUNNING, SLIDER_DOWN, START_TIME, STOPS, Link
from ur_admittance.robots.rtde.pendant import panel
from ur_admittance.robots.rtde.primary_port import Primary
from ur_admittance.robots.rtde.rtde_checks import SCRIPT_PORT
from ur_admittance.robots.rtde.settings import SPEEDJ_ACCELERATION, RtdeSettings
from ur_admittance.robots.rtde.versions import Version, is_polyscope_x
from ur_admittance.robots.rtde.wire import reason

# modes of the script; from STOP on: requests, done once
REST, SPEED, SERVO, STOP, SET_TCP, SET_PAYLOAD, ZERO, GET_TCP, END = range(9)
FLOATS = range(24, 30)
INPUTS = (
    "input_int_register_24",  # number of the package; the watchdog looks at it
    "input_int_register_25",  # mode
    "input_int_register_26",  # number of the request
    *(f"input_double_register_{i}" for i in FLOATS),
    "input_int_register_27",  # number of the package again
)
TOKEN, IN_USE, DONE = (f"output_int_register_{i}" for i in (24, 25, 26))
RESULTS = tuple(f"output_double_register_{i}" for i in FLOATS)
NUMBERS = 1 << 31  # of packages, requests and uploads: what an integer register holds
NOTHING = (0.0,) * 6
UNTAKEN = 100  # packages that the script has not taken at full speed: it is no longer there
SLOWEST = 0.01  # of the speed slider: below it the script hardly goes on
STATE_TIME = 0.1  # [s] to wait for the next state while a request is being done


class DirectLink(Link):
    def __init__(self, host: str, version: Version, settings: RtdeSettings) -> None:
        super().__init__(host, version, settings, (TOKEN, IN_USE, DONE, *RESULTS), INPUTS)
        self._mode = {"speed": SPEED, "servo": SERVO}[settings.command]
        self._number = self._request = self._token = random.randrange(1, NUMBERS)
        self._streaming = False
        self._zeroes = version[0] > 3  # a CB3 has no sensor, and its URScript no function for it
        try:
            if not self._upload():
                raise RobotError(f"{host} does not start the control program: {self._why_not()}.")
        except BaseException:
            self.states.close()
            raise

    def stream(self, six: Sequence[float]) -> bool:
        self._streaming = True
        return self._send(self._mode, six)

    def trouble(self, driving: bool, silence: float) -> tuple[Status, str]:
        status, sentence = super().trouble(driving, silence)
        if status != Status.OK and self._streaming:
            # a program that was only paused must not find the old speeds when someone lets it go on
            self._send(REST)
            self._streaming = False
        return status, sentence

    def program_running(self) -> bool:
        """The token stays in its register when another program has taken the place of ours: that one takes no
        packages."""
        takes = self.delay * max(self.scaling(), SLOWEST) < UNTAKEN  # the slider stretches each turn of the script
        return super().program_running() and self.states[TOKEN] == self._token and takes

    @property
    def delay(self) -> int:
        """Packages that have been sent after the one that the script uses."""
        return int((self._number - self.states[IN_USE]) % NUMBERS)

    def why_not_running(self) -> str:
        """Our own program takes its token back when it ends by itself."""
        replaced = super().program_running() and self.states[TOKEN] == self._token
        if replaced and self.scaling() < SLOWEST:
            return SLIDER_DOWN
        return ANOTHER if replaced else super().why_not_running()

    # requests

    def restart_program(self) -> bool:
        try:
            return self._upload()
        except RobotError:
            return False

    def keep_alive(self) -> None:
        self._send(REST)

    def set_tcp(self, tcp: Sequence[float]) -> bool:
        return self._ask(SET_TCP, tcp)

    def set_payload(self, mass: float, center: Sequence[float]) -> bool:
        return self._ask(SET_PAYLOAD, (mass, *center, 0.0, 0.0))

    def zero_ft_sensor(self) -> bool:
        return self._zeroes and self._ask(ZERO)

    def tcp_offset(self) -> Sequence[float] | None:
        return [self.states[name] for name in RESULTS] if self._ask(GET_TCP) else None

    def _brake(self, timeout: float) -> bool:
        self._streaming = False
        return self._ask(STOP, timeout=timeout)

    def close(self) -> None:
        if self.connected() and self.program_running():
            self._ask(END, timeout=0.5)
            self._wait(lambda: not self.program_running(), 0.5, END)
        super().close()

    # inside

    def _upload(self) -> bool:
        """Start the program, which ignores the package that it finds at its start. RobotError: the port is closed."""
        self._token = random.randrange(1, NUMBERS)
        self._send(REST)
        if is_polyscope_x(self.version):  # which has no script port
            with Primary(self.host, self.settings.connect_timeout) as primary:
                primary.send(self._script())
                return self._wait(lambda: primary.accepted() and self.program_running(), START_TIME, REST)
        try:
            # Open until the program runs: closing a socket with unread data (the robot sends its state here as well)
            # resets the connection, and the robot might drop the program with it.
            with socket.create_connection((self.host, SCRIPT_PORT), self.settings.connect_timeout) as port:
                port.sendall(self._script().encode("ascii"))
                return self._wait(self.program_running, START_TIME, REST)
        except OSError as error:
            raise RobotError(f"{self.host} does not take a program on port {SCRIPT_PORT}: {reason(error)}.") from None

    def _script(self) -> str:
        return script(self.settings, self.rate, self._token, self._zeroes)

    def _send(self, mode: int, six: Sequence[float] = NOTHING) -> bool:
        self._number = (self._number + 1) % NUMBERS
        return self.states.send(self._number, mode, self._request, *six, self._number)

    def _ask(self, mode: int, six: Sequence[float] = NOTHING, timeout: float = 2.0) -> bool:
        """A request of the script, until it is done or the program ends."""
        self._request = (self._request + 1) % NUMBERS
        states = self.states
        self._wait(lambda: states[DONE] == self._request or not self.program_running(), timeout, mode, six)
        return bool(states[DONE] == self._request)

    def _wait(self, done: Any, timeout: float, mode: int, six: Sequence[float] = NOTHING) -> bool:
        """Send the same in every cycle until it is done: packages keep the watchdog quiet meanwhile."""
        states = self.states
        end = time.monotonic() + timeout
        while time.monotonic() < end and self._send(mode, six):
            states.wait(states.timestamp, STATE_TIME)
            if done():
                return True
        return False

    def _why_not(self) -> str:
        bits, mode = self.states["safety_status_bits"], self.states["robot_mode"]
        if bits & STOPS:
            return f"it is stopped (safety status bits {bits:#x})"
        if mode != RUNNING:
            return f"the arm has no power or its brakes are on (robot mode {mode})"
        with panel(self.host, version=self.version) as robot:
            if robot.remote_control() is False:
                return "it is in local control; switch it to remote control on the pendant"
        return f"it did not run within {START_TIME:g} s; the log on the pendant says why"


def script(s: RtdeSettings, rate: float, token: int, zeroes: bool = True) -> str:
    """The control program for a robot of that rate [Hz]. zeroes: it has a sensor of its own."""
    values: dict[str, object] = {
        "TOKEN": token,
        "PATIENCE": max(1, round(s.command_patience * rate)),
        "WATCHDOG": max(2, round(rate / s.watchdog_hz)),
        "DECELERATION": float(s.stop_deceleration),
        "ACCELERATION": SPEEDJ_ACCELERATION,
        "LOOKAHEAD": float(s.lookahead),
        "GAIN": float(s.gain),
    }
    if not zeroes:
        values["zero_ftsensor()"] = "sync()"
    lines = Path(__file__).with_name("direct.script").read_text(encoding="ascii").splitlines()
    text = "".join(f"{line}\n" for line in lines if not line.lstrip().startswith("#"))
    for name, value in values.items():
        text = text.replace(name, str(value))
    return text
