"""What the loop tells to other processes: a ring in shared memory with one writer and any number of readers.

Each slot carries a sequence number and a checksum:

    writer   number := 0,  record,  checksum(number, record),  number := n,  head := n
    reader   number == n?  copy,    checksum right?,           number == n still?

The writer never looks at a reader: one that is slow, stopped or killed cannot delay the loop; it only misses records,
and it knows how many. The checksum covers processors that reorder writes (the number alone is enough on x86).
Next to the ring: the last 16 parameter records by revision, and three texts (what runs here; why it is in its mode; a
warning).
"""

import json
import mmap
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from ur_admittance.core.records import COMMAND, PARAMS, SAMPLE, STATE
from ur_admittance.core.views import Record, record_bytes, scalar, whole
from ur_admittance.errors import UrAdmittanceError
from ur_admittance.runtime import registry
from ur_admittance.runtime.interfaces import LOOP, Controller

TELEMETRY = np.dtype([("loop", LOOP), ("sample", SAMPLE), ("command", COMMAND), ("state", STATE)], align=True)
STATE_AT: int = TELEMETRY.fields["state"][1]  # type: ignore[index]

SLOTS = 2048  # 4 s at 500 Hz, 5 MB
PARAMS_SLOTS = 16
ABOUT_BYTES, REASON_BYTES, WARNING_BYTES = 48 * 1024, 2 * 1024, 2 * 1024

HEADER = np.dtype(
    [("layout", np.int64), ("slots", np.int64), ("process", np.int64), ("head", np.int64), ("closed", np.int64)]
)
SLOT = np.dtype([("number", np.int64), ("checksum", np.int64), ("record", TELEMETRY)], align=True)
PARAMS_SLOT = np.dtype([("number", np.int64), ("checksum", np.int64), ("record", PARAMS)], align=True)
TEXT = np.dtype([("number", np.int64), ("checksum", np.int64), ("length", np.int64)])

