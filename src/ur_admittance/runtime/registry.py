"""Where a running controller can be found: one name, one file per purpose in the shared-memory file system.

Plain memory-mapped files instead of ``multiprocessing.shared_memory``: before Python 3.13 that module lets the resource
tracker of any reader delete the memory of the writer when the reader ends, and a file needs no tracker at all.
"""

import fcntl
import os
import re
import tempfile
from pathlib import Path

from ur_admittance.errors import UrAdmittanceError

MEMORY_FILES = Path("/dev/shm")  # never written to a disk; elsewhere the folder for temporary files must do
DEFAULT_NAME = "main"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")


def shared_file(name: str, purpose: str) -> Path:
    """Path of the file of this controller for a purpose ("telemetry", "mailbox")."""
    if not _NAME.fullmatch(name):
        raise UrAdmittanceError(f"controller name {name!r}: must be 1 to 40 letters, digits, '-' or '_'")
    folder = MEMORY_FILES if MEMORY_FILES.is_dir() else Path(tempfile.gettempdir())
    return folder / f"ur_admittance.{name}.{purpose}"


def running_controllers() -> list[str]:
    """Names of the controllers that run now; what a killed one left behind is removed too."""
    names = []
    for path in sorted(shared_file("x", "telemetry").parent.glob("ur_admittance.*.telemetry")):
        try:
            descriptor = os.open(path, os.O_RDWR)
        except OSError:
            continue
        if is_owned(descriptor):
            names.append(path.name.split(".")[1])
        else:
            path.unlink(missing_ok=True)
        os.close(descriptor)
    return names


def already_running(name: str) -> str:
    return f"a controller named {name!r} is already running; stop it or choose another name"


def check_free(name: str) -> None:
    """UrAdmittanceError: no name, or that of a controller that runs."""
    shared_file(name, "telemetry")
    if name in running_controllers():
        raise UrAdmittanceError(already_running(name))


def take_name(unfinished: Path, path: Path, name: str) -> None:
    """A complete file appears under its path, unless a running process has that already."""
    for _ in range(3):  # others may clean up, or start, at the same moment
        try:
            os.link(unfinished, path)
            return
        except FileExistsError:
            pass
        try:
            old = os.open(path, os.O_RDWR)
        except FileNotFoundError:
            continue
        owned = is_owned(old)
        os.close(old)
        if owned:
            break
        path.unlink(missing_ok=True)
    raise UrAdmittanceError(already_running(name))


def own(descriptor: int) -> bool:
    """Mark an open file as ours until this process ends, however it ends."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def is_owned(descriptor: int) -> bool:
    """Whether the process that made the file still runs."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    return False
