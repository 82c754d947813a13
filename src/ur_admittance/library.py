"""The shared library with all kernels: where it is, and how it is made where there is none.

A wheel brings it along. Otherwise the first start on a computer makes it (python -m ur_admittance.compiler, in a
process of its own) and keeps it under the digest of the kernels: after any change in their text it is made anew.
Of several programs that start at the same time one makes it and the others wait.
"""

import atexit
import contextlib
import ctypes
import fcntl
import hashlib
import math
import os
import platform
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from ur_admittance.errors import LibraryError

PLAIN = os.environ.get("UR_ADMITTANCE_PLAIN", "0") not in ("", "0")  # kernels as plain Python

PACKAGE = Path(__file__).parent
NAME = "libur_admittance.so"
SHIPPED = PACKAGE / "native" / NAME  # in a wheel
KERNELS = ("core/**/*.py", "**/kernels.py", "**/kernels/*.py", "runtime/braking.py", "analysis/compliance.py")
SOURCES = (*KERNELS, *(f"compiler/*.{kind}" for kind in ("py", "c", "h", "cmake")))

SENTENCE_S = 5.0  # [s] between two sentences
LOOK_S = 0.1  # [s] between two looks whether another program is done
WAITING = "another program is compiling the controller: waiting for it"


@dataclass(frozen=True)
class Progress:
    share: float  # of the work, 0..1
    left: float  # [s]

    @property
    def how_far(self) -> str:
        return f"{100.0 * self.share:.0f} %, about {self.left:.0f} s left"

    def __str__(self) -> str:
        return f"compiling the controller once for this computer: {self.how_far}"


Report = Callable[[Progress | str], None]  # how far it is, or a sentence. What it raises ends the compiling


def in_words(say: Callable[[str], None]) -> Report:
    """Says how far it is, every few seconds, and sentences at once."""
    last = -math.inf

    def report(progress: Progress | str) -> None:
        nonlocal last
        if isinstance(progress, str) or time.monotonic() - last >= SENTENCE_S:
            last = time.monotonic()
            say(str(progress))

    return report


