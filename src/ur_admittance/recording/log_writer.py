"""A recording on disk: one MCAP file that Foxglove, PlotJuggler and rosbag show, and that a replay recomputes exactly.

    ROS 2 messages       100 times a second (messages.py)     for eyes and other programs
    /exact/tick          every cycle: loop, sample, command    the bytes of the records, little endian,
    /exact/state         once a second: the state after a tick in std_msgs/UInt8MultiArray; their fields are
    /exact/params        when the parameters change            described in the metadata "ur_admittance"

The file is written in chunks of at most half a second, each complete in itself: after a kill everything but the last
chunk can be read; after a power cut everything up to the last ``sync``, which the recorder process calls once a second.
A full disk ends the recording with a sentence; it is never the loop's problem.
"""

import contextlib
import errno
import json
import os
import struct
import sys
import zlib
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from mcap.well_known import SchemaEncoding
from mcap.writer import Writer
from numpy.typing import NDArray

from ur_admittance.core.records import COMMAND, PARAMS, SAMPLE, STATE
from ur_admittance.errors import LogError, sentence_of
from ur_admittance.model import JOINT_NAMES
from ur_admittance.outputs import refusal
from ur_admittance.recording import messages
from ur_admittance.recording.messages import DIAGNOSTICS, EXACT
from ur_admittance.recording.messages import PARAMETER_EVENTS as PARAMETERS
from ur_admittance.runtime.interfaces import LOOP

TICK = np.dtype([("loop", LOOP), ("sample", SAMPLE), ("command", COMMAND)], align=True)
RECORDS = {"tick": TICK, "state": STATE, "params": PARAMS}
METADATA = "ur_admittance"
FORMAT = "1"

ROS_RATE = 100.0  # [Hz] of the ROS messages: enough for plots, a fifth of the time that 500 Hz would take
KEYFRAME_S = 1.0
CHUNK_S = 0.4
KINDS = {
    **{f"/exact/{kind}": EXACT for kind in RECORDS},
    **messages.TOPICS,
    DIAGNOSTICS: "diagnostic_msgs/msg/DiagnosticArray",
    PARAMETERS: "rcl_interfaces/msg/ParameterEvent",
}  # topic -> type

Single = tuple[int, int, bytes, int, int]  # channel, time [ns], message, time again, sequence
TWO_NUMBERS = struct.Struct("<qq")  # sequence and time at the start of a TICK, mode and status further on
MODE_AT = TICK.fields["command"][1] + COMMAND.fields["mode"][1]  # type: ignore[index]
LARGEST_SEQUENCE = 0xFFFFFFFF  # of a message
WHOLE_CHUNKS = 1 << 40  # [bytes] never reached: a chunk ends where `flush` ends it


def check_new(path: Path) -> None:
    """A recording needs an existing folder, and is never written over another file."""
    if words := refusal(path):
        raise LogError(f"recording to {words}")


def checked(description: dict[str, str]) -> dict[str, str]:
    """With a checksum of its own: the format has none for metadata."""
    return description | {"checksum": checksum_of(description)}


def checksum_of(description: dict[str, str]) -> str:
    return f"{zlib.crc32(json.dumps(description, sort_keys=True).encode()):08x}"


