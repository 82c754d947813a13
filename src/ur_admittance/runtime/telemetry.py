"""What the loop publishes for other processes: a ring in shared memory with one writer and any number of readers.

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
TEXT_BYTES = {"about": 48 * 1024, "reason": 2 * 1024, "warning": 2 * 1024}

HEADER = np.dtype(
    [("layout", np.int64), ("slots", np.int64), ("process", np.int64), ("head", np.int64), ("closed", np.int64)]
)
SLOT = np.dtype([("number", np.int64), ("checksum", np.int64), ("record", TELEMETRY)], align=True)
PARAMS_SLOT = np.dtype([("number", np.int64), ("checksum", np.int64), ("record", PARAMS)], align=True)
TEXT = np.dtype([("number", np.int64), ("checksum", np.int64), ("length", np.int64)])

PARAMS_AT = 4096
TEXT_AT, _end = {}, PARAMS_AT + PARAMS_SLOTS * PARAMS_SLOT.itemsize
for _name, _room in TEXT_BYTES.items():
    TEXT_AT[_name], _end = _end, _end + TEXT.itemsize + _room
RING_AT = -(-_end // 4096) * 4096
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
        self.texts = {name: np.frombuffer(self.map, TEXT, 1, at) for name, at in TEXT_AT.items()}

    def write(self, name: str, text: str) -> None:
        """One of the texts."""
        cell, begin = self.texts[name], TEXT_AT[name] + TEXT.itemsize
        raw = text.encode()[: TEXT_BYTES[name]]
        number = int(cell["number"][0]) + 1
        cell["number"][0] = 0
        self.bytes[begin : begin + len(raw)] = raw
        cell["length"][0] = len(raw)
        cell["checksum"][0] = zlib.crc32(raw, number & 0xFFFFFFFF)
        cell["number"][0] = number

    def read(self, name: str) -> str:
        cell, begin = self.texts[name], TEXT_AT[name] + TEXT.itemsize
        for _ in range(8):
            number, length, checksum = (int(cell[field][0]) for field in ("number", "length", "checksum"))
            raw = bytes(self.bytes[begin : begin + max(0, min(length, TEXT_BYTES[name]))])
            if number and zlib.crc32(raw, number & 0xFFFFFFFF) == checksum:
                return raw.decode(errors="replace")
        return ""


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
        memory.write("about", about)

    def _publish_reason(self, controller: Controller) -> None:
        self._last_mode, self._last_status = int(self._mode[0]), int(self._status[0])
        self._memory.write("reason", getattr(controller, "reason", ""))


class TelemetryReader:
    """Another process's side: latest record, or everything since the last call, with the number of lost records."""

    def __init__(self, name: str = registry.DEFAULT_NAME) -> None:
        self.name = name
        path = registry.shared_file(name, "telemetry")
        try:
            self._descriptor = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            raise UrAdmittanceError(f"no controller named {name!r} is running (nothing at {path})") from None
        except PermissionError:
            raise UrAdmittanceError(f"controller {name!r} belongs to another user: {path} may not be read") from None
        size = os.fstat(self._descriptor).st_size
        if size < RING_AT + SLOT.itemsize:
            raise UrAdmittanceError(f"{path} is no telemetry memory of a controller")
        self._memory = Memory(self._descriptor, size, writable=False)
        if int(self._memory.header["layout"][0]) != LAYOUT:
            raise UrAdmittanceError(f"controller {name!r} runs another version of this program; restart one of them")
        self.slots = len(self._memory.ring)
        self.position = 0  # number of the last record that drain() has returned or skipped
        self.lost = 0  # records that were overwritten before drain() came
        self._scratch = np.zeros(1, TELEMETRY)

    @property
    def head(self) -> int:
        """Number of the newest record, 0: none yet."""
        return int(self._memory.head[0])

    @property
    def process(self) -> int:
        return int(self._memory.header["process"][0])

    @property
    def ended(self) -> bool:
        """The writer has closed or its process is gone; what it has written can still be read."""
        return bool(self._memory.closed[0]) or not registry.is_owned(self._descriptor)

    def latest(self) -> np.void | None:
        """A copy of the newest record, None before the first."""
        for _ in range(8):  # the writer would have to lap the whole ring during a copy, eight times
            head = self.head
            if head == 0:
                return None
            if self._copy(head, self._scratch):
                return self._scratch.copy()[0]  # type: ignore[no-any-return]
        return None

    def drain(self, limit: int | None = None) -> np.ndarray:
        """Copies of all records since the last call, oldest first, at most `limit`; overwritten ones count as lost."""
        head = self.head
        oldest = max(self.position + 1, head - self.slots + 2)  # the slot after the head may be being written
        self.lost += oldest - self.position - 1
        last = head if limit is None else min(head, oldest + limit - 1)
        records = np.zeros(max(0, last - oldest + 1), TELEMETRY)
        count = 0
        for number in range(oldest, last + 1):
            if self._copy(number, records[count : count + 1]):
                count += 1
            else:
                self.lost += 1
        self.position = max(last, oldest - 1)
        return records[:count]

    def params(self, revision: int) -> np.void | None:
        """The parameter record of a revision, None if it is older than the last 16."""
        newest, found = 0, None
        for slot in self._memory.params:
            record, number = slot["record"].copy(), int(slot["number"])
            intact = zlib.crc32(record.tobytes(), number & 0xFFFFFFFF) == slot["checksum"]
            if number > newest and intact and int(record["revision"]) == revision:
                newest, found = number, record
        return found

    def about(self) -> dict[str, Any]:
        """{"model": name, "rate": Hz, "parameters": {...}}; empty before the first record."""
        text = self._memory.read("about")
        try:
            return json.loads(text) if text else {}
        except json.JSONDecodeError:
            return {}

    def reason(self) -> str:
        """The controller's sentence about its mode."""
        return self._memory.read("reason")

    def warning(self) -> str:
        """What people should know besides; empty: nothing."""
        return self._memory.read("warning")

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> "TelemetryReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _copy(self, number: int, out: np.ndarray) -> bool:
        slot = self._memory.ring[number % self.slots]
        if slot["number"] != number:
            return False
        out[0] = slot["record"]
        checksum = int(slot["checksum"])
        if slot["number"] != number:
            return False
        return zlib.crc32(out.view(np.uint8).data, number & 0xFFFFFFFF) == checksum


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
        memory.write("warning", text)


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
        registry.take_name(unfinished, path, name)
    except BaseException as error:
        os.close(descriptor)
        if isinstance(error, OSError):
            raise UrAdmittanceError(f"telemetry memory {path} cannot be made: {error.strerror}") from None
        raise
    finally:
        unfinished.unlink(missing_ok=True)
    return descriptor
