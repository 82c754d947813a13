"""Many messages at once: rows of bytes that differ in their numbers alone.

The ROS 2 encoder makes one message with known numbers. Where it has put them is where those of every other message go.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from mcap.opcode import Opcode
from mcap.well_known import SchemaEncoding
from mcap_ros2._dynamic import serialize_dynamic  # the encoder itself: the library's writer would pack every message
from numpy.typing import NDArray

from ur_admittance.recording import messages
from ur_admittance.recording.container import BEFORE_CHANNEL, HEAD, Container

Bytes = NDArray[np.uint8]
EXACT = "std_msgs/msg/UInt8MultiArray"
STAMP_AT = 4  # of a message that begins with a time: after the four bytes that say how it is encoded
STAMP = np.dtype([("sec", "<i4"), ("nanosec", "<u4")])
SEQUENCE_AT = HEAD.fields["sequence"][1]  # type: ignore[index]
TIMES_AT = HEAD.fields["log_ns"][1]  # type: ignore[index]


class Channels:
    """The topics of a file and how their messages are encoded."""

    def __init__(self, container: Container, kinds: dict[str, str]) -> None:
        """kinds: topic -> type."""
        schemas = {}
        for kind in dict.fromkeys(kinds.values()):
            schemas[kind] = container.add_schema(kind, SchemaEncoding.ROS2, messages.DEFINITIONS[kind])
        self.ids = {topic: container.add_channel(topic, schemas[kind]) for topic, kind in kinds.items()}
        encoders = {kind: serialize_dynamic(kind, messages.DEFINITIONS[kind])[kind] for kind in schemas}
        self._encoders: dict[str, Callable[[Any], bytes]] = {topic: encoders[kind] for topic, kind in kinds.items()}

    def message(self, topic: str, content: messages.Message, sequence: int = 0, time_ns: int = 0) -> bytes:
        """One message as it stands in a chunk."""
        data = self._encoders[topic](content)
        length = HEAD.itemsize - BEFORE_CHANNEL + len(data)
        fields = (Opcode.MESSAGE, length, self.ids[topic], sequence & 0xFFFFFFFF, time_ns, time_ns)
        return np.array([fields], HEAD).tobytes() + data

    def exact(self, topic: str, data: bytes, sequence: int = 0, time_ns: int = 0) -> bytes:
        """The bytes of a record as a message."""
        return self.message(topic, {"layout": {"dim": [], "data_offset": 0}, "data": data}, sequence, time_ns)


class CyclicRows:
    """One row is the messages of all topics that change every cycle, one after the other."""

    def __init__(self, channels: Channels, joints: tuple[str, ...], period: float, tick: np.dtype[Any]) -> None:
        self.places: dict[int, int] = {}  # channel -> where its message begins
        self._numbers: list[tuple[str, slice, slice]] = []  # topic, which bytes of its numbers, where they go
        template = b""
        for topic, values in messages.numbers(np.zeros(1, tick)).items():
            marks = 1e-300 * np.arange(1.0, 1.0 + values.size)  # no other eight bytes of a message look like these
            message = channels.message(topic, messages.cyclic(topic, marks, 0, joints, period))
            found = len(template) + np.array([message.index(mark.tobytes()) for mark in marks])
            runs = np.split(np.arange(len(marks)), np.flatnonzero(np.diff(found) != 8) + 1)
            for run in runs:
                first, here, length = 8 * int(run[0]), int(found[run[0]]), 8 * len(run)
                self._numbers.append((topic, slice(first, first + length), slice(here, here + length)))
            self.places[channels.ids[topic]] = len(template)
            template += message
        self._template: Bytes = np.frombuffer(template, np.uint8)

    def fill(self, ticks: NDArray[Any]) -> Bytes:
        """The rows of these cycles."""
        rows = np.tile(self._template, (len(ticks), 1))
        times_ns = ticks["loop"]["time_ns"]
        stamps = np.zeros(len(ticks), STAMP)
        stamps["sec"], stamps["nanosec"] = np.divmod(times_ns, 1_000_000_000)
        stamp_bytes = _bytes(stamps)
        for begin in self.places.values():
            fill_heads(rows, begin, times_ns)
            at = begin + HEAD.itemsize + STAMP_AT
            rows[:, at : at + STAMP.itemsize] = stamp_bytes
        numbers = {topic: _bytes(values) for topic, values in messages.numbers(ticks).items()}
        for topic, which, where in self._numbers:
            rows[:, where] = numbers[topic][:, which]
        return rows


def fill_heads(rows: Bytes, begin: int, times_ns: NDArray[Any], sequences: NDArray[Any] | None = None) -> None:
    """The times, and the sequence numbers if there are any, of the messages that begin there, one in each row."""
    times = _bytes(times_ns)
    for at in (begin + TIMES_AT, begin + TIMES_AT + 8):
        rows[:, at : at + 8] = times
    if sequences is not None:
        rows[:, begin + SEQUENCE_AT : begin + SEQUENCE_AT + 4] = _bytes(sequences.astype("<u4"))


def _bytes(rows: NDArray[Any]) -> Bytes:
    """Rows of numbers as rows of bytes."""
    return np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), -1)
