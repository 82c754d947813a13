"""An MCAP file that takes whole chunks of messages at once: the library's own writer takes them one by one, which costs
ten times as long as encoding them. Its records and their encoding are those of the library.

A message in a chunk is HEAD with opcode, length, channel, sequence number and both times, then the data.
"""

import errno
import os
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import (
    Channel,
    Chunk,
    ChunkIndex,
    DataEnd,
    Footer,
    Header,
    McapRecord,
    Metadata,
    MetadataIndex,
    Schema,
    Statistics,
    SummaryOffset,
)
from mcap.writer import LIBRARY_IDENTIFIER, MCAP0_MAGIC
from numpy.typing import NDArray

HEAD = np.dtype(
    [
        ("opcode", "<u1"),
        ("length", "<u8"),
        ("channel", "<u2"),
        ("sequence", "<u4"),
        ("log_ns", "<u8"),
        ("sent_ns", "<u8"),
    ]
)
BEFORE_CHANNEL = 9  # bytes that `length` does not count
INDEX = np.dtype([("time_ns", "<u8"), ("offset", "<u8")])
INDEX_HEAD = struct.Struct("<BQHI")  # opcode, length, channel, bytes of the entries
NEVER = 2**63 - 1  # [ns]
COMPRESSION_LEVEL = 1  # half the time of the usual 3, and as small: most of a record changes in every cycle


@dataclass
class Chunked:
    """Messages of one chunk, put together from pieces."""

    pieces: list[Any] = field(default_factory=list)  # bytes
    size: int = 0
    span: tuple[int, int] = (NEVER, 0)  # first and last time [ns]
    index: dict[int, list[NDArray[Any]]] = field(default_factory=dict)  # of each channel, arrays of INDEX

    def add(self, data: Any, times_ns: NDArray[np.int64], places: dict[int, int]) -> None:
        """data: rows of the same length, one for each time; places: where in a row each channel's message begins."""
        begins = self.size + len(data) // len(times_ns) * np.arange(len(times_ns))
        for channel, place in places.items():
            entries = np.zeros(len(times_ns), INDEX)
            entries["time_ns"], entries["offset"] = times_ns, begins + place
            self.index.setdefault(channel, []).append(entries)
        self.pieces.append(data)
        self.size += len(data)
        self.span = (min(self.span[0], int(times_ns.min())), max(self.span[1], int(times_ns.max())))


class Container:
    """Raises OSError when the file cannot be written. What was written reaches the system chunk by chunk."""

    def __init__(self, path: Path) -> None:
        self.file = _WholeWrites(path)
        self._compress = zstandard.ZstdCompressor(level=COMPRESSION_LEVEL).compress
        self._schemas: list[Schema] = []
        self._channels: list[Channel] = []
        self._chunks: list[ChunkIndex] = []
        self._metadata: list[MetadataIndex] = []
        self._counts: dict[int, int] = {}
        self._span = (NEVER, 0)  # [ns]
        try:
            self.file.write(MCAP0_MAGIC + _bytes([Header("ros2", LIBRARY_IDENTIFIER)]))
        except OSError:
            self.file.abandon()
            raise

    def add_schema(self, name: str, encoding: str, text: str) -> int:
        self._schemas.append(Schema(len(self._schemas) + 1, text.encode(), encoding, name))
        return self._schemas[-1].id

    def add_channel(self, topic: str, schema: int) -> int:
        self._channels.append(Channel(len(self._channels) + 1, topic, "cdr", {}, schema))
        return self._channels[-1].id

    def add_metadata(self, name: str, values: dict[str, str]) -> None:
        data = _bytes([Metadata(name, values)])
        self._metadata.append(MetadataIndex(self.file.tell(), len(data), name))
        self.file.write(data)

    def add_chunk(self, messages: Chunked) -> None:
        """The first chunk also names the schemas and channels."""
        names = b"" if self._chunks else _bytes([*self._schemas, *self._channels])
        inside = b"".join([names, *messages.pieces])
        first, last = messages.span
        packed = self._compress(inside)
        data = _bytes([Chunk("zstd", packed, last, first, zlib.crc32(inside), len(inside))])
        begin, parts, offsets = self.file.tell(), [data], {}
        end = begin + len(data)
        for channel, several in messages.index.items():
            entries = np.concatenate(several) if len(several) > 1 else several[0]
            entries["offset"] += len(names)
            parts.append(INDEX_HEAD.pack(Opcode.MESSAGE_INDEX, 6 + entries.nbytes, channel, entries.nbytes))
            parts.append(entries.tobytes())
            offsets[channel] = end
            end += INDEX_HEAD.size + entries.nbytes
            self._counts[channel] = self._counts.get(channel, 0) + len(entries)
        self.file.write(b"".join(parts))
        length = end - begin - len(data)
        self._chunks.append(
            ChunkIndex(len(data), begin, "zstd", len(packed), last, length, offsets, first, len(inside))
        )
        self._span = (min(first, self._span[0]), max(last, self._span[1]))

    def finish(self) -> None:
        """The summary, by which a reader finds everything; then the file is closed."""
        self.file.write(_bytes([DataEnd(0)]))
        begin = self.file.tell()
        summary, offsets = b"", []
        groups: list[tuple[Opcode, list[Any]]] = [
            (Opcode.SCHEMA, self._schemas),
            (Opcode.CHANNEL, self._channels),
            (Opcode.STATISTICS, [self._statistics()]),
            (Opcode.CHUNK_INDEX, self._chunks),
            (Opcode.METADATA_INDEX, self._metadata),
        ]
        for opcode, records in groups:
            data = _bytes(records)
            offsets.append(SummaryOffset(opcode, begin + len(summary), len(data)))
            summary += data
        where = begin + len(summary)
        summary += _bytes(offsets)
        unsigned = _bytes([Footer(begin, where, 0)])[:-4]
        self.file.write(summary + _bytes([Footer(begin, where, zlib.crc32(summary + unsigned))]) + MCAP0_MAGIC)
        self.file.close()

    def _statistics(self) -> Statistics:
        first, last = self._span if self._chunks else (0, 0)
        return Statistics(
            attachment_count=0,
            channel_count=len(self._channels),
            channel_message_counts=self._counts,
            chunk_count=len(self._chunks),
            message_count=sum(self._counts.values()),
            message_end_time=last,
            message_start_time=first,
            metadata_count=len(self._metadata),
            schema_count=len(self._schemas),
        )


def _bytes(records: Iterable[McapRecord]) -> bytes:
    builder = RecordBuilder()
    for record in records:
        record.write(builder)
    data: bytes = builder.end()  # type: ignore[no-untyped-call]
    return data


class _WholeWrites:
    """A file whose writes are complete or raise, and reach the system at once: a killed process loses no chunk."""

    def __init__(self, path: Path) -> None:
        device = path.exists() and not path.is_file()  # a pipe, /dev/full: there already, and nothing to lose
        self._descriptor = os.open(path, os.O_WRONLY | (0 if device else os.O_CREAT | os.O_EXCL), 0o644)
        self._position = 0

    def write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            done = os.write(self._descriptor, rest)
            self._position += done
            rest = rest[done:]

    def tell(self) -> int:
        return self._position

    def sync(self) -> None:
        try:
            os.fdatasync(self._descriptor)
        except OSError as error:
            if error.errno != errno.EINVAL:  # pipes and devices have nothing to wait for
                raise

    def close(self) -> None:
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            os.close(descriptor)

    def abandon(self) -> None:
        """Close without another word about a failure that is already known."""
        try:
            self.close()
        except OSError:
            self._descriptor = -1
