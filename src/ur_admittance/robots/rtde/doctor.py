"""Examines a robot and this computer without moving anything: each finding with what to do about it."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import numpy as np

from ur_admittance.errors import LogError, RobotError
from ur_admittance.model import robot_model
from ur_admittance.recording.log_writer import check_new
from ur_admittance.robots.operate import LOOP_PRIORITY
from ur_admittance.robots.rtde import tool as rtde_tool
from ur_admittance.robots.rtde.arm_geometry import ALLOWED, geometry
from ur_admittance.robots.rtde.library_link import NOT_ON_X
from ur_admittance.robots.rtde.listen import Listener
from ur_admittance.robots.rtde.pendant import Dashboard
from ur_admittance.robots.rtde.rtde_checks import check_ports, check_ready
from ur_admittance.robots.rtde.settings import RtdeSettings
from ur_admittance.robots.rtde.versions import Version, is_polyscope_x
from ur_admittance.robots.rtde.wire import WireError
from ur_admittance.runtime.realtime import realtime
from ur_admittance.runtime.registry import DEFAULT_NAME, already_running, running_controllers

MARKS = {"good": "ok  ", "note": "note", "bad": "BAD "}
PINGS = 50
SLOW_ANSWER = 0.001  # [s] round trip to the dashboard; a switch and a cable give 0.2 ms
CYCLE = 0.002  # [s] after which RTDE answers at the latest, where there is no dashboard
LATE_STATE = 0.5  # [periods] a state may be late now and then
NOISY = 1.0  # [N] standard deviation of a good built-in sensor is below it


@dataclass(frozen=True)
class Finding:
    level: Literal["good", "note", "bad"]
    text: str
    remedy: str = ""


def examine(
    host: str, model: str, seconds: float = 5.0, name: str = DEFAULT_NAME, log: Path | None = None, client: str = ""
) -> list[Finding]:
    """All findings, in the order in which a person would look. name, log, client: as `run` will be given them."""
    findings = [*_computer(), *_needs_of_run(name, log, client)]
    try:
        version = check_ports(host, 3.0)
        if is_polyscope_x(version) and (client or RtdeSettings.client) != "direct":
            findings.append(Finding("bad", NOT_ON_X))
        findings += _network(host, version)
    except RobotError as error:
        return [*findings, Finding("bad", str(error))]
    return [*findings, *_arm(host, model), *_states(host, seconds)]


def _arm(host: str, name: str) -> Iterator[Finding]:
    """Is it ready, and is it the arm that the model describes?"""
    model = robot_model(name)
    try:
        ready = check_ready(host, model, 3.0, power_on=False, take_over=False)
        first, *doubts = ready.sentences
        yield Finding("good", first)
        for sentence in doubts:
            yield Finding("note", sentence)
    except RobotError as error:
        yield Finding("bad", str(error))
    try:
        arm = geometry(host, model)
    except RobotError as error:
        yield Finding("bad", str(error))
        return
    agrees = arm.calibrated and arm.left is not None and not arm.left.exceeds(ALLOWED)
    yield Finding("good" if agrees else "note", arm.sentence)


def _computer() -> Iterator[Finding]:
    flag = Path("/sys/kernel/realtime")
    if flag.exists() and flag.read_text().strip() == "1":
        yield Finding("good", "this computer has a real-time kernel.")
    else:
        yield Finding(
            "note",
            "this computer has an ordinary kernel: some cycles will be late.",
            "a PREEMPT_RT kernel removes them.",
        )
    with realtime(LOOP_PRIORITY) as setup:  # what run will ask for
        obtained = f"{setup}."
    if setup.scheduler and setup.memory_locked:
        yield Finding("good", obtained)
    else:
        yield Finding(
            "note",
            obtained,
            "add '@realtime - rtprio 99' and '@realtime - memlock unlimited' to /etc/security/limits.conf, join the "
            "group realtime, log in again.",
        )
    governor = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    if governor.exists() and governor.read_text().strip() not in ("performance", ""):
        yield Finding(
            "note",
            f"the CPU saves power (governor {governor.read_text().strip()}).",
            "cpupower frequency-set -g performance",
        )


def _needs_of_run(name: str, log: Path | None, client: str) -> Iterator[Finding]:
    """What `run` will ask of this computer before it asks the robot."""
    if client == "ur_rtde" and find_spec("rtde_control"):
        yield Finding("good", "the package ur-rtde is installed.")
    elif client == "ur_rtde":
        remedy = "pip install 'ur-admittance[robot]', or leave --client out."
        yield Finding("bad", "the package ur-rtde is missing.", remedy)
    if name in running_controllers():
        yield Finding("bad", f"{already_running(name)}.", "`run --name other` runs beside it, with another arm.")
    else:
        yield Finding("good", f"no other controller is named {name!r}.")
    folder = Path.cwd() if log is None else log.parent
    try:
        if log is not None:
            check_new(log)
        with tempfile.TemporaryFile(dir=folder):
            pass
        free = shutil.disk_usage(folder).free
        yield Finding("good", f"recordings can be written to {folder} ({1e-9 * free:.0f} GB free).")
    except LogError as error:
        yield Finding("bad", f"{error}.")
    except OSError as error:
        remedy = "choose another folder with --log." if log is not None else "only `run --log` needs it."
        yield Finding("note" if log is None else "bad", f"{folder}: cannot be written to ({error.strerror}).", remedy)


def _network(host: str, version: Version) -> list[Finding]:
    """Round trips of a short question: network and controller together."""
    times = []
    x = is_polyscope_x(version)
    with Listener(host) if x else Dashboard(host) as robot:
        for _ in range(PINGS):
            begin = time.perf_counter()
            robot.version()
            times.append(time.perf_counter() - begin)
            time.sleep(0.005)
    median, worst = float(np.median(times)), max(times)
    text = f"the robot answers in {1e3 * median:.2f} ms, at worst {1e3 * worst:.2f} ms ({PINGS} questions)."
    if median > SLOW_ANSWER + x * CYCLE:
        return [Finding("note", text, "use a cable, not wireless, and no busy switch in between.")]
    return [Finding("good", text)]


def _states(host: str, seconds: float) -> Iterator[Finding]:
    """Listen to the state stream with nothing started on the robot."""
    names = ("timestamp", "actual_qd", "actual_TCP_force", "speed_scaling", "target_speed_fraction", "payload")
    try:
        with Listener(host) as robot:
            robot.choose(names)
            arrivals, rows = zip(*robot.states(seconds), strict=True)
    except (OSError, ValueError, RobotError, WireError) as error:
        yield Finding("bad", f"no states from the robot: {error}.")
        return
    stamps = np.array([row["timestamp"] for row in rows])
    period = float(np.median(np.diff(stamps)))
    lost = int(round((stamps[-1] - stamps[0]) / period)) - (len(stamps) - 1)
    gaps = np.diff(arrivals)
    text = (
        f"{len(rows)} states at {1.0 / period:.0f} Hz, {lost} lost; between two of them {1e3 * np.median(gaps):.2f} ms "
        f"(99 %: {1e3 * np.quantile(gaps, 0.99):.2f} ms, worst {1e3 * gaps.max():.2f} ms)."
    )
    late = np.quantile(gaps, 0.99) > (1.0 + LATE_STATE) * period
    yield Finding("note" if late or lost else "good", text, "the computer or the network is busy." if late else "")
    speeds = np.array([row["actual_qd"] for row in rows])
    forces = np.array([row["actual_TCP_force"] for row in rows])
    if np.abs(speeds).max() > 0.01:
        yield Finding("bad", "the arm is moving.", "stop it before examining the sensor.")
        return
    noise, mean = forces[:, :3].std(axis=0).max(), forces[:, :3].mean(axis=0)
    text = f"force at rest {np.round(mean, 1).tolist()} N, noise {noise:.2f} N (standard deviation)."
    shaken = noise > NOISY
    remedy = "is something shaking the arm, or is the tool loose?" if shaken else ""
    yield Finding("note" if shaken else "good", text, remedy)
    payload = rows[-1].get("payload")
    if payload is not None:
        yield Finding("good" if payload > 0.0 else "note", f"the payload is {payload:.3g} kg.",
                      "" if payload > 0.0 else "set mass and centre of mass of the tool on the pendant.")  # fmt: skip
    for sentence in rtde_tool.doubts(mean):
        yield Finding("bad", sentence, "correct the payload, free the tool, zero the sensor.")
    scaling = rows[-1]["speed_scaling"] * rows[-1]["target_speed_fraction"]
    if scaling < 0.999:
        yield Finding("note", f"the speed slider is at {100 * scaling:.0f} %: everything will be slower by as much.")
