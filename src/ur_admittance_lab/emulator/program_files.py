"""The robot's disk: one directory with the programs that can be loaded, where the log is saved as well.

PolyScope saves ``x.urp`` together with ``x.script``, the URScript that the controller runs: that one is taken. The tree
of nodes inside ``x.urp`` is not understood.
"""

import json
from collections import deque
from pathlib import Path
from typing import Any, NamedTuple

LOG_LINES = 10_000


class Loaded(NamedTuple):
    name: str
    text: str


class Files:
    def __init__(self, directory: Path | None) -> None:
        self.directory = directory
        self.loaded: Loaded | None = None
        self.uploaded: dict[str, bytes] = {}  # through the Robot API, by name
        self.log: deque[str] = deque(maxlen=LOG_LINES)

    def load(self, path: str) -> bool:
        """``/anywhere/x.urp`` is x.urp in the directory; False: there is none."""
        name = path.rpartition("/")[2]
        if self.directory is None or not name.endswith(".urp"):
            return False
        try:
            text = (self.directory / name).with_suffix(".script").read_text(encoding="utf-8")
        except (OSError, ValueError):
            return False
        self.loaded = Loaded(name, text)
        return True

    def save(self, kind: str, state: dict[str, Any]) -> str | None:
        """The log and the present state as ``kind.txt``, over the last one; None: it could not be written."""
        if self.directory is None:
            return None
        file = self.directory / f"{kind}.txt"
        try:
            file.write_text("\n".join([*self.log, json.dumps(state), ""]), encoding="utf-8")
        except OSError:
            return None
        return file.name
