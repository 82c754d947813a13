"""Files to write, checked before the work: one that cannot be written is refused at once, and what is there already is
never overwritten unless somebody says so. A recording is not even then. What is written appears when it is complete."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

PICTURES = (".png", ".svg", ".pdf")
PARAMETERS = (".yaml", ".yml")
RECORDINGS = (".mcap",)
TABLES = (".csv",)


def refusal(
    path: Path, endings: tuple[str, ...] = (), overwrite: bool | None = None, consent: str = "add --overwrite"
) -> str:
    """Why this file cannot or must not be written; empty: it can. No endings: any will do; overwrite: what was said
    about a file that exists, None: it is never replaced; consent: how to say it. A device may be written to."""
    if endings and path.suffix.lower() not in endings:
        return f"{path}: must end with {', '.join(endings)}"
    try:
        if path.is_dir():
            return f"{path}: is a folder, not a file"
        if not path.parent.is_dir():
            return f"{path}: the folder {path.parent} does not exist"
        if path.is_file() and not overwrite:
            way_out = "choose another file" if overwrite is None else f"choose another file, or {consent}"
            return f"{path} exists already: {way_out}; nothing was overwritten"
        if path.is_file():
            os.close(os.open(path, os.O_WRONLY))
        elif not path.exists():
            # Permissions alone do not tell: the disk, the name and kinds of file systems have a say, too.
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
            path.unlink()
    except (OSError, ValueError) as error:
        return f"{path}: cannot be written ({getattr(error, 'strerror', None) or error})"
    return ""


@contextmanager
def at_once(path: Path) -> Iterator[TextIO]:
    """A text that gets its name when it is complete: nobody reads half a file, and a full disk leaves the old one."""
    if path.exists() and not path.is_file():  # a device takes what it is given
        with path.open("w", encoding="utf-8") as file:
            yield file
        return
    target = path.resolve()  # of a link: what it points to
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8") as file:
            yield file
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
