"""What can be read of a recording, whatever happened to its bytes.

Its chunks have checksums and are complete in themselves. They are found by how a chunk looks, not by walking from one
to the next: a damaged length would lead astray. What fails its checksum is left out, what comes after it is read.
"""

import io
import json
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import zstandard
from mcap.data_stream import ReadDataStream
from mcap.opcode import Opcode
from mcap.records import Channel, Chunk, McapRecord, Message, Metadata, Statistics
from mcap.stream_reader import StreamReader, breakup_chunk
from mcap.writer import MCAP0_MAGIC

COMPRESSION = b"\x04\x00\x00\x00zstd"  # as it stands in the head of every chunk
CHUNK_HEAD = struct.Struct("<BQQQQI")  # before it: opcode, length, first and last time, size and checksum of the inside
SIZE = struct.Struct("<Q")  # after it: bytes that follow
RECORD_HEAD = struct.Struct("<BQ")  # opcode, length
FOOTER = struct.Struct("<BQQQI")  # opcode, length, where the summary and its offsets begin, checksum of both


@dataclass
class Salvaged:
    """Every message of the wanted topics that is as it was written, in order."""

    messages: list[tuple[str, Message]] = field(default_factory=list)  # topic and message
    summary: Statistics | None = None  # None: the file was cut off, or its end is damaged
    descriptions: list[dict[str, str]] = field(default_factory=list)  # metadata of the wanted name


def salvage(data: Any, topics: Iterable[str], metadata: str) -> Salvaged:
    """data: the bytes of the file, or a map of them."""
    found = Salvaged(descriptions=list(_metadata(data, metadata)))
    ending = _summary(data)
    found.summary = next((entry for entry in ending if isinstance(entry, Statistics)), None)
    wanted = set(topics)
    # A channel is named in the chunk of its first message, and once more in the summary.
    names = {entry.id: entry.topic for entry in ending if isinstance(entry, Channel)}
    for chunk in _chunks(data):
        names |= {entry.id: entry.topic for entry in chunk if isinstance(entry, Channel)}
        for entry in chunk:
            if isinstance(entry, Message) and (topic := names.get(entry.channel_id)) in wanted:
                found.messages.append((str(topic), entry))
    return found


def checked(description: dict[str, str]) -> dict[str, str]:
    """With a checksum of its own: the format has none for metadata."""
    return description | {"checksum": _checksum(description)}


def _checksum(description: dict[str, str]) -> str:
    return f"{zlib.crc32(json.dumps(description, sort_keys=True).encode()):08x}"


def _chunks(data: Any) -> Iterator[list[McapRecord]]:
    at = data.find(COMPRESSION)
    while at >= 0:
        records = _chunk(data, at)
        if records is not None:
            yield records
        at = data.find(COMPRESSION, at + 1)


def _chunk(data: Any, at: int) -> list[McapRecord] | None:
    """The records of the chunk whose compression is named there; None: there is none, or it is damaged."""
    begin, body = at - CHUNK_HEAD.size, at + len(COMPRESSION) + SIZE.size
    if begin < 0 or body > len(data):
        return None
    _, _, first, last, size, checksum = CHUNK_HEAD.unpack(data[begin:at])
    (stored,) = SIZE.unpack(data[body - SIZE.size : body])
    inside = data[body : body + stored]
    try:
        if checksum == 0 or zstandard.frame_content_size(inside) != size:  # 0: would not be looked at
            return None
        return breakup_chunk(Chunk("zstd", inside, last, first, checksum, size), validate_crc=True)
    except Exception:  # of any library on the way; what passes the checksum is as it was written
        return None


def _summary(data: Any) -> list[McapRecord]:
    """What the end of the file says about the whole; empty: cut off or damaged."""
    end = len(data) - len(MCAP0_MAGIC)
    if end < FOOTER.size or data[end:] != MCAP0_MAGIC:
        return []
    opcode, _, begin, _, checksum = FOOTER.unpack(data[end - FOOTER.size : end])
    if opcode != Opcode.FOOTER or begin >= end or zlib.crc32(data[begin : end - 4]) != checksum:
        return []
    return list(StreamReader(io.BytesIO(data[begin:]), skip_magic=True).records)


def _metadata(data: Any, name: str) -> Iterator[dict[str, str]]:
    """The undamaged metadata of this name."""
    words = struct.pack("<I", len(name)) + name.encode()
    at = data.find(words)
    while at >= 0:
        if at >= RECORD_HEAD.size:
            opcode, length = RECORD_HEAD.unpack(data[at - RECORD_HEAD.size : at])
            if opcode == Opcode.METADATA and at + length <= len(data):
                try:
                    found = Metadata.read(ReadDataStream(io.BytesIO(data[at : at + length]))).metadata
                except Exception:  # as above
                    found = {}
                checksum = found.pop("checksum", None)
                if found and checksum in (None, _checksum(found)):  # None: an older recording
                    yield found
        at = data.find(words, at + 1)
