"""The places in a recording that somebody wants to see: what `why` reports, and the begins of contacts and limits."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.limits.shapes_record import pair_words
from ur_admittance.core.records import Limit, Mode
from ur_admittance.recording.log import Log
from ur_admittance.recording.why import told

QUIET_S = 0.5  # what comes back sooner is still the same contact, or the same limit
CHANGE, FAULT, CONTACT, LIMIT = "change", "fault", "contact", "limit"  # kinds


@dataclass(frozen=True)
class Event:
    seconds: float  # since the first cycle
    kind: str
    words: str
    details: tuple[str, ...] = ()


def events(log: Log) -> list[Event]:
    """In order of time; none of a recording without cycles."""
    if len(log.ticks) == 0:
        return []
    t, command = log.seconds, log.ticks["command"]
    found = []
    for i, (words, *details) in told(log):
        kind = FAULT if command["mode"][i] == Mode.FAULT else CHANGE
        found.append(Event(float(t[i]), kind, words, tuple(details)))
    force = np.linalg.norm(command["wrench_tcp"][:, :3], axis=1)
    for a, b in _spans(t, np.any(command["contact"] != 0, axis=1)):
        words = f"touched for {t[b] - t[a]:.1f} s, with {force[a : b + 1].max():.0f} N at most"
        found.append(Event(float(t[a]), CONTACT, words))
    flags = np.asarray(command["limits"])
    for limit in Limit:
        for a, b in _spans(t, flags & int(limit) != 0):
            words = f"limited for {t[b] - t[a]:.1f} s: {_limit_words(limit, command[a : b + 1])}"
            found.append(Event(float(t[a]), LIMIT, words))
    return sorted(found, key=lambda event: event.seconds)


def _spans(t: NDArray[np.float64], on: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and last cycle of each stretch in which it is on, or off for no more than QUIET_S."""
    cycles = np.flatnonzero(on)
    if len(cycles) == 0:
        return []
    gaps = np.flatnonzero(np.diff(t[cycles]) > QUIET_S)
    begins, ends = cycles[np.append(0, gaps + 1)], cycles[np.append(gaps, len(cycles) - 1)]
    return list(zip(begins.tolist(), ends.tolist(), strict=True))


def _limit_words(limit: Limit, command: NDArray[Any]) -> str:
    """command: while it acted."""
    name = str(limit.name).lower().replace("_", " ")
    if limit != Limit.COLLISION or "near" not in (command.dtype.names or ()):  # the latter: an older recording
        return name
    nearest = command[np.argmin(command["near_distance"])]
    return pair_words(nearest["near"], float(nearest["near_distance"])) or name