class LogWriter:
    """Writes cycles as they come. Raises LogError when one cannot be written, the same again if more are added; close
    then has nothing left to do."""

    def __init__(self, path: str | Path, about: dict[str, Any]) -> None:
        if sys.byteorder != "little":
            raise LogError("recordings are little endian: this processor is not supported")
        self.path = Path(path)
        self.about = about
        self.rate = float(about.get("rate") or 500.0)  # [Hz]
        self.ticks = 0
        self._written = 0  # of them: those that the system has
        self._every = max(1, round(self.rate / ROS_RATE))
        self._state_every = max(1, round(self.rate * KEYFRAME_S))
        self._sequence = -1
        self._status = (-1, -1)
        self._parameters: dict[str, Any] = {}
        self._before: list[Single] = []  # what precedes the cycles of the chunk
        self._after: list[Single] = []
        self._ticks = bytearray()  # of the chunk
        self._chunk_bytes = TICK.itemsize * max(1, round(CHUNK_S * self.rate))
        self._failure: LogError | None = None
        # While the next chunk is filled, the last one is encoded, compressed and written beside it, mostly while the
        # loop computes in compiled code.
        self._worker = ThreadPoolExecutor(1)
        self._writing: Future[None] | None = None
        try:
            self._file = _NewFile(self.path)
        except OSError as error:
            raise self._refusal(error) from error
        self._writer: Any = Writer(self._file, chunk_size=WHOLE_CHUNKS)  # type: ignore[arg-type]
        try:
            self._writer.start("ros2")
            self._writer.add_metadata(METADATA, checked(self._description()))
        except OSError as error:
            raise self._end(error) from error
        schemas = {
            kind: self._writer.register_schema(kind, SchemaEncoding.ROS2, messages.definition(kind).encode())
            for kind in dict.fromkeys(KINDS.values())
        }
        self._ids = {topic: self._writer.register_channel(topic, "cdr", schemas[kind]) for topic, kind in KINDS.items()}
        joints = tuple(about.get("parameters", {}).get("joints") or JOINT_NAMES)
        self._cyclic = messages.CyclicMessages(TICK, joints, 1.0 / self.rate)
        self._prefix = messages.exact(bytes(TICK.itemsize))[: -TICK.itemsize]

    def add(
        self,
        tick: memoryview,
        state: memoryview,
        params: np.void | None = None,
        about: dict[str, Any] | None = None,
        reason: Callable[[], str] = str,
    ) -> None:
        """One cycle: the bytes of a TICK and of a STATE. params, about: given when they are new; reason: asked for the
        controller's sentence when it is needed."""
        if self._failure is not None:
            raise self._failure
        try:
            sequence, time_ns = TWO_NUMBERS.unpack_from(tick)
            if params is not None or about is not None:
                self._write_chunk()  # so that in the file, too, they stand before the cycles for which they hold
            if params is not None:
                self._before.append(self._single("/exact/params", messages.exact(params.tobytes()), time_ns, sequence))
            if about is not None:
                new = about.get("parameters", {})
                event = messages.parameter_event(time_ns, self._parameters, new)
                self._before.append(self._single(PARAMETERS, messages.encoded(KINDS[PARAMETERS], event), time_ns))
                self._parameters = new
            self._ticks += tick
            keyframe = self.ticks % self._state_every == 0 or sequence != self._sequence + 1
            status = TWO_NUMBERS.unpack_from(tick, MODE_AT)
            if keyframe or status != self._status:
                self._status = status
                model = str(self.about.get("model", ""))
                message = messages.diagnostics(np.frombuffer(tick, TICK)[0], reason(), model)
                self._after.append(self._single(DIAGNOSTICS, messages.encoded(KINDS[DIAGNOSTICS], message), time_ns))
            self._sequence = sequence
            self.ticks += 1
            if keyframe:
                self._after.append(self._single("/exact/state", messages.exact(bytes(state)), time_ns, sequence))
            if keyframe or len(self._ticks) >= self._chunk_bytes:
                self._write_chunk()  # after a keyframe, so that the state follows its cycle
        except Exception as error:  # a disk that is full, or a record that makes no sense
            raise self._end(error) from error

    def sync(self) -> None:
        """Wait until the disk has what was written."""
        try:
            self._wait()
            self._file.sync()
        except Exception as error:
            raise self._end(error) from error

    def close(self) -> None:
        if self._failure is not None:
            return
        try:
            self._write_chunk()
            self._wait()
            # Once more than at the start: without it nothing can be read.
            self._writer.add_metadata(METADATA, checked(self._description()))
            self._writer.finish()
            self._file.close()
        except Exception as error:
            raise self._end(error) from error
        self._worker.shutdown()

    def _single(self, topic: str, message: bytes, time_ns: int, sequence: int = 0) -> Single:
        return self._ids[topic], time_ns, message, time_ns, sequence & LARGEST_SEQUENCE

    def _write_chunk(self) -> None:
        """The cycles since the last chunk, with what precedes and follows them, to the thread that writes."""
        if not self._ticks:
            return
        self._wait()
        ticks = np.frombuffer(self._ticks, TICK)
        self._writing = self._worker.submit(self._store, ticks, self._before, self._after, self.ticks - len(ticks))
        self._ticks, self._before, self._after = bytearray(), [], []

    def _store(self, ticks: NDArray[Any], before: list[Single], after: list[Single], first: int) -> None:
        """first: number of the first cycle."""
        add, channel = self._writer.add_message, self._ids["/exact/tick"]
        for single in before:
            add(*single)
        times = ticks["loop"]["time_ns"].tolist()
        sequences = (ticks["loop"]["sequence"] & LARGEST_SEQUENCE).tolist()
        for tick, time_ns, sequence in zip(ticks, times, sequences, strict=True):
            add(channel, time_ns, self._prefix + tick.tobytes(), time_ns, sequence)
        for single in after:
            add(*single)
        shown = ticks[-first % self._every :: self._every]
        for topic, rows in self._cyclic.encoded(shown).items():
            channel = self._ids[topic]
            for time_ns, message in zip(shown["loop"]["time_ns"].tolist(), rows, strict=True):
                add(channel, time_ns, message, time_ns)
        self._writer.flush()
        self._written += len(ticks)

    def _wait(self) -> None:
        """Until the last chunk is written. Raises what was in the way if it could not be."""
        writing, self._writing = self._writing, None
        if writing is not None:
            writing.result()

    def _description(self) -> dict[str, str]:
        fields = {kind: json.dumps(dtype.descr) for kind, dtype in RECORDS.items()}
        return {"format": FORMAT, "about": json.dumps(self.about), **fields}

    def _end(self, error: Exception) -> LogError:
        self._worker.shutdown()
        with contextlib.suppress(OSError):  # the failure is known already
            self._file.close()
        self._failure = self._refusal(error)
        return self._failure

    def _refusal(self, error: Exception) -> LogError:
        cause = os.strerror(error.errno or 0) if isinstance(error, OSError) else sentence_of(error)
        return LogError(f"recording to {self.path} ended after {self._written} cycles: {cause}")


class _NewFile:
    """A new file whose writes are complete or raise, and reach the system at once: a killed process loses no chunk."""

    def __init__(self, path: Path) -> None:
        device = path.exists() and not path.is_file()  # a pipe, /dev/full: there already, and nothing to lose
        self._file = path.open("wb" if device else "xb", buffering=0)
        self._position = 0  # a pipe does not know its own
        self.close = self._file.close

    def write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            done = self._file.write(rest) or 0
            self._position += done
            rest = rest[done:]

    def tell(self) -> int:
        return self._position

    def flush(self) -> None:
        """Nothing is held back."""

    def sync(self) -> None:
        try:
            os.fdatasync(self._file.fileno())
        except OSError as error:
            if error.errno != errno.EINVAL:  # pipes and devices have nothing to wait for
                raise
