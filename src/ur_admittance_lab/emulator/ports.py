"""One connection of each kind: RTDE (30004), dashboard (29999), script (30003), primary and secondary (30001, 30002).

PolyScope X has neither dashboard nor script port; its Robot API is in api_server.py. The console (29990) is ours.

A connection turns bytes into calls of the control box and answers into bytes. Whatever a client sends, it can
only harm its own connection: bad messages are logged and dropped.
"""

import math
import struct
import time
from collections.abc import Callable

from ur_admittance_lab.emulator import CONSOLE_PORT, primary, protocol
from ur_admittance_lab.emulator.dashboard import EMULATOR, answer
from ur_admittance_lab.emulator.emulated_controller import Controller
from ur_admittance_lab.emulator.protocol import NOT_FOUND, BadMessage, Kind, Recipe, is_polyscope_x
from ur_admittance_lab.emulator.urscript.text import Splitter
from ur_admittance_lab.emulator.variables import OUTPUTS, known

DASHBOARD_PORT, PRIMARY_PORT, SECONDARY_PORT, SCRIPT_PORT, RTDE_PORT = 29999, 30001, 30002, 30003, 30004
LINE_LIMIT = 4096  # [bytes] of one line
SCRIPT_LIMIT = 1 << 20  # [bytes] of one uploaded program
BACKLOG_LIMIT = 1 << 16  # [bytes] a client may leave unread before packages are dropped
PATIENCE = 10.0  # [s] after which a client that reads nothing is disconnected, as the robot does
RECIPE_LIMIT = 255


class Connection:
    """Bytes out; subclasses take bytes in."""

    def __init__(self, box: Controller, name: str) -> None:
        self.box, self.name = box, name
        self.host: str | None = None  # the client's IP address
        self.paid = 0.0  # [s] monotonic time at which the work for it is within its share
        self.out = bytearray()
        self.closing = False  # after the rest has been sent
        self.full_since: float | None = None

    def feed(self, data: bytes) -> None:
        raise NotImplementedError

    def cycle(self) -> None:
        """After each control cycle."""
        self.can_send()

    def closed(self) -> None:
        """The socket is gone."""

    def can_send(self) -> bool:
        """There is room for more; a client that reads nothing for long is disconnected."""
        if len(self.out) <= BACKLOG_LIMIT:
            self.full_since = None
            return True
        now = time.monotonic()
        self.full_since = self.full_since or now
        if now - self.full_since > PATIENCE:
            self.complain("reads nothing: disconnected")
            self.out.clear()
            self.closing = True
        return False

    def complain(self, text: str) -> None:
        self.box.log("bad message", f"{self.name}: {text}")


class RtdeConnection(Connection):
    def __init__(self, box: Controller, name: str) -> None:
        super().__init__(box, name)
        self._in = bytearray()
        self._inputs: dict[int, Recipe] = {}
        self._output: Recipe | None = None
        self._every = 1  # cycles between packages
        self._started = False

    def feed(self, data: bytes) -> None:
        self._in += data
        try:
            for kind, payload in protocol.packets(self._in):
                try:
                    self._message(kind, payload)
                except (BadMessage, struct.error) as error:
                    self.complain(str(error))
        except BadMessage as error:
            self.complain(f"{error}: disconnected")
            self._in.clear()
            self.closing = True

    def _message(self, kind: int, payload: bytes) -> None:
        if kind == Kind.DATA_PACKAGE:
            self._data(payload)
        elif kind == Kind.REQUEST_PROTOCOL_VERSION:
            if len(payload) != 2:
                raise BadMessage(f"protocol version request of {len(payload)} bytes: must be 2")
            accepted = struct.unpack(">H", payload)[0] == protocol.PROTOCOL_VERSION
            self.out += protocol.packet(kind, bytes([accepted]))
        elif kind == Kind.GET_URCONTROL_VERSION:
            if is_polyscope_x(self.box.version):  # a robot does so until it is first switched on
                self.out += protocol.text_message("SafetySetup has not been confirmed yet", "emulator")
            self.out += protocol.packet(kind, struct.pack(">4I", *self.box.version, 0))
        elif kind == Kind.SETUP_OUTPUTS:
            self._setup_outputs(payload)
        elif kind == Kind.SETUP_INPUTS:
            self._setup_inputs(payload)
        elif kind in (Kind.START, Kind.PAUSE):
            start = kind == Kind.START
            possible = not start or self._output is not None
            self.out += protocol.packet(kind, bytes([possible]))
            self._started = start and possible
        elif kind == Kind.TEXT_MESSAGE:
            self.box.log("message", f"{self.name}: {protocol.words_in(payload)!r}")
        else:
            raise BadMessage(f"unknown message type {kind}")

    def _setup_outputs(self, payload: bytes) -> None:
        if len(payload) < 8:
            raise BadMessage(f"output setup of {len(payload)} bytes: must begin with the frequency")
        frequency = struct.unpack_from(">d", payload)[0]
        # the guide's limit; UR's own test asks a new controller for 406 names at once
        new = known(OUTPUTS, "control_step", self.box.version)
        limit = SCRIPT_LIMIT if new else protocol.NAMES_LIMIT
        names = protocol.names_in(payload[8:], limit)
        types = [known(OUTPUTS, name, self.box.version) or NOT_FOUND for name in names]
        rate = self.box.rate
        usable = math.isfinite(frequency) and 0.0 < frequency <= rate and bool(names) and NOT_FOUND not in types
        self._started = False
        self._output = Recipe(1, names, types) if usable else None
        if usable:
            self._every = max(1, round(rate / frequency))
        else:
            self.complain(f"output setup refused: {frequency} Hz, {', '.join(names)[:200]}")
        self.out += protocol.setup_answer(Kind.SETUP_OUTPUTS, int(usable), types)

    def _setup_inputs(self, payload: bytes) -> None:
        names = protocol.names_in(payload)
        types, granted = self.box.inputs.types(names, self)
        if granted and len(self._inputs) < RECIPE_LIMIT:
            number = len(self._inputs) + 1
            self._inputs[number] = Recipe(number, names, types)
        else:
            number = 0
            self.complain(f"input setup refused: {', '.join(names)[:200]}")
        self.out += protocol.setup_answer(Kind.SETUP_INPUTS, number, types)

    def _data(self, payload: bytes) -> None:
        recipe = self._inputs.get(payload[0]) if payload else None
        if recipe is None:
            raise BadMessage(f"data package for an unknown recipe ({payload[:1].hex() or 'empty'})")
        self.box.receive(recipe.read(payload[1:]))

    def cycle(self) -> None:
        if self._started and self._output is not None and self.box.tick % self._every == 0 and self.can_send():
            self.out += self._output.package(self.box.values)

    def closed(self) -> None:
        if self.box.inputs.release(self):
            self.box.commander_left()


