"""The file that a search is kept in: used by one process at a time, and never left with half a generation in it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ur_admittance.errors import ParameterError

BEGUN, COMPLETE = "generation", "complete"  # attributes of the study, before and after the candidates of a generation


@contextmanager
def in_use(journal: Path) -> Iterator[None]:
    """Nobody else goes on with this search meanwhile. The lock ends with the process, however that ends."""
    try:
        file = journal.open("ab")
    except OSError as error:
        raise ParameterError(f"{journal}: cannot be written ({error.strerror}).") from None
    with file:
        try:
            import fcntl
        except ImportError:  # not on Windows
            yield
            return
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ParameterError(f"{journal}: another tune is using it; wait for its end or choose --out.") from None
        yield


def repair(journal: Path) -> None:
    """Take off what a kill left half done: a torn line, and a generation that was not asked to its end. It is asked
    again, and the same candidates come: they depend on the seed and on what was told before."""
    lines = journal.read_bytes().splitlines(keepends=True)
    keep = len(lines) - (1 if lines and not lines[-1].endswith(b"\n") else 0)
    begun = keep
    for i, line in enumerate(lines[:keep]):
        try:
            attributes = json.loads(line).get("user_attr", {})
        except (ValueError, AttributeError):
            raise ParameterError(
                f"{journal}: line {i + 1} is not of a search; start anew with another --out."
            ) from None
        if BEGUN in attributes:
            begun = i
        elif COMPLETE in attributes:
            begun = keep
    if begun < len(lines):
        with journal.open("r+b") as file:
            file.truncate(sum(map(len, lines[:begun])))
