"""A short look at the robot's state, with nothing started on it: an RTDE connection of its own, closed afterwards.

The client library cannot read every variable (tcp_offset among them), and shows only the newest state.
"""

import socket
import struct
import time
from collections.abc import Iterator, Sequence
from typing import Any

from ur_admittance.errors import RobotError
from ur_admittance.robots.rtde import wire
from ur_admittance.robots.rtde.versions import Version, rate_of

CHUNK = 65536  # [bytes]


class Listener:
    """``with Listener(host) as robot: robot.choose(names); for arrival, state in robot.states(seconds): ...``"""

    def __init__(self, host: str, timeout: float = 3.0) -> None:
        self.host, self.timeout = host, timeout
        self._buffer = bytearray()
        self._messages: Iterator[tuple[int, bytes]] = iter(())

    def __enter__(self) -> "Listener":
        self._socket = socket.create_connection((self.host, wire.PORT), timeout=self.timeout)
        try:
            self._ask(wire.REQUEST_PROTOCOL_VERSION, struct.pack(">H", wire.PROTOCOL_VERSION))
            self.rate = rate_of(self.version())  # [Hz]
        except BaseException:
            self._socket.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def version(self) -> Version:
        """Of the controller's software."""
        try:
            return struct.unpack(">4I", self._ask(wire.GET_CONTROLLER_VERSION))[:3]
        except struct.error:
            raise wire.WireError("the answer to the question for the software version has a wrong length") from None

    def choose(self, names: Sequence[str]) -> list[str]:
        """What `states` will have; those that this software does not know are left out and returned."""
        missing = self._choose(names)
        if missing:
            self._choose([name for name in names if name not in missing])
        return missing

    def states(self, seconds: float) -> Iterator[tuple[float, dict[str, Any]]]:
        """Arrival [s] and values of each state."""
        self._ask(wire.START)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            kind, payload = self._next()
            if kind == wire.DATA_PACKAGE:
                yield time.monotonic(), self._recipe.read(payload[1:])

    def _choose(self, names: Sequence[str]) -> list[str]:
        answer = self._ask(wire.SETUP_OUTPUTS, struct.pack(">d", self.rate) + ",".join(names).encode("ascii"))
        types = wire.types_of(names, answer)
        missing = [name for name, kind in zip(names, types, strict=True) if kind not in wire.TYPES]
        if not missing:
            self._recipe = wire.Recipe(answer[0], names, types)
        return missing

    def _ask(self, kind: int, payload: bytes = b"") -> bytes:
        """The answer; PolyScope X sends text messages before it."""
        self._socket.sendall(wire.message(kind, payload))
        while True:
            answered, content = self._next()
            if answered == kind:
                return content

    def _next(self) -> tuple[int, bytes]:
        while True:
            for message in self._messages:
                return message
            data = self._socket.recv(CHUNK)
            if not data:
                raise RobotError(f"{self.host} closed its RTDE connection.")
            self._buffer += data
            self._messages = wire.split(self._buffer)


def read_version(host: str, timeout: float) -> Version:
    """Of the controller's software: which family it belongs to decides what else it offers."""
    try:
        with Listener(host, timeout) as robot:
            return robot.version()
    except (OSError, wire.WireError) as error:
        raise _no_answer(host, error) from None


def newest(host: str, names: Sequence[str], timeout: float) -> dict[str, Any]:
    """These variables, now."""
    try:
        with Listener(host, timeout) as robot:
            if missing := robot.choose(names):
                raise RobotError(f"{host} does not know the RTDE variable {missing[0]}: its software is too old.")
            for _, state in robot.states(timeout):
                return state
    except (OSError, wire.WireError) as error:
        raise _no_answer(host, error) from None
    raise _no_answer(host, TimeoutError())


def _no_answer(host: str, error: Exception) -> RobotError:
    why = wire.reason(error) if isinstance(error, OSError) else error
    return RobotError(
        f"{host} does not answer on its RTDE port {wire.PORT} ({why}): check the address and the cable, whether the "
        "controller is still starting and, on the robot, Settings > Security > Services."
    )
