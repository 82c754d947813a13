"""A recording on disk: one MCAP file that Foxglove, PlotJuggler and rosbag show, and that a replay recomputes exactly.

    ROS 2 messages       100 times a second (messages.py)     for eyes and other programs
    /exact/tick          every cycle: loop, sample, command    the bytes of the records, little endian,
    /exact/state         once a second: the state after a tick in std_msgs/UInt8MultiArray; their fields are
    /exact/params        when the parameters change            described in the metadata "ur_admittance"

The file is written in chunks of at most half a second, each complete in itself: after a kill everything but the last
chunk can be read; after a power cut everything up to the last ``sync``, which the recorder process calls once a second.
A full disk ends the recording with a sentence; it is never the loop's problem.
"""

import json
import os
import struct
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from ur_admittance.core.records import COMMAND, PARAMS, SAMPLE, STATE
from ur_admittance.errors import LogError, sentence_of
from ur_admittance.model import JOINT_NAMES
from ur_admittance.outputs import refusal
from ur_admittance.recording import messages
from ur_admittance.recording.container import Chunked, Container
from ur_admittance.recording.message_rows import EXACT, Bytes, Channels, CyclicRows, fill_heads
from ur_admittance.recording.messages import DIAGNOSTICS
from ur_admittance.recording.messages import PARAMETER_EVENTS as PARAMETERS
from ur_admittance.recording.salvage import checked
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

Single = tuple[str, int, bytes]  # topic, time [ns], message
TWO_NUMBERS = struct.Struct("<qq")  # sequence and time at the start of a TICK, mode and status further on
MODE_AT = TICK.fields["command"][1] + COMMAND.fields["mode"][1]  # type: ignore[index]


def check_new(path: Path) -> None:
    """A recording needs an existing folder, and is never written over another file."""
    if words := refusal(path):
        raise LogError(f"recording to {words}")


