"""Reading a recording back, also one that was cut off or damaged, and saying what is missing."""

import json
import mmap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance import given
from ur_admittance.errors import LogError
from ur_admittance.recording.log_writer import METADATA, RECORDS
from ur_admittance.recording.salvage import Salvaged, salvage

TOPICS = {f"/exact/{kind}": kind for kind in RECORDS}
SHOWN = 5  # gaps that are told one by one
_PREFIX = 16  # CDR header, empty list of dimensions, data offset, length: 4 bytes each (std_msgs/UInt8MultiArray)


@dataclass(frozen=True)
class Gap:
    """Between the last cycle before it and the first one after it [s]."""

    start: float
    end: float
    cycles: int


@dataclass
class Log:
    """A recording in memory. ticks: array of TICK; states and params: what is known at which cycle."""

    path: Path
    about: dict[str, Any] = field(default_factory=dict)  # model, rate, parameters at the start
    dtypes: dict[str, np.dtype[Any]] = field(default_factory=dict)
    ticks: NDArray[Any] = field(default_factory=lambda: np.zeros(0, RECORDS["tick"]))
    states: dict[int, np.void] = field(default_factory=dict)  # after the tick at this index
    params: dict[int, np.void] = field(default_factory=dict)  # in force from the tick at this index on
    complete: bool = True  # False: the file was cut off, or its end is damaged: what came last is not known
    span: tuple[int, int] | None = None  # first and last stamp [ns] that were written; None: not known

    @property
    def seconds(self) -> NDArray[np.float64]:
        """Time of each tick since the first that was recorded [s], whether that one can be read or not."""
        stamps = self.ticks["loop"]["time_ns"]
        return (stamps - (self.span or stamps)[0]) * 1e-9 if len(stamps) else np.zeros(0)

    @property
    def missing(self) -> list[Gap]:
        """Cycles that ran but cannot be read: they are damaged, or were never recorded."""
        seconds, sequence = self.seconds, self.ticks["loop"]["sequence"]
        steps = np.diff(sequence) - 1
        gaps = [Gap(float(seconds[i]), float(seconds[i + 1]), int(steps[i])) for i in np.flatnonzero(steps > 0)]
        if self.span is None:
            return gaps
        rate, end = float(self.about.get("rate") or 500.0), (self.span[1] - self.span[0]) * 1e-9
        if len(seconds) == 0:
            return [Gap(0.0, end, round(rate * end) + 1)]
        first, last = float(seconds[0]), float(seconds[-1])
        before = [Gap(0.0, first, round(rate * first))] if first > 0.0 else []
        after = [Gap(last, end, round(rate * (end - last)))] if end > last else []
        return [*before, *gaps, *after]

    @property
    def lost(self) -> int:
        """Number of the missing cycles."""
        return sum(gap.cycles for gap in self.missing)

    @property
    def lacks(self) -> str:
        """What is missing, in a sentence; empty: nothing."""
        gaps = self.missing
        words = [f"{gap.end - gap.start:.3f} s from {gap.start:.3f} to {gap.end:.3f} s" for gap in gaps[:SHOWN]]
        words += [f"and {len(gaps) - SHOWN} later gaps"] if len(gaps) > SHOWN else []
        told = f"{self.lost} cycles are missing: {', '.join(words)}." if gaps else ""
        if self.complete:
            return told
        read = f"after {self.seconds[-1]:.3f} s" if len(self.ticks) else "at all"
        return f"{told} The file was cut off, or its end is damaged: nothing is known {read}.".strip()

    def check_layout(self) -> None:
        """Exact recomputation needs the very same records."""
        for kind, dtype in RECORDS.items():
            if self.dtypes.get(kind) != dtype:
                raise LogError(
                    f"{self.path} was recorded by another version ({kind} record differs): it cannot be replayed"
                )


def read_log(path: str | Path) -> Log:
    """Read a recording. Of one that was cut off or damaged, what is as it was written (see `Log.missing`); anything
    else is a LogError."""
    path = given.file("recording", path, LogError)
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            found = salvage(data, TOPICS, METADATA)
    except FileNotFoundError:
        raise LogError(f"{path}: there is no such file") from None
    except OSError as error:
        raise LogError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError:  # an empty file, or a name that cannot be one
        found = Salvaged()
    if not found.descriptions:
        raise LogError(
            f"{path} is not a recording of this program, or it was cut off or damaged before the first record"
        )
    description = found.descriptions[0]
    log = Log(path, json.loads(description["about"]))
    log.dtypes = {kind: _dtype(json.loads(description[kind])) for kind in RECORDS}
    log.complete = found.summary is not None
    if found.summary is not None and found.summary.message_count:
        log.span = (found.summary.message_start_time, found.summary.message_end_time)
    _fill(log, found)
    return log


def _fill(log: Log, found: Salvaged) -> None:
    ticks: list[bytes] = []
    last = -1  # sequence number of the tick before
    for topic, message in found.messages:
        kind, data = TOPICS[topic], message.data[_PREFIX:]
        if kind == "tick":
            ticks.append(data)
            last = message.sequence
        elif kind == "params":
            log.params[len(ticks)] = np.frombuffer(data, log.dtypes[kind])[0]
        elif message.sequence == last:  # otherwise its tick is lost
            log.states[len(ticks) - 1] = np.frombuffer(data, log.dtypes[kind])[0]
    log.ticks = np.frombuffer(b"".join(ticks), log.dtypes["tick"])


def _dtype(description: list[Any]) -> np.dtype[Any]:
    """The dtype of a JSON-encoded ``dtype.descr``."""

    def field_of(entry: list[Any]) -> tuple[Any, ...]:
        name, kind, *shape = entry
        kind = [field_of(part) for part in kind] if isinstance(kind, list) else kind
        return (name, kind, tuple(shape[0])) if shape else (name, kind)

    return np.dtype([field_of(entry) for entry in description])
