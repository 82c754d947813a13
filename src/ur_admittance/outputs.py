"""Files to write, checked before the work: one that cannot be written is refused at once, and what is there already is
never overwritten unless somebody says so. A recording is not even then."""

import os
from pathlib import Path

PICTURES = (".png", ".svg", ".pdf")
PARAMETERS = (".yaml", ".yml")
RECORDINGS = (".mcap",)


def refusal(path: Path, endings: tuple[str, ...] = (), overwrite: bool | None = None) -> str:
    """Why this file cannot or must not be written; empty: it can. No endings: any will do; overwrite: what was said
    about a file that exists, None: it is never replaced. A device may be written to."""
    if endings and path.suffix.lower() not in endings:
        return f"{path}: must end with {', '.join(endings)}"
    try:
        if path.is_dir():
            return f"{path}: is a folder, not a file"
        if not path.parent.is_dir():
            return f"{path}: the folder {path.parent} does not exist"
        if path.is_file() and not overwrite:
            way_out = "choose another file" if overwrite is None else "choose another file, or add --overwrite"
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
