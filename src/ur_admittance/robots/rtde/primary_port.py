"""The robot's primary port (30001): packages in, lines and URScript out.

A package is int32 size, uint8 type, content. A robot state (type 16) is a row of parts: uint32 size, uint8 type,
content; a message (type 20) begins with uint64 time, int8 source, uint8 type.
Lines such as ``power on`` are commands to the controller itself. It does not answer them: its state shows what became
of them, and error C210 says that the robot is in local control. A connection from that time stays read-only after the
switch to remote control, so each one here lives for one command only.
Source: Universal Robots client interface; Universal_Robots_Client_Library, src/primary.
"""

import socket
import struct
import time
from collections.abc import Iterator

from ur_admittance.errors import RobotError
from ur_admittance.robots.rtde.wire import reason

PORT = 30001
ROBOT_STATE, MESSAGE = 16, 20  # types of packages
VERSION, ERROR = 3, 6  # types of messages
KINEMATICS = 5  # type of a part of the state: the geometry
READ_ONLY = 210  # code of the error that a robot in local control answers
HEADER = struct.Struct(">iB")
LARGEST = 100_000  # [bytes] of a package that is believed
ANSWER_TIME = 0.3  # [s] within which a refusal comes; closing earlier might cost the command, too
LOCAL = (
    "the robot is in local control: switch it to remote control on the pendant (top right corner; on PolyScope X "
    "choose Automatic, then Remote)."
)


class Primary:
    """``with Primary(host) as port: port.command("power on")``"""

    def __init__(self, host: str, timeout: float = 3.0) -> None:
        self.host, self.timeout = host, timeout
        self._buffer = b""

    def __enter__(self) -> "Primary":
        try:
            self._socket = socket.create_connection((self.host, PORT), timeout=self.timeout)
        except OSError as error:
            raise RobotError(
                f"the primary port of {self.host} ({PORT}) does not answer ({reason(error)}): enable the primary "
                "client interface on the robot (Settings > Security > Services)."
            ) from None
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, text: str) -> None:
        try:
            self._socket.settimeout(self.timeout)
            self._socket.sendall(text.encode("ascii"))
        except OSError as error:
            raise RobotError(f"the primary port of {self.host} takes nothing ({reason(error)}).") from None

    def command(self, line: str) -> None:
        """RobotError: the robot is in local control."""
        self.send(line + "\n")
        self.accepted(ANSWER_TIME)

    def accepted(self, seconds: float = 0.0) -> bool:
        """Read what has come, or comes within that time. RobotError: what was sent has been refused."""
        for kind, content in self.packages(seconds):
            if kind == MESSAGE and content[9:10] == bytes([ERROR]) and content[10:14] == READ_ONLY.to_bytes(4, "big"):
                raise RobotError(LOCAL)
        return True

    def packages(self, seconds: float) -> Iterator[tuple[int, bytes]]:
        """Type and content of all that come within that time; fewer when the connection ends."""
        end, over = time.monotonic() + seconds, False
        while not over:  # once more at the end: what has come already
            left = end - time.monotonic()
            over = left <= 0.0
            self._socket.settimeout(max(0.0, left))
            try:
                data = self._socket.recv(4096)
            except OSError:
                return
            if not data:
                return
            self._buffer += data
            while len(self._buffer) >= HEADER.size:
                size, kind = HEADER.unpack_from(self._buffer)
                if not HEADER.size <= size <= LARGEST:
                    return
                if len(self._buffer) < size:
                    break
                content, self._buffer = self._buffer[HEADER.size : size], self._buffer[size:]
                yield kind, content

    def parts(self, seconds: float) -> Iterator[bytes]:
        """Parts of the robot states that come within that time, each with its size and type."""
        for kind, content in self.packages(seconds):
            while kind == ROBOT_STATE and len(content) >= 5:
                length = max(5, int.from_bytes(content[:4], "big"))
                yield content[:length]
                content = content[length:]