class DashboardConnection(Connection):
    def __init__(self, box: Controller, name: str) -> None:
        super().__init__(box, name)
        self._in = bytearray()
        self.out += b"Connected: Universal Robots Dashboard Server\n"

    def answer(self, line: str) -> str:
        return answer(self.box, line)

    def feed(self, data: bytes) -> None:
        self._in += data
        while (end := self._in.find(b"\n")) >= 0:
            line = self._in[:end].decode("utf-8", "replace").strip()
            del self._in[: end + 1]
            reply = self.answer(line[:LINE_LIMIT])
            self.out += reply.encode("utf-8", "replace") + b"\n"
            self.closing = self.closing or line == "quit"
        if len(self._in) > LINE_LIMIT:
            self.complain(f"line of more than {LINE_LIMIT} bytes: disconnected")
            self._in.clear()
            self.closing = True


class ConsoleConnection(DashboardConnection):
    """``emulator ...`` alone."""

    def answer(self, line: str) -> str:
        return answer(self.box, line) if line.startswith(EMULATOR) else f"could not understand: '{line[:80]}'"


class ScriptConnection(Connection):
    """Programs, one after the other. Nothing is streamed back: the client here never reads."""

    def __init__(self, box: Controller, name: str) -> None:
        super().__init__(box, name)
        self._programs = Splitter()

    def feed(self, data: bytes) -> None:
        for text in self._programs.feed(data):
            self.program(text)
        if len(self._programs) > SCRIPT_LIMIT:
            self.complain(f"program of more than {SCRIPT_LIMIT} bytes: disconnected")
            self._programs = Splitter()
            self.closing = True

    def program(self, text: str) -> None:
        self.box.program.upload(text, client=self, sender=self.host)

    def closed(self) -> None:
        if self._programs:
            self.complain(f"{len(self._programs)} bytes of a program without its end: ignored")


class SecondaryConnection(ScriptConnection):
    """State ten times a second; takes URScript, and lines that are commands to the controller itself."""

    def __init__(self, box: Controller, name: str) -> None:
        super().__init__(box, name)
        self._born = box.tick
        self._read_only = False
        self.out += primary.version(box)

    def program(self, text: str) -> None:
        command = COMMANDS.get(text.strip())
        remote = self.box.safety.remote_control
        if not remote or self._read_only:
            self.out += primary.error(self.box, primary.READ_ONLY, primary.VIOLATION, "the robot is in local control")
        elif command is None:
            super().program(text)
        else:
            command(self.box)

    def cycle(self) -> None:
        if is_polyscope_x(self.box.version) and not self.box.safety.remote_control:
            self._read_only = True  # until it is opened again
        age = self.box.tick - self._born
        if age % round(self.box.rate / primary.RATE_HZ) == 1 and self.can_send():
            self.out += primary.state(self.box, self.box.values, first=age == 1)


class PrimaryConnection(SecondaryConnection):
    """The same, and messages when something happens."""

    def __init__(self, box: Controller, name: str) -> None:
        super().__init__(box, name)
        box.readers.append(self._tell)

    def _tell(self, message: bytes) -> None:
        if self.can_send():
            self.out += message

    def closed(self) -> None:
        super().closed()
        self.box.readers.remove(self._tell)


# lines that are no URScript; UR's client library sends them
COMMANDS: dict[str, Callable[[Controller], object]] = {
    "power on": lambda box: answer(box, "power on"),
    "power off": lambda box: answer(box, "power off"),
    "set robotmode run": lambda box: answer(box, "brake release"),
    "set unlock protective stop": lambda box: box.unlock_when_allowed(),
    "stop program": lambda box: answer(box, "stop"),
}

KINDS: dict[int, type[Connection]] = {
    RTDE_PORT: RtdeConnection,
    CONSOLE_PORT: ConsoleConnection,
    PRIMARY_PORT: PrimaryConnection,
    SECONDARY_PORT: SecondaryConnection,
}
NOT_ON_X: dict[int, type[Connection]] = {DASHBOARD_PORT: DashboardConnection, SCRIPT_PORT: ScriptConnection}