class LogWriter:
    """Writes cycles as they come. Raises LogError when one cannot be written, the same again if more are added; close
    then has nothing left to do."""

    def __init__(self, path: str | Path, about: dict[str, Any], *, ros_rate: float = ROS_RATE) -> None:
        if sys.byteorder != "little":
            raise LogError("recordings are little endian: this processor is not supported")
        self.path = Path(path)
        self.about = about
        self.rate = float(about.get("rate") or 500.0)  # [Hz]
        self.ticks = 0
        self._written = 0  # of them: those that the system has
        self._every = max(1, round(self.rate / ros_rate))
        self._state_every = max(1, round(self.rate * KEYFRAME_S))
        self._sequence = -1
        self._status = (-1, -1)
        self._parameters: dict[str, Any] = {}
        self._before: list[Single] = []  # what precedes the cycles of the chunk
        self._after: list[Single] = []
        self._used = 0  # cycles in the chunk
        self._failure: LogError | None = None
        # While the next chunk is filled, the last one is encoded, compressed and written beside it, mostly while the
        # loop computes in compiled code.
        self._worker = ThreadPoolExecutor(1)
        self._writing: Future[None] | None = None
        try:
            self._container = Container(self.path)
        except OSError as error:
            raise self._refusal(error) from error
        try:
            self._container.add_metadata(METADATA, checked(self._description()))
        except OSError as error:
            raise self._end(error) from error
        self._channels = Channels(self._container, KINDS)
        joints = tuple(about.get("parameters", {}).get("joints") or JOINT_NAMES)
        self._cyclic = CyclicRows(self._channels, joints, 1.0 / self.rate, TICK)
        row = self._channels.exact("/exact/tick", bytes(TICK.itemsize))
        self._begin = len(row) - TICK.itemsize
        self._rows = np.tile(np.frombuffer(row, np.uint8), (max(1, round(CHUNK_S * self.rate)), 1))
        self._row_size = len(row)
        self._spare = self._rows.copy()
        self._bytes = self._rows.reshape(-1).data

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
            self._add(tick, state, params, about, reason)
        except Exception as error:  # a disk that is full, or a record that makes no sense
            raise self._end(error) from error

    def sync(self) -> None:
        """Wait until the disk has what was written."""
        try:
            self._wait()
            self._container.file.sync()
        except Exception as error:
            raise self._end(error) from error

    def close(self) -> None:
        if self._failure is not None:
            return
        try:
            self._write_chunk()
            self._wait()
            # Once more than at the start: without it nothing can be read.
            self._container.add_metadata(METADATA, checked(self._description()))
            self._container.finish()
        except Exception as error:
            raise self._end(error) from error
        self._worker.shutdown()

    def _add(
        self,
        tick: memoryview,
        state: memoryview,
        params: np.void | None,
        about: dict[str, Any] | None,
        reason: Callable[[], str],
    ) -> None:
        sequence, time_ns = TWO_NUMBERS.unpack_from(tick)
        if params is not None or about is not None:
            self._write_chunk()  # so that in the file, too, they stand before the cycles for which they hold
        if params is not None:
            self._exact(self._before, "/exact/params", params.tobytes(), time_ns, sequence)
        if about is not None:
            new = about.get("parameters", {})
            event = messages.parameter_event(time_ns, self._parameters, new)
            self._before.append((PARAMETERS, time_ns, self._channels.message(PARAMETERS, event, 0, time_ns)))
            self._parameters = new
        at = self._used * self._row_size + self._begin
        self._bytes[at : at + TICK.itemsize] = tick
        self._used += 1
        keyframe = self.ticks % self._state_every == 0 or sequence != self._sequence + 1
        status = TWO_NUMBERS.unpack_from(tick, MODE_AT)
        if keyframe or status != self._status:
            self._status = status
            model = str(self.about.get("model", ""))
            message = messages.diagnostics(np.frombuffer(tick, TICK)[0], reason(), model)
            self._after.append((DIAGNOSTICS, time_ns, self._channels.message(DIAGNOSTICS, message, 0, time_ns)))
        self._sequence = sequence
        self.ticks += 1
        if keyframe:
            self._exact(self._after, "/exact/state", bytes(state), time_ns, sequence)
        if keyframe or self._used == len(self._rows):
            self._write_chunk()  # after a keyframe, so that the state follows its cycle

    def _exact(self, to: list[Single], topic: str, data: bytes, time_ns: int, sequence: int) -> None:
        to.append((topic, time_ns, self._channels.exact(topic, data, sequence, time_ns)))

    def _write_chunk(self) -> None:
        """The cycles since the last chunk, with what precedes and follows them, to the thread that writes."""
        count, self._used = self._used, 0
        if count == 0:
            return
        self._wait()
        rows, self._rows, self._spare = self._rows, self._spare, self._rows
        self._bytes = self._rows.reshape(-1).data
        self._writing = self._worker.submit(self._store, rows[:count], self._before, self._after, self.ticks - count)
        self._before, self._after = [], []

    def _store(self, rows: Bytes, before: list[Single], after: list[Single], first: int) -> None:
        """first: number of the first cycle."""
        ids, chunk = self._channels.ids, Chunked()
        ticks = np.ascontiguousarray(rows[:, self._begin :]).view(TICK)[:, 0]
        times_ns = ticks["loop"]["time_ns"]
        fill_heads(rows, 0, times_ns, ticks["loop"]["sequence"])
        for topic, time_ns, message in before:
            chunk.add(message, np.array([time_ns]), {ids[topic]: 0})
        chunk.add(rows.reshape(-1).data, times_ns, {ids["/exact/tick"]: 0})
        for topic, time_ns, message in after:
            chunk.add(message, np.array([time_ns]), {ids[topic]: 0})
        shown = ticks[-first % self._every :: self._every]
        if len(shown):
            chunk.add(self._cyclic.fill(shown).reshape(-1).data, shown["loop"]["time_ns"], self._cyclic.places)
        self._container.add_chunk(chunk)
        self._written += len(rows)

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
        self._container.file.abandon()
        self._failure = self._refusal(error)
        return self._failure

    def _refusal(self, error: Exception) -> LogError:
        cause = os.strerror(error.errno or 0) if isinstance(error, OSError) else sentence_of(error)
        return LogError(f"recording to {self.path} ended after {self._written} cycles: {cause}")
