"""A simulated NetFT sensor: a thread that answers RDT requests on UDP and can misbehave as real networks do."""

import socket
import threading
import time
from types import TracebackType

from ur_admittance.robots.external_sensors import HEADER, RECORD, REQUEST, STREAM

COUNTS = 1_000_000  # per N and per Nm
WAIT = 0.2  # [s] between looks at requests while nothing is streamed


class NetFtServer:
    """``with NetFtServer() as sensor: NetFt(sensor.host, COUNTS, COUNTS, sensor.port)``; it says ``sensor.wrench``."""

    def __init__(self, host: str = "127.0.0.1", rate: float = 1000.0) -> None:
        self.wrench = [0.0] * 6
        self.status = 0
        self.silent = False  # sends nothing
        self.frozen = False  # sends, but always the same sample
        self.duplicates = 0  # this many records are sent twice
        self.losses = 0  # this many records are left out
        self._period = 1.0 / rate
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((host, 0))
        self._socket.settimeout(WAIT)
        self.host, self.port = self._socket.getsockname()
        self._client: tuple[str, int] | None = None
        self._sequence = self._sample = 0
        self._running = True
        self._thread = threading.Thread(target=self._run, daemon=True)

    def restart(self) -> None:
        """As after a power cycle: sequence numbers begin anew and nobody is subscribed."""
        self._client, self._sequence, self._sample = None, 0, 0

    def __enter__(self) -> "NetFtServer":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running = False
        self._thread.join(5.0)
        self._socket.close()

    def _run(self) -> None:
        deadline = time.monotonic()
        while self._running:
            self._look_for_request(WAIT if self._client is None else max(deadline - time.monotonic(), 1e-4))
            if self._client is not None and time.monotonic() >= deadline:
                self._send()
                deadline = max(deadline + self._period, time.monotonic() - 0.1)

    def _look_for_request(self, wait: float) -> None:
        self._socket.settimeout(wait)
        try:
            data, client = self._socket.recvfrom(64)
        except OSError:
            return
        if len(data) == REQUEST.size:
            header, command, _ = REQUEST.unpack(data)
            if header == HEADER:
                self._client = client if command == STREAM else None

    def _send(self) -> None:
        self._sequence += 1
        self._sample += 0 if self.frozen else 1
        if self.silent or self._client is None:
            return
        if self.losses > 0:
            self.losses -= 1
            return
        counts = [round(value * COUNTS) for value in self.wrench]
        record = RECORD.pack(self._sequence, self._sample, self.status, *counts)
        self._socket.sendto(record, self._client)
        if self.duplicates > 0:
            self.duplicates -= 1
            self._socket.sendto(record, self._client)
