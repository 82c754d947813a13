"""The tick in C++ (kdl_tick.cpp): built once into the user's cache, then a process that is sent requests."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np

from benchmarks.tick.workload import PERIOD, Array, Missing, Samples, Workload
from ur_admittance.errors import UrAdmittanceError

SOURCE = Path(__file__).with_name("kdl_tick.cpp")
HEADER = SOURCE.with_name("quadratic.hpp")
FLAGS = ("-std=c++20", "-O3", "-DNDEBUG", "-pthread")
DEBIAN_LIBRARIES = ("-I/usr/include/eigen3", "-lorocos-kdl")
BUILD_SECONDS = 300.0
NOT_BUILT = "not built: install liborocos-kdl-dev libeigen3-dev g++"


def build() -> Path:
    """Path of the program; compiled when a source, the flags or the compiler have changed."""
    compiler = shutil.which("g++")
    if compiler is None:
        raise Missing(NOT_BUILT)
    source, libraries = "".join(file.read_text(encoding="utf-8") for file in (SOURCE, HEADER)), _libraries()
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False).stdout
    key = hashlib.sha256("\n".join((source, compiler, *FLAGS, *libraries, version)).encode()).hexdigest()[:16]
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ur_admittance"
    program = folder / f"kdl_tick-{key}"
    if program.exists():
        return program
    folder.mkdir(parents=True, exist_ok=True)
    fresh = program.with_suffix(f".{os.getpid()}")  # renamed when complete: two builds at once do not meet
    command = [compiler, *FLAGS, str(SOURCE), *libraries, "-o", str(fresh)]
    try:
        built = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise Missing(f"not built: g++ took more than {BUILD_SECONDS:g} s") from None
    if built.returncode != 0:
        missing = "kdl/" in built.stderr or "Eigen/" in built.stderr or "orocos" in built.stderr
        first = next((line for line in built.stderr.splitlines() if "error" in line), built.stderr[:200])
        raise Missing(NOT_BUILT if missing and "No such file" in built.stderr else f"not built: {first}")
    fresh.rename(program)
    return program


def _libraries() -> tuple[str, ...]:
    """pkg-config also finds a KDL that is not Debian's; without it Debian's places are assumed."""
    tool = shutil.which("pkg-config")
    if tool is None:
        return DEBIAN_LIBRARIES
    found = subprocess.run(
        [tool, "--cflags", "--libs", "eigen3", "orocos-kdl"], capture_output=True, text=True, check=False
    )
    return tuple(found.stdout.split()) if found.returncode == 0 else DEBIAN_LIBRARIES


class KdlProcess:
    """Durations are measured by the program itself: it is not charged for talking to Python."""

    def __init__(self, load: Workload | Samples) -> None:
        self._process = subprocess.Popen(
            [build()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        p = load.params[0]
        self._send(*(_line(name, p[name]) for name in p.dtype.names or () if p.dtype[name].names is None))
        self._send(*(_line(name, value) for name, value in load.constants.items()))
        if isinstance(load, Workload):
            self._send(_line("q", load.home), _line("wrench", load.pushes))
        else:
            self._send(_line("samples", np.hstack([load.q, load.qd, load.wrench, load.reference_twist])))
        self._send(_line("dt", PERIOD), "begin")

    def ticks(self, count: int) -> Array:
        """Durations of single ticks [ns]."""
        return self._ask(f"time {count}")

    def batches(self, count: int, controllers: int, threads: int) -> Array:
        """Durations of ticks of all controllers [ns]."""
        return self._ask(f"batch {count} {controllers} {threads}")

    def replay(self) -> Array:
        """Commands for all samples (n, 18): q, qd, twist."""
        return self._ask("replay").reshape(-1, 18)

    def _ask(self, request: str) -> Array:
        self._send(request)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.endswith("\n"):  # it stopped, perhaps in the middle
            assert self._process.stderr is not None
            raise UrAdmittanceError(f"bench: {self._process.stderr.read().strip() or 'the C++ tick ended early'}.")
        return np.array(line.split(), dtype=float)

    def _send(self, *lines: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("\n".join(lines) + "\n")
        self._process.stdin.flush()

    def close(self) -> None:
        self._process.communicate()  # end of input ends the program

    def __enter__(self) -> "KdlProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _line(name: str, values: object) -> str:
    return f"{name} {' '.join(repr(float(value)) for value in np.ravel(np.asarray(values)))}"
