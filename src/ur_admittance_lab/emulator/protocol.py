"""What UR has published of its controllers, as this side of the wire needs it: RTDE, software families, Robot API.

Tables of its own: a judge that shared those of the client (``ur_admittance.robots.rtde``) would share its errors.
tests/lab/emulator/test_two_tables.py compares the two.
RTDE, protocol version 2, big endian: uint16 size (header included), uint8 kind, content.
Source: Universal Robots, Real-Time Data Exchange guide; Universal_Robots_Client_Library 2.14, scripts/start_ursim.sh
and src/ur/dashboard_client_implementation_x.cpp.
"""

import struct
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from typing import Any, Protocol

from ur_admittance.errors import SimulationError

Version = tuple[int, int, int]


class Kind(IntEnum):
    """Of a message, as numbered in the guide."""

    DATA_PACKAGE = 85
    REQUEST_PROTOCOL_VERSION = 86
    GET_URCONTROL_VERSION = 118
    TEXT_MESSAGE = 77
    SETUP_OUTPUTS = 79
    SETUP_INPUTS = 73
    START = 83
    PAUSE = 80


PROTOCOL_VERSION = 2
NAMES_LIMIT = 2048  # [bytes] of a list of names
ERROR_LEVEL = 1  # of a text message; 0 exception, 2 warning, 3 information
NOT_FOUND, IN_USE = "NOT_FOUND", "IN_USE"  # in the place of a type

# 8, 32, 64 bits; doubles; rows of three and six
LAYOUTS = {"BOOL": "?", "UINT8": "B", "UINT32": "I", "UINT64": "Q", "INT32": "i", "DOUBLE": "d"}
LAYOUTS |= {"VECTOR3D": "3d", "VECTOR6D": "6d", "VECTOR6INT32": "6i", "VECTOR6UINT32": "6I"}

# The first PolyScope 5 and PolyScope X of each type; types before the e-Series have 3.x, a CB3.
CB3_TYPES = ("ur3", "ur5", "ur10")
FIRST: dict[str, tuple[Version, Version]] = {
    **dict.fromkeys(("ur3e", "ur5e", "ur10e", "ur16e"), ((5, 4, 0), (10, 7, 0))),
    "ur20": ((5, 14, 0), (10, 7, 0)),
    "ur30": ((5, 15, 0), (10, 7, 0)),
    "ur15": ((5, 22, 0), (10, 8, 0)),
    **dict.fromkeys(("ur7e", "ur12e"), ((5, 22, 0), (10, 9, 0))),
    **dict.fromkeys(("ur18", "ur8long"), ((5, 23, 0), (10, 11, 0))),
}

API_PORT, API_BASE = 80, "/universal-robots/robot-api"
API_WITH_MODES = "3.1.4"  # the version of the API that answers questions about modes and programs


class Values(Protocol):
    """Name of a variable -> number, or numbers of a vector."""

    def __getitem__(self, name: str, /) -> Any: ...


class BadMessage(SimulationError):
    """What a client sent is not a message."""


def is_polyscope_x(version: Version) -> bool:
    return version[0] == 10


def first_version(model: str, x: bool) -> Version:
    """The first PolyScope X, or PolyScope 5, for this type of arm."""
    return FIRST.get(model, FIRST["ur5e"])[x]


def packet(kind: int, content: bytes = b"") -> bytes:
    return struct.pack(">HB", 3 + len(content), kind) + content


def packets(stream: bytearray) -> Iterator[tuple[int, bytes]]:
    """Take complete messages off the front of ``stream``. BadMessage: none can ever follow."""
    while len(stream) >= 3:
        size = int.from_bytes(stream[:2], "big")
        if size < 3:
            raise BadMessage(f"message size {size}: must be at least 3 bytes")
        if len(stream) < size:
            return
        whole = bytes(stream[:size])
        del stream[:size]
        yield whole[2], whole[3:]


def names_in(content: bytes, limit: int = NAMES_LIMIT) -> list[str]:
    """Between commas; a client may end the list with one."""
    if len(content) > limit:
        raise BadMessage(f"list of names of {len(content)} bytes: at most {limit}")
    if not content.isascii():
        raise BadMessage("list of names: must be ASCII")
    return [name for name in map(str.strip, content.decode().split(",")) if name]


def setup_answer(kind: Kind, number: int, types: Iterable[str]) -> bytes:
    """Number of the recipe (0: refused) and its types; UR's Python client refuses a comma at the end."""
    return packet(kind, bytes((number,)) + ",".join(types).encode())


def text_message(words: str, source: str) -> bytes:
    parts = (bytes((len(part),)) + part for part in (words.encode(), source.encode()))
    return packet(Kind.TEXT_MESSAGE, b"".join(parts) + bytes((ERROR_LEVEL,)))


def words_in(content: bytes) -> str:
    """Of a text message: ``source: words``."""
    end = 1 + content[0] if content else 1
    if len(content) <= end or len(content) <= end + content[end]:
        raise BadMessage("text message: too short for its own lengths")
    words, source = content[1:end], content[end + 1 : end + 1 + content[end]]
    return f"{source.decode('utf-8', 'replace')}: {words.decode('utf-8', 'replace')}"


class Recipe:
    """The variables of a data package, in their order."""

    def __init__(self, number: int, names: Sequence[str], types: Sequence[str]) -> None:
        self.number = number
        self._fields = [(name, struct.Struct(">" + LAYOUTS[kind])) for name, kind in zip(names, types, strict=True)]
        self._vector = [LAYOUTS[kind][0].isdigit() for kind in types]
        self._whole = struct.Struct(">HBB" + "".join(LAYOUTS[kind] for kind in types))

    def package(self, values: Values) -> bytes:
        """The whole message with the present values."""
        flat: list[Any] = []
        for (name, _), vector in zip(self._fields, self._vector, strict=True):
            if vector:
                flat += values[name]
            else:
                flat.append(values[name])
        return self._whole.pack(self._whole.size, Kind.DATA_PACKAGE, self.number, *flat)

    def read(self, content: bytes) -> dict[str, Any]:
        """The values in a data package, its recipe number taken off."""
        needed = self._whole.size - 4
        if len(content) != needed:
            raise BadMessage(f"data package for recipe {self.number}: {len(content)} bytes, must be {needed}")
        found: dict[str, Any] = {}
        place = 0
        for (name, layout), vector in zip(self._fields, self._vector, strict=True):
            numbers = layout.unpack_from(content, place)
            found[name] = list(numbers) if vector else numbers[0]
            place += layout.size
        return found
