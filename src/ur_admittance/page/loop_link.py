"""The page's link to the control loop: look at its telemetry, post messages to its mailbox. The loop never waits."""

import contextlib
import math
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ur_admittance.errors import UrAdmittanceError
from ur_admittance.params import Parameters
from ur_admittance.runtime.mailbox import Answer, Code, send
from ur_admittance.runtime.telemetry import TelemetryReader

OnAnswer = Callable[[Answer], None]

STALE_S = 1.5  # a loop that writes nothing for so long is dead or stuck, whatever its last words were
LOOK_AGAIN_S = 0.5  # for a controller that is not there
SET_EVERY_S = 0.1  # a slider that is being dragged: validating costs the loop 0.5 ms each time
ANSWER_S = 5.0  # a reset on a real arm connects again


@dataclass
class Seen:
    """One look at the loop."""

    record: np.void  # TELEMETRY, the newest
    worst_period: float  # since the last look [s]
    worst_latency: float  # [s]
    reason: str
    warning: str  # what people should know besides, such as a recording that has ended
    model: str
    parameters: Parameters


class LoopLink:
    def __init__(self, name: str) -> None:
        self.name = name
        self._reader: TelemetryReader | None = None
        self._looked = 0.0
        self._fresh = -math.inf  # when the last new record was seen
        self._revision = -1
        self._about: tuple[str, Parameters] | None = None
        self._jobs: queue.Queue[Callable[[], None] | None] = queue.Queue()  # done one after the other
        self._lock = threading.Lock()
        self._changes: dict[str, Any] = {}  # that wait to be sent
        self._changed: OnAnswer = lambda answer: None  # gets the answer
        self._set_at = 0.0
        self._pull: dict[str, Any] | None = None
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    # looking

    @property
    def alive(self) -> bool:
        """Whether the page sees the loop at work; may be asked in any thread."""
        return time.monotonic() - self._fresh < STALE_S

    def look(self) -> Seen | None:
        """The newest state, None while no controller runs."""
        reader = self._reader or self._open()
        if reader is None:
            return None
        if reader.ended:
            self._close()
            return None
        records = reader.drain(limit=None)
        if len(records) > 0:
            self._fresh = time.monotonic()
        elif not self.alive or (latest := reader.latest()) is None:
            return None
        else:
            records = np.array([latest])
        record: np.void = records[-1]
        revision = int(record["loop"]["params_revision"])
        if revision != self._revision or self._about is None:
            self._about = self._read_about(reader)
            self._revision = revision
        if self._about is None:
            return None
        loop = records["loop"]
        period, latency = float(loop["period"].max()), float(loop["latency"].max())
        return Seen(record, period, latency, reader.reason(), reader.warning(), *self._about)

    def _open(self) -> TelemetryReader | None:
        now = time.monotonic()
        if now - self._looked < LOOK_AGAIN_S:
            return None
        self._looked = now
        try:
            reader = TelemetryReader(self.name)
        except UrAdmittanceError:
            return None
        if reader.ended:
            reader.close()
            return None
        reader.position = max(0, reader.head - 1)  # the past is not shown
        self._reader, self._revision, self._about = reader, -1, None
        return reader

    def _close(self) -> None:
        if self._reader is not None:
            self._reader.close()
        self._reader, self._fresh = None, -math.inf

    def _read_about(self, reader: TelemetryReader) -> tuple[str, Parameters] | None:
        about = reader.about()
        if not about:
            return None
        try:
            return about["model"], Parameters(**about["parameters"])
        except (UrAdmittanceError, KeyError, TypeError):
            return None

    # posting

    def post(self, message: dict[str, Any], on_answer: OnAnswer = lambda answer: None) -> None:
        """Send a message in the background; `on_answer` gets the answer."""
        self._jobs.put(lambda: on_answer(self.ask(message)))

    def change(self, values: dict[str, Any], on_answer: OnAnswer = lambda answer: None) -> None:
        """Send parameter changes; those of a slider in motion are gathered."""
        with self._lock:
            waiting, self._changed = bool(self._changes), on_answer
            self._changes = self._changes | values
        if not waiting:
            self._jobs.put(self._send_changes)

    def pull(self, value: dict[str, Any]) -> None:
        """Where the hand wants the tool; only the newest matters."""
        with self._lock:
            waiting, self._pull = self._pull is not None, value
        if not waiting:
            self._jobs.put(self._send_pull)

    def ask(self, message: dict[str, Any]) -> Answer:
        """Send now and wait for the answer."""
        try:
            return send(message, self.name, ANSWER_S)
        except (UrAdmittanceError, OSError, ValueError) as error:
            return Answer(False, str(error), Code.REFUSED)

    def close(self) -> None:
        self._jobs.put(None)
        self._thread.join(ANSWER_S)
        self._close()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            with contextlib.suppress(Exception):  # a page that cannot show an answer must go on posting
                job()

    def _send_changes(self) -> None:
        time.sleep(max(0.0, self._set_at + SET_EVERY_S - time.monotonic()))
        with self._lock:
            changes, self._changes, on_answer = self._changes, {}, self._changed
        if not changes:
            return
        self._set_at = time.monotonic()
        on_answer(self.ask({"set": changes}))

    def _send_pull(self) -> None:
        with self._lock:
            pull, self._pull = self._pull, None
        self.ask({"hand": pull})
