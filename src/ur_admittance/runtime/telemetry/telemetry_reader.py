"""The other processes' side of the telemetry ring (telemetry.py): look, never touch."""

import json
import os
import zlib
from typing import Any

import numpy as np

from ur_admittance.errors import UrAdmittanceError
from ur_admittance.runtime import registry
from ur_admittance.runtime.telemetry.telemetry_writer import (
    ABOUT_AT,
    ABOUT_BYTES,
    LAYOUT,
    REASON_AT,
    RING_AT,
    SLOT,
    TELEMETRY,
    TEXT,
    WARNING_AT,
    Memory,
)


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
        text = self._text(self._memory.about, ABOUT_AT)
        try:
            return json.loads(text) if text else {}
        except json.JSONDecodeError:
            return {}

    def reason(self) -> str:
        """The controller's sentence about its mode."""
        return self._text(self._memory.reason, REASON_AT)

    def warning(self) -> str:
        """What people should know besides; empty: nothing."""
        return self._text(self._memory.warning, WARNING_AT)

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

    def _text(self, cell: Any, begin: int) -> str:
        begin += TEXT.itemsize
        for _ in range(8):
            number, length, checksum = (int(cell[field][0]) for field in ("number", "length", "checksum"))
            raw = bytes(self._memory.bytes[begin : begin + max(0, min(length, ABOUT_BYTES))])
            if number and zlib.crc32(raw, number & 0xFFFFFFFF) == checksum:
                return raw.decode(errors="replace")
        return ""
