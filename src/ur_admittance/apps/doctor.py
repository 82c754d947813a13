"""Examines a robot and this computer without moving anything: each finding with what to do about it."""

import os
import socket
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from ur_admittance.errors import RobotError
from ur_admittance.model import robot_model
from ur_admittance.robots.rtde import tool as rtde_tool
from ur_admittance.robots.rtde.checks import RTDE_PORT, SCRIPT_PORT, check_ready, reachable
from ur_admittance.robots.rtde.dashboard_port import Dashboard

PINGS = 50
SLOW_ANSWER = 0.001  # [s] round trip to the dashboard; a switch and a cable give 0.2 ms
LATE_STATE = 0.5  # [periods] a state may be late now and then
NOISY = 1.0  # [N] standard deviation of a good built-in sensor is below it


@dataclass(frozen=True)
class Finding:
    level: Literal["good", "note", "bad"]
    text: str
    remedy: str = ""


def examine(host: str, model: str, seconds: float = 5.0) -> list[Finding]:
    """All findings, in the order in which a person would look."""
    findings = list(_computer())
    try:
        for port in (RTDE_PORT, SCRIPT_PORT):
            reachable(host, port, 3.0)
        findings += _network(host)
    except RobotError as error:
        return [*findings, Finding("bad", str(error))]
    try:
        ready = check_ready(host, robot_model(model), 3.0, power_on=False, take_over=False)
        findings += [Finding("good", sentence) for sentence in ready.sentences]
    except RobotError as error:
        findings.append(Finding("bad", str(error)))
    return findings + list(_states(host, seconds))


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
    try:
        largest = os.sched_get_priority_max(os.SCHED_FIFO)
        policy, parameter = os.sched_getscheduler(0), os.sched_getparam(0)
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(min(50, largest)))
        os.sched_setscheduler(0, policy, parameter)
        yield Finding("good", "this user may use real-time priority.")
    except (OSError, AttributeError):
        yield Finding(
            "note",
            "this user may not use real-time priority.",
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


def _network(host: str) -> list[Finding]:
    """Round trips of a one-line question: network and controller together."""
    times = []
    with Dashboard(host) as dashboard:
        for _ in range(PINGS):
            begin = time.perf_counter()
            dashboard.ask("robotmode")
            times.append(time.perf_counter() - begin)
            time.sleep(0.005)
    median, worst = float(np.median(times)), max(times)
    text = f"the robot answers in {1e3 * median:.2f} ms, at worst {1e3 * worst:.2f} ms ({PINGS} questions)."
    if median > SLOW_ANSWER:
        return [Finding("note", text, "use a cable, not wireless, and no busy switch in between.")]
    return [Finding("good", text)]


def _states(host: str, seconds: float) -> Iterator[Finding]:
    """Listen to the state stream with nothing started on the robot."""
    names = [
        "timestamp",
        "actual_qd",
        "actual_TCP_force",
        "speed_scaling",
        "target_speed_fraction",
        "safety_status_bits",
    ]
    try:
        rows, arrivals, payload = _listen(host, names, seconds)
    except (OSError, RobotError) as error:
        yield Finding("bad", f"no states from the robot: {error}.")
        return
    stamps = np.array([row[0] for row in rows])
    period = float(np.median(np.diff(stamps)))
    lost = int(round((stamps[-1] - stamps[0]) / period)) - (len(stamps) - 1)
    gaps = np.diff(arrivals)
    text = (
        f"{len(rows)} states at {1.0 / period:.0f} Hz, {lost} lost; between two of them {1e3 * np.median(gaps):.2f} ms "
        f"(99 %: {1e3 * np.quantile(gaps, 0.99):.2f} ms, worst {1e3 * gaps.max():.2f} ms)."
    )
    late = np.quantile(gaps, 0.99) > (1.0 + LATE_STATE) * period
    yield Finding("note" if late or lost else "good", text, "the computer or the network is busy." if late else "")
    speeds, forces = np.array([row[1:7] for row in rows]), np.array([row[7:13] for row in rows])
    if np.abs(speeds).max() > 0.01:
        yield Finding("bad", "the arm is moving.", "stop it before examining the sensor.")
        return
    noise, mean = forces[:, :3].std(axis=0).max(), forces[:, :3].mean(axis=0)
    text = f"force at rest {np.round(mean, 1).tolist()} N, noise {noise:.2f} N (standard deviation)."
    shaken = noise > NOISY
    remedy = "is something shaking the arm, or is the tool loose?" if shaken else ""
    yield Finding("note" if shaken else "good", text, remedy)
    if payload is not None:
        yield Finding("good" if payload > 0.0 else "note", f"the payload is {payload:.3g} kg.",
                      "" if payload > 0.0 else "set mass and centre of mass of the tool on the pendant.")  # fmt: skip
    for sentence in rtde_tool.doubts(mean):
        yield Finding("bad", sentence, "correct the payload, free the tool, zero the sensor.")
    scaling = rows[-1][13] * rows[-1][14]
    if scaling < 0.999:
        yield Finding("note", f"the speed slider is at {100 * scaling:.0f} %: everything will be slower by as much.")


def _listen(host: str, names: list[str], seconds: float) -> tuple[list[tuple[float, ...]], np.ndarray, float | None]:
    """The published protocol by hand: the library shows only the newest state, not when each arrived."""
    layout = struct.Struct(">d6d6dddI")
    with socket.create_connection((host, RTDE_PORT), timeout=3.0) as connection:
        buffer = b""

        def message() -> tuple[int, bytes]:
            nonlocal buffer
            while len(buffer) < 3 or len(buffer) < struct.unpack_from(">H", buffer)[0]:
                data = connection.recv(65536)
                if not data:
                    raise RobotError("the robot closed the connection")
                buffer += data
            size, kind = struct.unpack_from(">HB", buffer)
            content, buffer = buffer[3:size], buffer[size:]
            return kind, content

        def ask(kind: str, payload: bytes = b"") -> bytes:
            connection.sendall(struct.pack(">HB", 3 + len(payload), ord(kind)) + payload)
            return message()[1]

        ask("V", struct.pack(">H", 2))
        rate = 500.0 if struct.unpack(">4I", ask("v"))[0] > 3 else 125.0
        payload = None
        if b"NOT_FOUND" not in ask("O", struct.pack(">d", rate) + b"payload"):
            ask("S")
            payload = float(struct.unpack(">d", message()[1][1:])[0])
            connection.sendall(struct.pack(">HB", 3, ord("P")))
            while message()[0] != ord("P"):
                pass
        if b"NOT_FOUND" in ask("O", struct.pack(">d", rate) + ",".join(names).encode()):
            raise RobotError("the robot does not know the variables")
        ask("S")
        rows, arrivals = [], []
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            kind, content = message()
            if kind == ord("U") and len(content) == 1 + layout.size:
                rows.append(layout.unpack(content[1:]))
                arrivals.append(time.monotonic())
    if len(rows) < 10:
        raise RobotError(f"only {len(rows)} states in {seconds:g} s")
    return rows, np.array(arrivals), payload