def to_stderr(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201


@cache
def digest() -> str:
    """Of everything that decides what the library computes."""
    files = {file for pattern in SOURCES for file in PACKAGE.glob(pattern) if file.name[0] != "."}
    texts = [file.relative_to(PACKAGE).as_posix().encode() + file.read_bytes() for file in sorted(files)]
    return hashlib.sha256(b"".join(texts)).hexdigest()[:16]


@cache
def folder() -> Path:
    """Where what is compiled here is kept: beside the kernels, or in the user's own cache where the user cannot write
    there, or until the process ends if there is no home either. Code is loaded from it: outside the package never from
    a folder that is another user's or that others can write to. Several kinds of computers may share what is above."""
    users = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "ur_admittance"  # noqa: PTH111
    beside = PACKAGE / "core" / "__pycache__"
    own = os.environ.get("UR_ADMITTANCE_CACHE")
    for root in filter(Path.is_absolute, ((Path(own).absolute(),) if own else (beside, users))):
        path = root / f"kernels_{digest()}_{platform.machine()}_{_c_library()}"
        with contextlib.suppress(OSError):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = path.stat()
            ours = found.st_uid == os.geteuid() and not found.st_mode & 0o022
            of_package = root == beside and found.st_uid in (os.geteuid(), PACKAGE.stat().st_uid)
            if (ours or of_package) and os.access(path, os.W_OK | os.X_OK):
                return path
    temporary = tempfile.mkdtemp(prefix="ur_admittance_")
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    return Path(temporary)


def _c_library() -> str:
    with contextlib.suppress(OSError, ValueError):
        return (os.confstr("CS_GNU_LIBC_VERSION") or "libc").replace(" ", "")
    return "libc"


@cache
def load() -> ctypes.PyDLL:
    """The library; made now if need be, with progress on stderr. A call keeps Python's lock: the tick takes some
    microseconds, and another thread that gets the lock meanwhile keeps it for milliseconds."""
    found = _shipped()
    if found is None:
        prepare()
        found = _opened(folder() / NAME)
    if found is None:
        raise LibraryError(f"{folder() / NAME}: cannot be loaded (kernels run as plain Python: {PLAIN}).")
    return found


def place() -> Path:
    """Its folder, in which a C program finds its header and CMake's package too."""
    load()
    return folder() if _shipped() is None else SHIPPED.parent


@cache
def _shipped() -> ctypes.PyDLL | None:
    """That of the wheel."""
    return _opened(SHIPPED)


def _opened(file: Path) -> ctypes.PyDLL | None:
    """If it is whole, for this computer, and made of these kernels."""
    with contextlib.suppress(OSError, ValueError):
        if _is_whole(file.read_bytes()):
            found = ctypes.PyDLL(str(file))
            if (ctypes.c_char * (len(digest()) + 1)).in_dll(found, "ur_digest").value == digest().encode():
                return found
    return None


def _is_whole(content: bytes) -> bool:
    """An ELF file of 64 bits that has all its headers name: the loader does not look, and dies of one that was cut."""
    if len(content) < 64 or content[:6] != b"\x7fELF\x02\x01":
        return False
    tables = struct.unpack_from("<QQ", content, 32), struct.unpack_from("<HHHH", content, 54)
    (segments, sections), (segment_size, count, section_size, section_count) = tables
    if segments + segment_size * count > len(content) or sections + section_size * section_count > len(content):
        return False
    places = [struct.unpack_from("<QQQQ", content, segments + segment_size * i + 8) for i in range(count)]
    return all(offset + size <= len(content) for offset, _, _, size in places)


def prepare(report: Report | None = None) -> None:
    """Make the library if this computer has none. LibraryError: it cannot be made, and why."""
    if PLAIN or _shipped() is not None or _opened(folder() / NAME) is not None:
        return
    report = report or in_words(to_stderr)
    lacking = [need for need in ("numba", "llvmlite") if find_spec(need) is None]
    if lacking:
        kind = f"for {platform.system()} {platform.machine()}"
        brings = f"one that is not {kind}, or not of its kernels" if SHIPPED.exists() else f"none {kind}"
        raise LibraryError(
            f"a compiled controller is needed: this package brings {brings}, and Numba, which makes it, is not "
            "installed: pip install numba"
        )
    with (folder() / "compiling.lock").open("w") as lock:
        try:
            if _wait_for(lock, report):
                _make(folder() / NAME, report)
        finally:
            fcntl.flock(lock, fcntl.LOCK_UN)  # a process that was forked meanwhile has the lock, too


def _wait_for(lock: IO[str], report: Report) -> bool:
    """Until no other program compiles. False: there is a library now."""
    last = -math.inf
    while _opened(folder() / NAME) is None:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return _opened(folder() / NAME) is None
        except BlockingIOError:
            if time.monotonic() - last >= SENTENCE_S:
                last = time.monotonic()
                report(WAITING)
            time.sleep(LOOK_S)
    return False


def _make(file: Path, report: Report) -> None:
    began = time.monotonic()
    report(Progress(0.0, 60.0))
    with tempfile.TemporaryFile("w+") as said, _compiler(file, said) as process:
        assert process.stdout is not None
        for line in process.stdout:
            with contextlib.suppress(ValueError):
                share = float(line)
                elapsed = time.monotonic() - began
                report(Progress(share, elapsed * (1.0 - share) / share if share > 0.05 else 60.0))
        process.wait()
        said.seek(0)
        problem = said.read()
    if process.returncode != 0 or not file.exists():
        last = problem.strip().splitlines()[-1:] or [f"it ended with exit code {process.returncode}"]
        raise LibraryError(f"the controller could not be compiled: {last[0]}")


def command(file: Path, *options: str) -> list[str]:
    """Of a process that compiles. It imports what this one would: pip's environment for builds takes a path away that
    is also that of an installation, even one of PYTHONPATH."""
    paths = [str(Path(path).absolute()) for path in sys.path]
    run = "runpy.run_module('ur_admittance.compiler', run_name='__main__')"
    return [sys.executable, "-c", f"import runpy, sys; sys.path[:] = {paths}; {run}", str(file.absolute()), *options]


@contextlib.contextmanager
def _compiler(file: Path, said: IO[str]) -> Iterator["subprocess.Popen[str]"]:
    """A process that compiles; it does not outlive the block."""
    process = subprocess.Popen(
        command(file),
        cwd=file.parent,  # Python looks first where it is started
        stdout=subprocess.PIPE,
        stderr=said,
        text=True,
        start_new_session=True,  # Ctrl-C comes to this process, which ends that one
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()
