"""What tests want to know about a run: the largest steps and speeds, what was refused, why the robot stopped."""

import json
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Measures:
    """Largest values since the start or the last `clear`."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.largest = {
            "command_step_rad": 0.0,  # between two commands to the position servo, one period apart
            "velocity_step_rad_s": 0.0,  # the same for speeds
            "lead_rad": 0.0,  # between the servo's target and the measured angles
            "message_step_rad": 0.0,  # between the last points of two messages, also of those that were refused
            "message_lead_rad": 0.0,  # between the last point of a message and the measured angles
            "joint_speed_rad_s": 0.0,  # measured
            "tcp_speed_m_s": 0.0,
            "late_s": 0.0,  # of a cycle of the double itself: steps and speeds are then those of a busy computer
        }
        self.refused: Counter[str] = Counter()  # "controller: reason" -> how often
        self.taken: Counter[str] = Counter()  # controller -> messages
        self.dropped: Counter[str] = Counter()  # controller -> messages while it was inactive
        self.stops: list[str] = []
        self._message: Array | None = None
        self._tcp: Array | None = None

    def note(self, name: str, value: float) -> None:
        """NaN counts as infinite."""
        if not value <= self.largest[name]:
            self.largest[name] = value if np.isfinite(value) else float("inf")

    def message(self, q: Array, measured: Array) -> None:
        """A message that wants the arm at q."""
        if q.shape != (6,):
            return
        self.note("message_lead_rad", float(np.abs(q - measured).max()))
        if self._message is not None:
            self.note("message_step_rad", float(np.abs(q - self._message).max()))
        self._message = q.copy()

    def tcp(self, position: Array, period: float) -> None:
        if self._tcp is not None:
            self.note("tcp_speed_m_s", float(np.linalg.norm(position - self._tcp)) / period)
        self._tcp = position.copy()

    def forget(self) -> None:
        """The arm was put somewhere else."""
        self._tcp = self._message = None

    def as_json(self, **more: Any) -> str:
        figures = {name: round(value, 9) if np.isfinite(value) else "inf" for name, value in self.largest.items()}
        counts = {"taken": dict(self.taken), "dropped": dict(self.dropped), "refused": dict(self.refused)}
        return json.dumps({**more, **figures, **counts, "protective_stops": self.stops})
