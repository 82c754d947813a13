"""The built-in functions of URScript that talk to another computer: a TCP client that never waits inside a cycle.

From the URScript manual: opening is given up after 2 s; integers have 32 bits, big endian, at most 30 of them at once;
a read that fails gives [0, -1, ...]; one with a time-out of 0 waits for as long as it takes. Assumed: bytes of a
message that is not complete in time stay for the next read, and a read that fails takes a cycle.
A program may connect to the computer that sent it; one that was sent from this computer, to any loopback address. So
nobody reaches through the emulator what is closed to him otherwise. Names are not looked up.
"""

import errno
import ipaddress
import socket
import struct
from collections.abc import Generator
from typing import Any

from ur_admittance_lab.emulator.motion_limits import ProgramError
from ur_admittance_lab.emulator.running_program import Program
from ur_admittance_lab.emulator.urscript import script_values as values
from ur_admittance_lab.emulator.urscript.interpreter import ScriptRun
from ur_admittance_lab.emulator.urscript.motion_functions import MotionFunctions
from ur_admittance_lab.emulator.urscript.script_values import integer, shown

OPENING = 2.0  # [s]
INTEGERS = 30  # of one read
LINES = 10  # open at once; assumed
TURNS = 50  # of a loop: the time that a read or a message takes


class Line:
    """A connection, and what has come of the next message."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket, self._received, self.lost = connection, bytearray(), False

    def close(self) -> None:
        self._socket.close()
        self.lost = True

    def take(self, size: int) -> bytes | None:
        """The next ``size`` bytes; None: they have not all come yet."""
        missing = size - len(self._received)
        if missing > 0 and not self.lost:
            try:
                data = self._socket.recv(missing)
                self.lost = not data
                self._received += data
            except (BlockingIOError, InterruptedError):
                pass
            except OSError:
                self.lost = True
        if len(self._received) < size:
            return None
        taken = bytes(self._received[:size])
        del self._received[:size]
        return taken

    def send(self, data: bytes) -> bool:
        """False: the other side is gone, or reads so little that nothing more fits."""
        try:
            if self.lost or self._socket.send(data) == len(data):
                return not self.lost
        except OSError:
            pass
        self.close()  # half an integer would shift all that follow
        return False


class SocketFunctions(MotionFunctions):
    """Every public method is a function of the language, with the names of its parameters."""

    def __init__(self, program: Program, run: ScriptRun) -> None:
        super().__init__(program, run)
        self._lines: dict[str, Line] = {}
        run.at_end = self._hang_up

    def _hang_up(self) -> None:
        for line in self._lines.values():
            line.close()

    def socket_open(self, address: Any, port: Any, socket_name: Any = "socket_0") -> Generator[None, None, bool]:
        self._refuse_secondary()
        target, name = (self._peer(address), integer(port, "port", 1 << 16)), _name(socket_name)
        opened = False
        self.socket_close(name)
        if len(self._lines) >= LINES:
            raise ProgramError(f"socket_open: more than {LINES} sockets")
        connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            for _ in range(round(OPENING / self._program.period)):
                result = errno.EALREADY if self._program.cut else connection.connect_ex(target)
                if result in (0, errno.EISCONN):
                    self._lines[name], opened = Line(connection), True
                    break
                yield
                if result not in (errno.EINPROGRESS, errno.EALREADY):
                    break
            return opened
        finally:
            if not opened:
                connection.close()

    def socket_close(self, socket_name: Any = "socket_0") -> None:
        line = self._lines.pop(_name(socket_name), None)
        if line is not None:
            line.close()

    def socket_read_binary_integer(
        self, number: Any, socket_name: Any = "socket_0", timeout: Any = 2.0
    ) -> Generator[None, None, list[int]]:
        self._refuse_secondary()
        count = integer(number, "number", INTEGERS + 1)
        seconds, line = values.number(timeout, "timeout"), self._line(socket_name)
        if self._run.busy(TURNS):
            yield  # one that sends faster than the program reads waits for the next cycle
        waited = 0
        while True:
            data = None if self._program.cut else line.take(4 * count)
            if data is not None:
                return [count, *struct.unpack(f">{count}i", data)]
            if waited and (line.lost or 0.0 < seconds <= waited * self._program.period + 1e-9):
                return [0, *[-1] * count]
            yield
            waited += 1

    def socket_send_int(self, value: Any, socket_name: Any = "socket_0") -> bool:
        line = self._line(socket_name)
        self._run.busy(TURNS)
        data = struct.pack(">i", integer(value, "value"))
        return not self._program.cut and line.send(data)

    def _line(self, socket_name: Any) -> Line:
        line = self._lines.get(_name(socket_name))
        if line is None:
            raise ProgramError(f"socket {shown(socket_name)!r} is not open")
        return line

    def _peer(self, address: Any) -> str:
        sender = self._run.sender or "127.0.0.1"
        if isinstance(address, str) and (address == sender or (_is_here(address) and _is_here(sender))):
            return address
        raise ProgramError(f"socket_open: {shown(address)}: this program may connect to {sender} only")

    def _refuse_secondary(self) -> None:
        if self._run.secondary:
            raise ProgramError("runtime is too much behind: a secondary program cannot take time")


def _is_here(address: str) -> bool:
    try:
        return ipaddress.IPv4Address(address).is_loopback
    except ValueError:  # a name
        return False


def _name(value: Any) -> str:
    if not isinstance(value, str):
        raise ProgramError(f"socket_name = {shown(value)}: must be a string")
    return value
