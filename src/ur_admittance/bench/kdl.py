"""The tick in C++ on KDL and Eigen: built once into the user's cache, then a process that is sent rounds."""

import hashlib
import os
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import numpy as np

from ur_admittance.bench.timing import Missing
from ur_admittance.bench.workload import PERIOD, Array, Workload
from ur_admittance.errors import UrAdmittanceError

FLAGS = ("-std=c++17", "-O2", "-DNDEBUG")
DEBIAN_LIBRARIES = ("-I/usr/include/eigen3", "-lorocos-kdl")
BUILD_SECONDS = 300.0
NOT_BUILT = "not built: install liborocos-kdl-dev libeigen3-dev g++"

FIELDS = (  # of the PARAMS record that the program reads
    *("chain_rotation", "chain_position", "joint_lower", "joint_upper", "joint_velocity", "joint_acceleration"),
    *("R_tcp_sensor", "p_tcp_sensor", "tool_weight_base", "tool_com", "sensor_sign", "sensor_bias"),
    *("filter_cutoff_hz", "deadband_force", "deadband_torque", "deadband_axis"),
    *("mass", "damping", "stiffness", "enabled", "desired_wrench", "desired_wrench_rate", "tracking_gain"),
    *("engagement_time", "drift_reset_threshold", "max_velocity", "max_acceleration", "workspace_min", "workspace_max"),
    *("max_force", "max_torque", "max_position_error", "max_orientation_error"),
    *("joint_state_timeout", "wrench_timeout"),
)


def cache_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ur_admittance"


def source() -> str:
    return files("ur_admittance.bench").joinpath("kdl_tick.cpp").read_text(encoding="utf-8")


def build() -> Path:
    """Path of the program; compiled when the source, the flags or the compiler have changed."""
    compiler = shutil.which("g++")
    if compiler is None:
        raise Missing(NOT_BUILT)
    command = [compiler, *FLAGS]
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False).stdout
    key = hashlib.sha256("\n".join((source(), *command, *_libraries(), version)).encode()).hexdigest()[:16]
    program = cache_folder() / f"kdl_tick-{key}"
    if program.exists():
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    fresh = program.with_suffix(f".{os.getpid()}")  # renamed when complete: two builds at once do not meet
    try:
        built = subprocess.run(
            [*command, "-x", "c++", "-", *_libraries(), "-o", str(fresh)],
            input=source(),
            capture_output=True,
            text=True,
            timeout=BUILD_SECONDS,
            check=False,
        )
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


class KdlTick:
    name = "kdl_tick"
    title = "tick in C++ on KDL and Eigen"

    def __init__(self, workload: Workload, calls_per_round: int) -> None:
        self.calls_per_round = calls_per_round
        self._process = subprocess.Popen(
            [build()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        p = workload.params[0]
        self._send(*(_line(name, p[name]) for name in FIELDS))
        self._send(_line("dt", PERIOD), _line("q", workload.home), _line("wrench", workload.pushes), "begin")

    def round(self, count: int) -> Array:
        return self.run(count)[0]

    def run(self, count: int) -> tuple[Array, Array]:
        """Durations [ns], and twist and joint positions at the end (12,)."""
        self._send(str(count))
        return self._numbers(), self._numbers()

    def _send(self, *lines: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("\n".join(lines) + "\n")
        self._process.stdin.flush()

    def _numbers(self) -> Array:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            assert self._process.stderr is not None
            raise UrAdmittanceError(f"bench: {self._process.stderr.read().strip() or 'the C++ tick ended early'}.")
        return np.array(line.split(), dtype=float)

    def close(self) -> None:
        self._process.communicate()  # end of input ends the program


def _line(name: str, values: object) -> str:
    return f"{name} {' '.join(repr(float(value)) for value in np.ravel(np.asarray(values)))}"
