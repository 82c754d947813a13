"""The jitter of the control loop as shipped, and with one precaution at a time taken away.

The arm is a NullRobot, the rate 500 Hz. "Late" is the start of a cycle after its deadline, "cycle" the time from its
start to its end with everything that the variant does in it.
"""

import gc
import json
import multiprocessing
import os
import socket
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from ur_admittance.control import AdmittanceController
from ur_admittance.core.views import record_bytes
from ur_admittance.model import robot_model
from ur_admittance.runtime.clock import RealTimeClock
from ur_admittance.runtime.loop import run
from ur_admittance.runtime.realtime import realtime
from ur_admittance.runtime.telemetry import TelemetryWriter
from ur_admittance_lab.null_robot import NullRobot

NAME = "measured"
HEAP_OBJECTS = 300_000  # what a program with a few libraries and some data holds
STALL_S, READ_S = 0.4, 0.6  # a reader that is away for 0.4 s now and then: a page in a browser, a full disk
OBJECTS = 100  # small lists left behind by every cycle
SPAWN = multiprocessing.get_context("spawn")


class SocketPublisher:
    """What a first version would do: send each record and wait until the system has taken it."""

    def __init__(self, channel: socket.socket) -> None:
        self.channel = channel

    def publish(self, controller: Any, loop: Any) -> None:
        self.channel.sendall(bytes(record_bytes(controller.command)))


class DiskPublisher:
    """A line of text per cycle, safely on the disk before the loop goes on."""

    def __init__(self) -> None:
        self.file = tempfile.TemporaryFile("w")  # noqa: SIM115  (open as long as the loop runs)

    def publish(self, controller: Any, loop: Any) -> None:
        json.dump(
            {"q": controller.command["q"].tolist(), "force": controller.command["wrench_tcp"].tolist()}, self.file
        )
        self.file.flush()
        os.fsync(self.file.fileno())


def _read_socket(channel: socket.socket, stop: Any) -> None:
    channel.settimeout(0.2)
    while not stop.is_set():
        end = time.monotonic() + READ_S
        while time.monotonic() < end and not stop.is_set():
            try:
                channel.recv(1 << 20)
            except TimeoutError:
                continue
        time.sleep(STALL_S)


def _read_ring(stop: Any) -> None:
    from ur_admittance.runtime.telemetry import TelemetryReader

    with TelemetryReader(NAME) as reader:
        while not stop.is_set():
            end = time.monotonic() + READ_S
            while time.monotonic() < end and not stop.is_set():
                reader.drain()
                time.sleep(0.02)
            time.sleep(STALL_S)


@contextmanager
def _child(target: Callable[..., None], *arguments: Any) -> Iterator[None]:
    stop = SPAWN.Event()
    process = SPAWN.Process(target=target, args=(*arguments, stop))
    process.start()
    time.sleep(1.5)  # a Python process needs that long to start on a busy machine
    try:
        yield
    finally:
        stop.set()
        process.join(5.0)
        if process.is_alive():
            process.terminate()


def measure(
    seconds: float,
    publisher: str = "ring",
    slow_reader: bool = False,
    garbage: bool = False,
    objects: int = OBJECTS,
    frozen: bool = True,
) -> dict[str, float]:
    """Percentiles of one variant [us]; `stop` is the number of pauses above 0.1 s, each of which would stop the arm."""
    controller = AdmittanceController(robot_model("ur5e"))
    controller.configure()
    robot, clock = NullRobot(), RealTimeClock(500.0)
    heap = [{"number": [i]} for i in range(HEAP_OBJECTS)] if garbage else []
    recent: deque[Any] = deque(maxlen=5000)

    def make_objects(c: Any) -> None:
        """What a tick in everyday Python leaves behind: a message with lists and dictionaries."""
        recent.append({"position": c.command["q"].tolist(), "points": [[j] for j in range(objects)]})

    with ExitStack() as stack:
        telemetry: Any = DiskPublisher()
        if publisher == "ring":
            telemetry = stack.enter_context(TelemetryWriter(NAME, model="ur5e", rate=500.0))
            if slow_reader:
                stack.enter_context(_child(_read_ring))
        elif publisher == "socket":
            ours, theirs = socket.socketpair()
            stack.enter_context(ours)
            telemetry = SocketPublisher(ours)
            stack.enter_context(_child(_read_socket, theirs))
            theirs.close()
        controller.activate()
        if not frozen:
            gc.enable()
        stack.enter_context(realtime(50, freeze_collector=frozen))
        report = run(
            controller, robot, clock, duration=seconds, telemetry=telemetry, on_tick=make_objects if garbage else None
        )
    del heap
    return {
        "period_p99": 1e6 * report.period.p99,
        "period_max": 1e6 * report.period.max,
        "late_p50": 1e6 * report.lateness.p50,
        "late_p99": 1e6 * report.lateness.p99,
        "late_max": 1e6 * report.lateness.max,
        "publish_p50": 1e6 * report.publish.p50,
        "publish_p99": 1e6 * report.publish.p99,
        "publish_max": 1e6 * report.publish.max,
        "read_to_write_p50": 1e6 * report.latency.p50,
        "read_to_write_p99": 1e6 * report.latency.p99,
        "missed": report.missed,
        "stalls": report.stalls,
    }


VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "shipped": ("as shipped: ring, collector frozen", {}),
    "ring_slow_reader": ("ring, reader away for 0.4 s at a time", {"slow_reader": True}),
    "socket_slow_reader": ("blocking socket, the same reader", {"publisher": "socket"}),
    "disk": ("a line to the disk in every cycle", {"publisher": "disk"}),
    "garbage_few": ("20 lists made in every cycle, collector on", {"garbage": True, "frozen": False, "objects": 20}),
    "garbage_frozen": ("100 lists made in every cycle, collector frozen", {"garbage": True}),
    "garbage": ("100 lists made in every cycle, collector on", {"garbage": True, "frozen": False}),
}