PARAMS_AT = 4096
ABOUT_AT = PARAMS_AT + PARAMS_SLOTS * PARAMS_SLOT.itemsize
REASON_AT = ABOUT_AT + TEXT.itemsize + ABOUT_BYTES
WARNING_AT = REASON_AT + TEXT.itemsize + REASON_BYTES
RING_AT = -(-(WARNING_AT + TEXT.itemsize + WARNING_BYTES) // 4096) * 4096
# Two versions of the program must not misread each other: the number is made of every field's name, type and place.
LAYOUT = zlib.crc32(repr((SLOT, PARAMS_SLOT, HEADER, RING_AT)).encode())

_RECORD_AT: int = SLOT.fields["record"][1]  # type: ignore[index]


class Memory:
    """The mapped file seen as arrays."""

    def __init__(self, descriptor: int, size: int, writable: bool) -> None:
        access = mmap.ACCESS_WRITE if writable else mmap.ACCESS_READ
        self.map = mmap.mmap(descriptor, size, access=access)
        self.bytes = memoryview(self.map)
        self.header = np.frombuffer(self.map, HEADER, 1)
        self.head, self.closed = self.header["head"], self.header["closed"]
        slots = (size - RING_AT) // SLOT.itemsize
        self.ring = np.frombuffer(self.map, SLOT, slots, RING_AT)
        self.params = np.frombuffer(self.map, PARAMS_SLOT, PARAMS_SLOTS, PARAMS_AT)
        self.about = np.frombuffer(self.map, TEXT, 1, ABOUT_AT)
        self.reason = np.frombuffer(self.map, TEXT, 1, REASON_AT)
        self.warning = np.frombuffer(self.map, TEXT, 1, WARNING_AT)


class TelemetryWriter:
    """The loop's side. ``publish`` costs a few microseconds, never waits and never fails."""

    def __init__(
        self, name: str = registry.DEFAULT_NAME, *, model: str = "", rate: float = 0.0, slots: int = SLOTS
    ) -> None:
        self.name, self.model, self.rate, self.slots = name, model, rate, slots
        self.path = registry.shared_file(name, "telemetry")
        size = RING_AT + slots * SLOT.itemsize
        self._descriptor = _create(self.path, name, size)
        self._memory = memory = Memory(self._descriptor, size, writable=True)
        memory.bytes[RING_AT:] = bytes(size - RING_AT)  # every page is touched before the loop starts
        self._number = memory.ring["number"]
        self._checksum = memory.ring["checksum"]
        self._head = 0
        self._params_count = 0
        self._last_remark = ""
        self._controller: Controller | None = None
        self._loop: Record | None = None

    def publish(self, controller: Controller, loop: Record) -> None:
        if controller is not self._controller or loop is not self._loop:
            self._bind(controller, loop)
        if self._revision[0] != self._last_revision or self._sequence[0] == 1:
            self._publish_params(controller)
        remark = getattr(controller, "remark", "")
        if self._mode[0] != self._last_mode or self._status[0] != self._last_status or remark is not self._last_remark:
            self._last_remark = remark
            self._publish_reason(controller)
        head = self._head + 1
        slot = head % self.slots
        begin = RING_AT + slot * SLOT.itemsize + _RECORD_AT
        target = self._memory.bytes
        self._number[slot] = 0
        for part, first, last in self._parts:
            target[begin + first : begin + last] = part
        self._checksum[slot] = zlib.crc32(target[begin : begin + TELEMETRY.itemsize], head & 0xFFFFFFFF)
        self._number[slot] = head
        self._memory.head[0] = head
        self._head = head

    def close(self) -> None:
        """Tell the readers that nothing follows, and remove the name; readers keep what they have mapped."""
        if self._descriptor < 0:
            return
        self._memory.closed[0] = 1
        self.path.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = -1

    def __enter__(self) -> "TelemetryWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _bind(self, controller: Controller, loop: Record) -> None:
        self._controller, self._loop = controller, loop
        self._parts = parts_of(controller, loop)
        self._revision, self._sequence = scalar(controller.params, "revision"), scalar(loop, "sequence")
        self._mode, self._status = scalar(controller.command, "mode"), scalar(controller.command, "status")
        self._last_revision = self._last_mode = self._last_status = -1  # none yet

    def _publish_params(self, controller: Controller) -> None:
        memory = self._memory
        self._params_count += 1
        slot = self._params_count % PARAMS_SLOTS
        raw = bytes(record_bytes(controller.params))
        memory.params["number"][slot] = 0
        memory.params["record"][slot] = whole(controller.params)[0]
        memory.params["checksum"][slot] = zlib.crc32(raw, self._params_count)
        memory.params["number"][slot] = self._params_count
        self._last_revision = int(self._revision[0])
        about = f'{{"model": {json.dumps(self.model)}, "rate": {self.rate}, "parameters": {as_json(controller)}}}'
        _write_text(memory, memory.about, ABOUT_AT, ABOUT_BYTES, about)

    def _publish_reason(self, controller: Controller) -> None:
        self._last_mode, self._last_status = int(self._mode[0]), int(self._status[0])
        _write_text(self._memory, self._memory.reason, REASON_AT, REASON_BYTES, getattr(controller, "reason", ""))


def warn(name: str, text: str) -> None:
    """What people should know besides the mode and its reason, said by another process than the controller's: whoever
    watches it shows it; an empty text takes it back. Nothing happens if it does not run any more, or is one of
    another version, whose memory is laid out in another way."""
    try:
        descriptor = os.open(registry.shared_file(name, "telemetry"), os.O_RDWR)
    except OSError:
        return
    try:
        size = os.fstat(descriptor).st_size
        if size < RING_AT + SLOT.itemsize:
            return
        memory = Memory(descriptor, size, writable=True)
    finally:
        os.close(descriptor)
    if int(memory.header["layout"][0]) == LAYOUT:
        _write_text(memory, memory.warning, WARNING_AT, WARNING_BYTES, text)


def _write_text(memory: Memory, cell: Any, begin: int, room: int, text: str) -> None:
    raw = text.encode()[:room]
    number = int(cell["number"][0]) + 1
    begin += TEXT.itemsize
    cell["number"][0] = 0
    memory.bytes[begin : begin + len(raw)] = raw
    cell["length"][0] = len(raw)
    cell["checksum"][0] = zlib.crc32(raw, number & 0xFFFFFFFF)
    cell["number"][0] = number


def parts_of(controller: Controller, loop: Record) -> list[tuple[memoryview, int, int]]:
    """The live bytes of what a TELEMETRY is made of, and where in it they begin and end."""
    records = {"loop": loop, "sample": controller.sample, "command": controller.command, "state": controller.state}
    parts = []
    for name, record in records.items():
        dtype, offset = TELEMETRY.fields[name][:2]  # type: ignore[index]
        parts.append((record_bytes(record), offset, offset + dtype.itemsize))
    return parts


def as_json(controller: Controller) -> str:
    """The parameters as JSON (which is YAML too); those of a loop of somebody's own may be unknown."""
    parameters = getattr(controller, "parameters", {})
    dump = getattr(parameters, "model_dump_json", None)
    return dump() if dump is not None else json.dumps(parameters)


def _create(path: Path, name: str, size: int) -> int:
    """A new file of our own that appears under its name when it is complete. One left behind by a killed process is
    replaced, one of a running process is not."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    unfinished.unlink(missing_ok=True)
    descriptor = os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        registry.own(descriptor)
        os.posix_fallocate(descriptor, 0, size)  # a full memory file system is an error now, not a crash later
        slots = (size - RING_AT) // SLOT.itemsize
        os.pwrite(descriptor, np.array([(LAYOUT, slots, os.getpid(), 0, 0)], HEADER).tobytes(), 0)
        _take_name(unfinished, path, name)
    except BaseException as error:
        os.close(descriptor)
        if isinstance(error, OSError):
            raise UrAdmittanceError(f"telemetry memory {path} cannot be made: {error.strerror}") from None
        raise
    finally:
        unfinished.unlink(missing_ok=True)
    return descriptor


def _take_name(unfinished: Path, path: Path, name: str) -> None:
    for _ in range(3):  # others may clean up, or start, at the same moment
        try:
            os.link(unfinished, path)
            return
        except FileExistsError:
            pass
        try:
            old = os.open(path, os.O_RDWR)
        except FileNotFoundError:
            continue
        owned = registry.is_owned(old)
        os.close(old)
        if owned:
            break
        path.unlink(missing_ok=True)
    raise UrAdmittanceError(registry.already_running(name))
