"""Reading a recording back, also one that was cut off or damaged, and saying what is missing.

Its chunks have checksums and are complete in themselves. They are found by how a chunk looks, not by walking from one
to the next: a damaged length would lead astray. What fails its checksum is left out, what comes after it is read.
"""

import io
import json
import mmap
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from mcap.data_stream import ReadDataStream
from mcap.opcode import Opcode
from mcap.records import Channel, Chunk, McapRecord, Message, Metadata, Statistics
from mcap.stream_reader import StreamReader, breakup_chunk
from mcap.writer import MCAP0_MAGIC
from numpy.typing import NDArray

from ur_admittance import given
from ur_admittance.errors import LogError
from ur_admittance.recording.log_writer import METADATA, RECORDS, checksum_of

TOPICS = {f"/exact/{kind}": kind for kind in RECORDS}
SHOWN = 5  # gaps that are told one by one
_PREFIX = 16  # CDR header, empty list of dimensions, data offset, length: 4 bytes each (std_msgs/UInt8MultiArray)

COMPRESSION = b"\x04\x00\x00\x00zstd"  # as it stands in the head of every chunk
CHUNK_HEAD = struct.Struct("<BQQQQI")  # before it: opcode, length, first and last time, size and checksum of the inside
SIZE = struct.Struct("<Q")  # after it: bytes that follow
RECORD_HEAD = struct.Struct("<BQ")  # opcode, length
FOOTER = struct.Struct("<BQQQI")  # opcode, length, where the summary and its offsets begin, checksum of both


@dataclass
class _Salvaged:
    """Every message of the wanted topics that is as it was written, in order."""

    messages: list[tuple[str, Message]] = field(default_factory=list)  # topic and message
    summary: Statistics | None = None  # None: the file was cut off, or its end is damaged
    descriptions: list[dict[str, str]] = field(default_factory=list)  # metadata of the wanted name


@dataclass(frozen=True)
class Gap:
    """Between the last cycle before it and the first one after it [s]."""

    start: float
    end: float
    cycles: int


@dataclass
class Log:
    """A recording in memory. ticks: array of TICK; states and params: what is known at which cycle."""

    path: Path
    about: dict[str, Any] = field(default_factory=dict)  # model, rate, parameters at the start
    dtypes: dict[str, np.dtype[Any]] = field(default_factory=dict)
    ticks: NDArray[Any] = field(default_factory=lambda: np.zeros(0, RECORDS["tick"]))
    states: dict[int, np.void] = field(default_factory=dict)  # after the tick at this index
    params: dict[int, np.void] = field(default_factory=dict)  # in force from the tick at this index on
    complete: bool = True  # False: the file was cut off, or its end is damaged: what came last is not known
    span: tuple[int, int] | None = None  # first and last stamp [ns] that were written; None: not known

    @property
    def seconds(self) -> NDArray[np.float64]:
        """Time of each tick since the first that was recorded [s], whether that one can be read or not."""
        stamps = self.ticks["loop"]["time_ns"]
        return (stamps - (self.span or stamps)[0]) * 1e-9 if len(stamps) else np.zeros(0)

    @property
    def missing(self) -> list[Gap]:
        """Cycles that ran but cannot be read: they are damaged, or were never recorded."""
        seconds, sequence = self.seconds, self.ticks["loop"]["sequence"]
        steps = np.diff(sequence) - 1
        gaps = [Gap(float(seconds[i]), float(seconds[i + 1]), int(steps[i])) for i in np.flatnonzero(steps > 0)]
        if self.span is None:
            return gaps
        rate, end = float(self.about.get("rate") or 500.0), (self.span[1] - self.span[0]) * 1e-9
        if len(seconds) == 0:
            return [Gap(0.0, end, round(rate * end) + 1)]
        first, last = float(seconds[0]), float(seconds[-1])
        before = [Gap(0.0, first, round(rate * first))] if first > 0.0 else []
        after = [Gap(last, end, round(rate * (end - last)))] if end > last else []
        return [*before, *gaps, *after]

    @property
    def lost(self) -> int:
        """Number of the missing cycles."""
        return sum(gap.cycles for gap in self.missing)

    @property
    def lacks(self) -> str:
        """What is missing, in a sentence; empty: nothing."""
        gaps = self.missing
        words = [f"{gap.end - gap.start:.3f} s from {gap.start:.3f} to {gap.end:.3f} s" for gap in gaps[:SHOWN]]
        words += [f"and {len(gaps) - SHOWN} later gaps"] if len(gaps) > SHOWN else []
        told = f"{self.lost} cycles are missing: {', '.join(words)}." if gaps else ""
        if self.complete:
            return told
        read = f"after {self.seconds[-1]:.3f} s" if len(self.ticks) else "at all"
        return f"{told} The file was cut off, or its end is damaged: nothing is known {read}.".strip()

    def check_layout(self) -> None:
        """Exact recomputation needs the very same records."""
        for kind, dtype in RECORDS.items():
            if self.dtypes.get(kind) != dtype:
                raise LogError(
                    f"{self.path} was recorded by another version ({kind} record differs): it cannot be replayed"
                )


def read_log(path: str | Path) -> Log:
    """Read a recording. Of one that was cut off or damaged, what is as it was written (see `Log.missing`); anything
    else is a LogError."""
    path = given.file("recording", path, LogError)
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            found = _salvage(data, TOPICS, METADATA)
    except FileNotFoundError:
        raise LogError(f"{path}: there is no such file") from None
    except OSError as error:
        raise LogError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError:  # an empty file, or a name that cannot be one
        found = _Salvaged()
    if not found.descriptions:
        raise LogError(
            f"{path} is not a recording of this program, or it was cut off or damaged before the first record"
        )
    description = found.descriptions[0]
    log = Log(path, json.loads(description["about"]))
    log.dtypes = {kind: _dtype(json.loads(description[kind])) for kind in RECORDS}
    log.complete = found.summary is not None
    if found.summary is not None and found.summary.message_count:
        log.span = (found.summary.message_start_time, found.summary.message_end_time)
    _fill(log, found)
    return log


def _fill(log: Log, found: _Salvaged) -> None:
    ticks: list[bytes] = []
    last = -1  # sequence number of the tick before
    for topic, message in found.messages:
        kind, data = TOPICS[topic], message.data[_PREFIX:]
        if kind == "tick":
            ticks.append(data)
            last = message.sequence
        elif kind == "params":
            log.params[len(ticks)] = np.frombuffer(data, log.dtypes[kind])[0]
        elif message.sequence == last:  # otherwise its tick is lost
            log.states[len(ticks) - 1] = np.frombuffer(data, log.dtypes[kind])[0]
    log.ticks = np.frombuffer(b"".join(ticks), log.dtypes["tick"])


def _dtype(description: list[Any]) -> np.dtype[Any]:
    """The dtype of a JSON-encoded ``dtype.descr``."""

    def field_of(entry: list[Any]) -> tuple[Any, ...]:
        name, kind, *shape = entry
        kind = [field_of(part) for part in kind] if isinstance(kind, list) else kind
        return (name, kind, tuple(shape[0])) if shape else (name, kind)

    return np.dtype([field_of(entry) for entry in description])


def _salvage(data: Any, topics: Iterable[str], metadata: str) -> _Salvaged:
    """data: the bytes of the file, or a map of them."""
    found = _Salvaged(descriptions=list(_metadata(data, metadata)))
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
                if found and checksum in (None, checksum_of(found)):  # None: an older recording
                    yield found
        at = data.find(words, at + 1)
