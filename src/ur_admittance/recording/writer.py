"""A recording on disk: one MCAP file that Foxglove, PlotJuggler and rosbag show, and that a replay recomputes exactly.

    ROS 2 messages       100 times a second (messages.py)     for eyes and other programs
    /exact/tick          every cycle: loop, sample, command    the bytes of the records, little endian,
    /exact/state         once a second: the state after a tick in std_msgs/UInt8MultiArray; their fields are
    /exact/params        when the parameters change            described in the metadata "ur_admittance"

The file is written in chunks of at most half a second, each complete in itself: after a kill everything but the last
chunk can be read; after a power cut everything up to the last ``sync``, which the recorder process calls once a second.
A full disk ends the recording with a sentence; it is never the loop's problem.
"""

import errno
import io
import json
import os
import sys
from pathlib import Path
from typing import Any, cast

import numpy as np
from mcap_ros2.writer import Writer

from ur_admittance.core.records import COMMAND, PARAMS, SAMPLE, STATE
from ur_admittance.errors import LogError
from ur_admittance.model import JOINT_NAMES
from ur_admittance.outputs import refusal
from ur_admittance.recording import messages
from ur_admittance.recording.salvage import checked
from ur_admittance.runtime.interfaces import LOOP

TICK = np.dtype([("loop", LOOP), ("sample", SAMPLE), ("command", COMMAND)], align=True)
RECORDS = {"tick": TICK, "state": STATE, "params": PARAMS}
METADATA = "ur_admittance"
FORMAT = "1"

ROS_RATE = 100.0  # [Hz] of the ROS messages: enough for plots, a fifth of the time that 500 Hz would take
KEYFRAME_S = 1.0
CHUNK_S = 0.4
_ROS_BYTES = 1500  # of one set of cyclic ROS messages, about


def check_new(path: Path) -> None:
    """A recording needs an existing folder, and is never written over another file."""
    if words := refusal(path):
        raise LogError(f"recording to {words}")


class LogWriter:
    """Writes records as they come. Raises LogError when the file cannot be written; nothing more can be added then."""

    def __init__(self, path: str | Path, about: dict[str, Any], *, ros_rate: float = ROS_RATE) -> None:
        if sys.byteorder != "little":
            raise LogError("recordings are little endian: this processor is not supported")
        self.path = Path(path)
        self.about = about
        self.rate = float(about.get("rate") or 500.0)  # [Hz]
        self.ticks = 0
        self._names = tuple(about.get("parameters", {}).get("joints") or JOINT_NAMES)
        self._every = max(1, round(self.rate / ros_rate))
        self._state_every = max(1, round(self.rate * KEYFRAME_S))
        self._sequence = -1
        self._status = (-1, -1)
        self._parameters: dict[str, Any] = {}
        bytes_per_second = self.rate * (TICK.itemsize + 50) + self.rate / self._every * _ROS_BYTES
        try:
            self._file = _WholeWrites(self.path)
            self._writer: Any = Writer(cast(Any, self._file), chunk_size=max(1, int(CHUNK_S * bytes_per_second)))
            self._schemas = {
                name: self._writer.register_msgdef(name, text) for name, text in messages.DEFINITIONS.items()
            }
            self._writer.add_metadata(METADATA, checked(self._description()))
        except OSError as error:
            raise self._refusal(error) from error

    def add(
        self, record: np.void, params: np.void | None = None, about: dict[str, Any] | None = None, reason: str = ""
    ) -> None:
        """One cycle. record: TELEMETRY; params, about: given when they are new; reason: the controller's sentence."""
        try:
            self._add(record, params, about, reason)
        except OSError as error:
            self._file.abandon()
            raise self._refusal(error) from error

    def sync(self) -> None:
        """Wait until the disk has what was written."""
        try:
            self._file.sync()
        except OSError as error:
            self._file.abandon()
            raise self._refusal(error) from error

    def close(self) -> None:
        try:
            self._writer.add_metadata(METADATA, checked(self._description()))  # without it nothing can be read: twice
            self._writer.finish()
            self._file.close()
        except OSError as error:
            self._file.abandon()
            raise self._refusal(error) from error

    def _add(self, record: np.void, params: np.void | None, about: dict[str, Any] | None, reason: str) -> None:
        loop = record["loop"]
        time_ns, sequence = int(loop["time_ns"]), int(loop["sequence"])
        if params is not None:
            self._exact("params", params.tobytes(), time_ns, sequence)
        if about is not None:
            self._write_parameters(about, time_ns)
        gap = sequence != self._sequence + 1
        self._sequence = sequence
        data = b"".join((loop.tobytes(), record["sample"].tobytes(), record["command"].tobytes()))
        self._exact("tick", data, time_ns, sequence)
        if gap or self.ticks % self._state_every == 0:
            self._exact("state", record["state"].tobytes(), time_ns, sequence)
        status = (int(record["command"]["mode"]), int(record["command"]["status"]))
        if status != self._status or self.ticks % self._state_every == 0:
            self._status = status
            message = messages.diagnostics(record, reason, str(self.about.get("model", "")))
            self._ros(messages.DIAGNOSTICS, "diagnostic_msgs/msg/DiagnosticArray", message, time_ns)
        if self.ticks % self._every == 0:
            for topic, message in messages.cyclic(record, self._names, 1.0 / self.rate):
                self._ros(topic, messages.TOPICS[topic], message, time_ns)
        self.ticks += 1

    def _write_parameters(self, about: dict[str, Any], time_ns: int) -> None:
        new = about.get("parameters", {})
        message = messages.parameter_event(time_ns, self._parameters, new)
        self._ros(messages.PARAMETER_EVENTS, "rcl_interfaces/msg/ParameterEvent", message, time_ns)
        self._parameters = new

    def _exact(self, kind: str, data: bytes, time_ns: int, sequence: int) -> None:
        message = {"layout": {"dim": [], "data_offset": 0}, "data": data}
        schema = self._schemas["std_msgs/msg/UInt8MultiArray"]
        self._writer.write_message(f"/exact/{kind}", schema, message, time_ns, time_ns, sequence & 0xFFFFFFFF)

    def _ros(self, topic: str, kind: str, message: dict[str, Any], time_ns: int) -> None:
        self._writer.write_message(topic, self._schemas[kind], message, time_ns, time_ns)

    def _description(self) -> dict[str, str]:
        fields = {kind: json.dumps(dtype.descr) for kind, dtype in RECORDS.items()}
        return {"format": FORMAT, "about": json.dumps(self.about), **fields}

    def _refusal(self, error: OSError) -> LogError:
        return LogError(f"recording to {self.path} ended after {self.ticks} cycles: {os.strerror(error.errno or 0)}")


class _WholeWrites(io.BufferedIOBase):
    """A file whose writes are complete or raise, and reach the system at once: a killed process loses no chunk."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        self._position = 0

    def write(self, data: Any) -> int:
        rest = memoryview(data)
        while rest:
            done = os.write(self._descriptor, rest)
            self._position += done
            rest = rest[done:]
        return len(data)

    def tell(self) -> int:
        return self._position

    def flush(self) -> None:
        pass

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
