"""Messages as bytes (CDR, little endian): numbers are read in place, nothing is converted.

A message is a 4-byte head, then its fields in order, each aligned to its size counted from the end of the head:
    time       int32 sec, uint32 nanosec
    string     uint32 length with the final 0, characters
    double[]   uint32 length, doubles aligned to 8
The bytes between fields are whatever was in memory: comparing messages byte by byte would fail at random.
A conversion into message objects costs 30 to 55 us each, these readers 1 to 4 us. They never trust the sender: what
does not fit raises Malformed.
"""

import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ur_admittance.errors import UrAdmittanceError

Array = NDArray[np.float64]

HEAD = 4  # [bytes]
LITTLE_ENDIAN = (b"\x00\x01", b"\x00\x03")  # plain CDR, and the same with a parameter list
LONGEST_STRING = 4_000_000  # [bytes] a robot_description with meshes inlined has less
MOST_NAMES = 1000
MOST_OTHERS = 16  # kinds of joint states without ours that are remembered

_UINT32 = struct.Struct("<I")
TIME = struct.Struct("<iI")


class Malformed(UrAdmittanceError):
    """Bytes that are not the message they should be."""


def aligned(position: int, size: int) -> int:
    """Next position at which a number of that size may stand."""
    return position + (HEAD - position) % size


class Reader:
    """Goes through a message field by field, with a check at every step."""

    def __init__(self, data: bytes) -> None:
        if data[:2] not in LITTLE_ENDIAN:
            raise Malformed(f"a message starts with {data[:4].hex()}, must be little-endian CDR.")
        self.data, self.position = data, HEAD

    def _take(self, size: int, alignment: int) -> int:
        start = aligned(self.position, alignment)
        if start + size > len(self.data):
            raise Malformed(f"a message of {len(self.data)} bytes ends inside a field of {size} bytes at {start}.")
        self.position = start + size
        return start

    def uint32(self) -> int:
        return int(_UINT32.unpack_from(self.data, self._take(4, 4))[0])

    def bytes(self, count: int, alignment: int = 1) -> bytes:
        """Fields of one size, as they are."""
        start = self._take(count, alignment if count else 1)
        return self.data[start : start + count]

    def time_ns(self) -> int:
        sec, nanosec = TIME.unpack_from(self.data, self._take(8, 4))
        return int(sec) * 1_000_000_000 + int(nanosec)

    def string(self) -> str:
        length = self.uint32()
        if length > LONGEST_STRING:
            raise Malformed(f"a string of {length} bytes: at most {LONGEST_STRING} are believed.")
        start = self._take(length, 1)
        return self.data[start : start + max(0, length - 1)].decode("utf-8", errors="replace")

    def strings(self) -> list[str]:
        count = self.uint32()
        if count > MOST_NAMES:
            raise Malformed(f"a list of {count} names: at most {MOST_NAMES} are believed.")
        return [self.string() for _ in range(count)]

    def doubles(self, count: int | None = None) -> Array:
        """A field of ``count`` doubles, or a sequence that tells its own length."""
        if count is None:
            count = self.uint32()
            if count == 0:
                return np.empty(0)
        start = self._take(8 * count, 8)
        return np.frombuffer(self.data, "<f8", count, start)


class _Noting(Reader):
    """Remembers where doubles begin, and from where to where everything else is."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.doubles_at: list[int] = []
        self.others: list[tuple[int, int]] = []

    def _take(self, size: int, alignment: int) -> int:
        start = super()._take(size, alignment)
        if alignment == 8:
            self.doubles_at.append(start)
        else:
            self.others.append((start, self.position))
        return start


class WrenchReader:
    """geometry_msgs/WrenchStamped -> force and torque."""

    def __init__(self) -> None:
        self.frame_id = ""
        self._frame = b""

    def read(self, data: bytes, wrench: Array) -> None:
        """Copies the six numbers into ``wrench`` [N, Nm]."""
        if len(data) < 16 or data[:2] not in LITTLE_ENDIAN:
            raise Malformed(f"a wrench message of {len(data)} bytes is not one.")
        length = _UINT32.unpack_from(data, 12)[0]
        start = aligned(16 + length, 8)
        if start + 48 > len(data):
            raise Malformed(f"a wrench message of {len(data)} bytes ends before its numbers.")
        frame = data[16 : 16 + length]
        if frame != self._frame:
            self._frame = frame
            self.frame_id = frame.rstrip(b"\0").decode("utf-8", errors="replace")
        wrench[:] = np.frombuffer(data, "<f8", 6, start)


class JointStateReader:
    """sensor_msgs/JointState -> positions and speeds in the order of ``names``, whatever the order in the message."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.others: dict[tuple[str, ...], bytes] = {}  # names in messages that lacked one of ours -> how those begin
        self._beginnings: tuple[bytes, ...] = ()
        self._length = -1
        self._strings: list[tuple[int, int, bytes]] = []
        self._outside = self._strings
        self._block = b""  # all from the frame to the positions, padding included, in the last message
        self._order: NDArray[np.int64] = np.arange(6)
        self._count = 0
        self._positions = self._velocities = 0

    def read(self, data: bytes, q: Array, qd: Array) -> tuple[bool, bool]:
        """(all six joints were in it and are now in q, their speeds are in qd)."""
        known = len(data) == self._length and self._same_layout(data)
        if not known and (data.startswith(self._beginnings, HEAD + TIME.size) or not self._learn(data)):
            return False, False
        n, order = self._count, self._order
        np.frombuffer(data, "<f8", n, self._positions).take(order, None, q, "clip")
        if self._velocities:
            np.frombuffer(data, "<f8", n, self._velocities).take(order, None, qd, "clip")
        return True, self._velocities > 0

    def forget_others(self) -> None:
        self.others.clear()
        self._beginnings = ()

    def _same_layout(self, data: bytes) -> bool:
        """Every string and length where it was. Padding may differ, but rarely does: then one comparison is enough."""
        block = data[HEAD + TIME.size : self._positions]
        if block == self._block:
            return all(data[start:stop] == text for start, stop, text in self._outside)
        if not all(data[start:stop] == text for start, stop, text in self._strings):
            return False
        self._block = block
        return True

    def _learn(self, data: bytes) -> bool:
        """Parse the whole message once and remember where everything stands. One of other joints changes nothing: both
        kinds may come in turn."""
        reader = _Noting(data)
        reader.time_ns()
        reader.string()
        names = reader.strings()
        if any(name not in names for name in self.names):
            if len(self.others) == MOST_OTHERS:
                self.others.clear()
            self.others[tuple(names)] = data[HEAD + TIME.size : reader.position]
            self._beginnings = tuple(self.others.values())
            return False
        self._length = -1
        positions, velocities = reader.doubles(), reader.doubles()
        if len(positions) != len(names):
            raise Malformed(f"a joint state has {len(names)} names and {len(positions)} positions.")
        self._order = np.array([names.index(name) for name in self.names])
        self._count, self._positions = len(names), reader.doubles_at[0]
        self._velocities = reader.doubles_at[-1] if len(velocities) == len(names) else 0
        fixed = [(0, 2), *reader.others[1:]]  # the head in place of the stamp
        self._strings = [(start, stop, data[start:stop]) for start, stop in fixed]
        self._outside = [self._strings[0], self._strings[-1]]  # the head, and the number of speeds
        self._length, self._block = len(data), b""
        return True
