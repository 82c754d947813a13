"""Reading a recording back, also one that was cut off: everything up to the last complete chunk."""

import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from mcap.exceptions import McapError
from mcap.records import Channel, Footer, Message, Metadata
from mcap.stream_reader import StreamReader
from numpy.typing import NDArray

from ur_admittance.errors import LogError
from ur_admittance.recording.writer import METADATA, RECORDS

_PREFIX = 16  # CDR header, empty list of dimensions, data offset, length: 4 bytes each (std_msgs/UInt8MultiArray)


@dataclass
class Log:
    """A recording in memory. ticks: array of TICK; states and params: what is known at which cycle."""

    path: Path
    about: dict[str, Any] = field(default_factory=dict)  # model, rate, parameters at the start
    dtypes: dict[str, np.dtype[Any]] = field(default_factory=dict)
    ticks: NDArray[Any] = field(default_factory=lambda: np.zeros(0, RECORDS["tick"]))
    states: dict[int, np.void] = field(default_factory=dict)  # after the tick at this index
    params: dict[int, np.void] = field(default_factory=dict)  # in force from the tick at this index on
    complete: bool = True  # False: the file was cut off

    @property
    def seconds(self) -> NDArray[np.float64]:
        """Time of each tick since the first [s]."""
        stamps = self.ticks["loop"]["time_ns"]
        return (stamps - stamps[0]) * 1e-9 if len(stamps) else np.zeros(0)

    @property
    def lost(self) -> int:
        """Cycles that ran but are not in the file."""
        sequence = self.ticks["loop"]["sequence"]
        return int(np.maximum(np.diff(sequence) - 1, 0).sum()) if len(sequence) else 0

    def check_layout(self) -> None:
        """Exact recomputation needs the very same records."""
        for kind, dtype in RECORDS.items():
            if self.dtypes.get(kind) != dtype:
                raise LogError(
                    f"{self.path} was recorded by another version ({kind} record differs): it cannot be replayed"
                )


def read_log(path: str | Path) -> Log:
    """Read a recording; a file that was cut off gives what it holds (`complete` is False), anything else a LogError."""
    path = Path(path)
    log = Log(path)
    parts: dict[str, list[tuple[int, bytes]]] = {kind: [] for kind in RECORDS}
    try:
        with path.open("rb") as file:
            log.complete = _read(file, log, parts)
    except FileNotFoundError:
        raise LogError(f"{path}: there is no such file") from None
    except OSError as error:
        raise LogError(f"{path} cannot be read: {error.strerror}") from None
    if not log.dtypes:
        raise LogError(f"{path} is not a recording of this program, or it was cut off before the first record")
    ticks = b"".join(data for _, data in parts["tick"])
    log.ticks = np.frombuffer(ticks, log.dtypes["tick"])
    for index, data in parts["state"]:
        log.states[index - 1] = np.frombuffer(data, log.dtypes["state"])[0]
    for index, data in parts["params"]:
        log.params[index] = np.frombuffer(data, log.dtypes["params"])[0]
    return log


def _read(file: Any, log: Log, parts: dict[str, list[tuple[int, bytes]]]) -> bool:
    """Fill `log` and `parts`; True if the file is complete."""
    kinds: dict[int, str] = {}
    try:
        for entry in StreamReader(file, validate_crcs=True).records:
            if isinstance(entry, Metadata) and entry.name == METADATA:
                log.about = json.loads(entry.metadata["about"])
                log.dtypes = {kind: _dtype(json.loads(entry.metadata[kind])) for kind in RECORDS}
            elif isinstance(entry, Channel) and entry.topic.startswith("/exact/"):
                kinds[entry.id] = entry.topic.removeprefix("/exact/")
            elif isinstance(entry, Message) and kinds.get(entry.channel_id) in parts:
                # the number of ticks before it is the position of a state or parameter record
                parts[kinds[entry.channel_id]].append((len(parts["tick"]), entry.data[_PREFIX:]))
            elif isinstance(entry, Footer):
                return True
    except (McapError, EOFError, struct.error, ValueError, KeyError, IndexError):
        return False
    except Exception as error:  # zstandard and lz4 have errors of their own for a damaged chunk
        if type(error).__module__.split(".")[0] not in ("zstandard", "zstd", "lz4", "builtins"):
            raise
        return False
    return False


def _dtype(description: list[Any]) -> np.dtype[Any]:
    """The dtype of a JSON-encoded ``dtype.descr``."""

    def field_of(entry: list[Any]) -> tuple[Any, ...]:
        name, kind, *shape = entry
        kind = [field_of(part) for part in kind] if isinstance(kind, list) else kind
        return (name, kind, tuple(shape[0])) if shape else (name, kind)

    return np.dtype([field_of(entry) for entry in description])
