"""RTDE messages as a client needs them, version 2, big endian: uint16 size (header included), uint8 type, payload.

Source: Universal Robots, Real-Time Data Exchange guide.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ur_admittance.errors import RobotError

HEADER = struct.Struct(">HB")

REQUEST_PROTOCOL_VERSION = ord("V")
GET_CONTROLLER_VERSION = ord("v")
DATA_PACKAGE = ord("U")
SETUP_OUTPUTS = ord("O")
SETUP_INPUTS = ord("I")
START = ord("S")

PORT = 30004
PROTOCOL_VERSION = 2
NAMES_LIMIT = 2048  # [bytes] of a list of variable names

# type name -> struct code and count
TYPES: Mapping[str, tuple[str, int]] = {
    "BOOL": ("?", 1),
    "UINT8": ("B", 1),
    "UINT32": ("I", 1),
    "UINT64": ("Q", 1),
    "INT32": ("i", 1),
    "DOUBLE": ("d", 1),
    "VECTOR3D": ("d", 3),
    "VECTOR6D": ("d", 6),
    "VECTOR6INT32": ("i", 6),
    "VECTOR6UINT32": ("I", 6),
}
IN_USE = "IN_USE"


def reason(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return error.strerror or str(error)


class WireError(RobotError):
    """A message that does not follow the protocol."""


def message(kind: int, payload: bytes = b"") -> bytes:
    return HEADER.pack(HEADER.size + len(payload), kind) + payload


def split(buffer: bytearray) -> Iterator[tuple[int, bytes]]:
    """Take the complete messages off the front of ``buffer``. WireError when it can never become one."""
    while len(buffer) >= HEADER.size:
        size, kind = HEADER.unpack_from(buffer)
        if size < HEADER.size:
            raise WireError(f"message size {size}: must be at least {HEADER.size} bytes")
        if len(buffer) < size:
            return
        payload = bytes(buffer[HEADER.size : size])
        del buffer[:size]
        yield kind, payload


def names_of(payload: bytes) -> list[str]:
    """Names joined by commas; ur_rtde adds a trailing comma, other clients do not."""
    if len(payload) > NAMES_LIMIT:
        raise WireError(f"list of names of {len(payload)} bytes: at most {NAMES_LIMIT}")
    try:
        text = payload.decode("ascii")
    except UnicodeDecodeError:
        raise WireError("list of names: must be ASCII") from None
    return [name.strip() for name in text.split(",") if name.strip()]


def types_of(names: Sequence[str], answer: bytes) -> list[str]:
    """The types in the robot's answer to a choice of variables, one for each name."""
    types = names_of(answer[1:])
    if len(types) != len(names):
        raise WireError(f"the robot gave {len(types)} types for {len(names)} variables")
    return types


class Recipe:
    """An ordered choice of variables and the layout of its data package."""

    def __init__(self, number: int, names: Sequence[str], types: Sequence[str]) -> None:
        self.number = number
        self.names = tuple(names)
        self.types = tuple(types)
        self.layout = struct.Struct(">" + "".join(TYPES[kind][0] * TYPES[kind][1] for kind in types))
        self.scalars = tuple(TYPES[kind][1] == 1 for kind in types)
        self._package = struct.Struct(">HBB" + self.layout.format[1:])

    @property
    def places(self) -> dict[str, int | slice]:
        """Where each variable is among the numbers of ``layout``."""
        places: dict[str, int | slice] = {}
        i = 0
        for name, kind in zip(self.names, self.types, strict=True):
            count = TYPES[kind][1]
            places[name] = i if count == 1 else slice(i, i + count)
            i += count
        return places

    def pack(self, *numbers: float) -> bytes:
        """A whole data package message with these numbers, in the order of the variables."""
        return self._package.pack(self._package.size, DATA_PACKAGE, self.number, *numbers)

    def read(self, payload: bytes) -> dict[str, Any]:
        """Values of a data package whose recipe number has been taken off. WireError for a wrong length."""
        if len(payload) != self.layout.size:
            raise WireError(f"data package for recipe {self.number}: {len(payload)} bytes, must be {self.layout.size}")
        flat = iter(self.layout.unpack(payload))
        return {
            name: next(flat) if scalar else [next(flat) for _ in range(TYPES[kind][1])]
            for name, scalar, kind in zip(self.names, self.scalars, self.types, strict=True)
        }
