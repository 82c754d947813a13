"""One connection of each kind: RTDE (30004), dashboard (29999), script (30003).

A connection turns bytes into calls of the control box and answers into bytes. Whatever a client sends, it can
only harm its own connection: bad messages are logged and dropped.
"""

import math
import struct
import time

from ur_admittance.emulator.console import answer
from ur_admittance.emulator.controller import Controller
from ur_admittance.emulator.urscript.text import Splitter
from ur_admittance.emulator.variables import OUTPUTS, known
from ur_admittance.robots.rtde import wire

RTDE_PORT, DASHBOARD_PORT, SCRIPT_PORT = 30004, 29999, 30003
LINE_LIMIT = 4096  # [bytes] of one dashboard line
SCRIPT_LIMIT = 1 << 20  # [bytes] of one uploaded program
BACKLOG_LIMIT = 1 << 16  # [bytes] a client may leave unread before packages are dropped
PATIENCE = 10.0  # [s] after which a client that reads nothing is disconnected, as the robot does
RECIPE_LIMIT = 255


class Connection:
    """Bytes out; subclasses take bytes in."""

    def __init__(self, box: Controller, name: str) -> None:
        self.box, self.name = box, name
        self.out = bytearray()
        self.closing = False  # after the rest has been sent
        self.full_since: float | None = None

    def feed(self, data: bytes) -> None:
        raise NotImplementedError

    def cycle(self) -> None:
        """After each control cycle."""

    def closed(self) -> None:
        """The socket is gone."""

    def complain(self, text: str) -> None:
        self.box.log("bad message", f"{self.name}: {text}")


class RtdeConnection(Connection):
    def __init__(self, box: Controller, name: str) -> None:
        super().__init__(box, name)
        self._in = bytearray()
        self._inputs: dict[int, wire.Recipe] = {}
        self._output: wire.Recipe | None = None
        self._every = 1  # cycles between packages
        self._started = False

    def feed(self, data: bytes) -> None:
        self._in += data
        try:
            for kind, payload in wire.split(self._in):
                try:
                    self._message(kind, payload)
                except (wire.WireError, struct.error) as error:
                    self.complain(str(error))
        except wire.WireError as error:
            self.complain(f"{error}: disconnected")
            self._in.clear()
            self.closing = True

    def _message(self, kind: int, payload: bytes) -> None:
        if kind == wire.DATA_PACKAGE:
            self._data(payload)
        elif kind == wire.REQUEST_PROTOCOL_VERSION:
            if len(payload) != 2:
                raise wire.WireError(f"protocol version request of {len(payload)} bytes: must be 2")
            accepted = struct.unpack(">H", payload)[0] == wire.PROTOCOL_VERSION
            self.out += wire.message(kind, bytes([accepted]))
        elif kind == wire.GET_CONTROLLER_VERSION:
            self.out += wire.message(kind, struct.pack(">4I", *self.box.version, 0))
        elif kind == wire.SETUP_OUTPUTS:
            self._setup_outputs(payload)
        elif kind == wire.SETUP_INPUTS:
            self._setup_inputs(payload)
        elif kind in (wire.START, wire.PAUSE):
            start = kind == wire.START
            possible = not start or self._output is not None
            self.out += wire.message(kind, bytes([possible]))
            self._started = start and possible
        elif kind == wire.TEXT_MESSAGE:
            self.box.log("message", f"{self.name}: {wire.text_of(payload)!r}")
        else:
            raise wire.WireError(f"unknown message type {kind}")

    def _setup_outputs(self, payload: bytes) -> None:
        if len(payload) < 8:
            raise wire.WireError(f"output setup of {len(payload)} bytes: must begin with the frequency")
        frequency = struct.unpack_from(">d", payload)[0]
        names = wire.names_of(payload[8:])
        types = [known(OUTPUTS, name, self.box.version) or wire.NOT_FOUND for name in names]
        rate = self.box.rate
        usable = math.isfinite(frequency) and 0.0 < frequency <= rate and bool(names) and wire.NOT_FOUND not in types
        self._started = False
        self._output = wire.Recipe(1, names, types) if usable else None
        if usable:
            self._every = max(1, round(rate / frequency))
        else:
            self.complain(f"output setup refused: {frequency} Hz, {', '.join(names)[:200]}")
        self.out += wire.setup_answer(wire.SETUP_OUTPUTS, int(usable), types)

    def _setup_inputs(self, payload: bytes) -> None:
        names = wire.names_of(payload)
        types, granted = self.box.inputs.types(names, self)
        if granted and len(self._inputs) < RECIPE_LIMIT:
            number = len(self._inputs) + 1
            self._inputs[number] = wire.Recipe(number, names, types)
        else:
            number = 0
            self.complain(f"input setup refused: {', '.join(names)[:200]}")
        self.out += wire.setup_answer(wire.SETUP_INPUTS, number, types)

    def _data(self, payload: bytes) -> None:
        recipe = self._inputs.get(payload[0]) if payload else None
        if recipe is None:
            raise wire.WireError(f"data package for an unknown recipe ({payload[:1].hex() or 'empty'})")
        self.box.receive(recipe.read(payload[1:]))

    def cycle(self) -> None:
        if not self._started or self._output is None or self.box.tick % self._every:
            return
        if len(self.out) > BACKLOG_LIMIT:
            now = time.monotonic()
            self.full_since = self.full_since or now
            if now - self.full_since > PATIENCE:
                self.complain("reads nothing: disconnected")
                self.out.clear()
                self.closing = True
            return
        self.full_since = None
        self.out += self._output.package(self.box.values)

    def closed(self) -> None:
        if self.box.inputs.release(self):
            self.box.commander_left()


class DashboardConnection(Connection):
    def __init__(self, box: Controller, name: str) -> None:
        super().__init__(box, name)
        self._in = bytearray()
        self.out += b"Connected: Universal Robots Dashboard Server\n"

    def feed(self, data: bytes) -> None:
        self._in += data
        while (end := self._in.find(b"\n")) >= 0:
            line = self._in[:end].decode("utf-8", "replace").strip()
            del self._in[: end + 1]
            if len(self.out) > BACKLOG_LIMIT:
                self.complain("sends commands without reading the answers: disconnected")
                self.closing = True
                return
            reply = answer(self.box, line[:LINE_LIMIT])
            self.out += reply.encode("utf-8", "replace") + b"\n"
            self.closing = self.closing or line == "quit"
        if len(self._in) > LINE_LIMIT:
            self.complain(f"line of more than {LINE_LIMIT} bytes: disconnected")
            self._in.clear()
            self.closing = True


class ScriptConnection(Connection):
    """Programs, one after the other. Nothing is streamed back: the client here never reads."""

    def __init__(self, box: Controller, name: str) -> None:
        super().__init__(box, name)
        self._programs = Splitter()

    def feed(self, data: bytes) -> None:
        for text in self._programs.feed(data):
            self.box.program.upload(text)
        if len(self._programs) > SCRIPT_LIMIT:
            self.complain(f"program of more than {SCRIPT_LIMIT} bytes: disconnected")
            self._programs = Splitter()
            self.closing = True

    def closed(self) -> None:
        if self._programs:
            self.complain(f"{len(self._programs)} bytes of a program without its end: ignored")


KINDS: dict[int, type[Connection]] = {
    RTDE_PORT: RtdeConnection,
    DASHBOARD_PORT: DashboardConnection,
    SCRIPT_PORT: ScriptConnection,
}
