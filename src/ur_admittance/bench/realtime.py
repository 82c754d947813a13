"""The whole loop in real time: alone with a robot that costs nothing, and with the simulated arm.

Each run is a process of its own, so that its CPU time and memory are its own.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from ur_admittance.control import AdmittanceController
from ur_admittance.errors import UrAdmittanceError
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.robots.null import NullRobot
from ur_admittance.runtime.clock import RealTimeClock
from ur_admittance.runtime.loop import run
from ur_admittance.runtime.mailbox import Mailbox
from ur_admittance.runtime.realtime import realtime
from ur_admittance.runtime.report import Distribution, LoopReport
from ur_admittance.runtime.telemetry.writer import TelemetryWriter
from ur_admittance.simulation import World
from ur_admittance.simulation.robot import SimulatedRobot

PUSH_N = 10.0
EVERY = 1000  # cycles between changes of the push: the arm moves to and fro
ROBOTS = ("null", "sim")
CHANNEL = "bench"


def measure(
    seconds: float = 60.0, rate: float = 500.0, say: Callable[[str], None] = lambda text: None
) -> dict[str, Any]:
    """Both loops, one after the other: {"null": figures, "sim": figures}. Durations in microseconds."""
    result: dict[str, Any] = {}
    for kind in ROBOTS:
        say(f"running the loop for {seconds:g} s at {rate:g} Hz, robot: {kind}")
        command = [sys.executable, "-m", "ur_admittance.bench.realtime", kind, str(seconds), str(rate)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 180.0)
        if done.returncode != 0:
            raise UrAdmittanceError(f"the real-time benchmark failed: {done.stderr.strip().splitlines()[-1]}")
        result[kind] = json.loads(done.stdout)
    return result


def _loop(kind: str, seconds: float, rate: float) -> dict[str, Any]:
    model, period = robot_model("ur5e"), 1.0 / rate
    controller = AdmittanceController(model, Parameters(control_rate=rate))
    controller.configure()
    robot: Any = (
        NullRobot(period, model=model) if kind == "null" else SimulatedRobot(World(model), period, realtime=True)
    )
    robot.connect()
    if kind == "sim":
        robot.world.step(robot.world.q, None, period)  # loads the compiled physics before the clock runs
        robot.world.reset()
    controller.activate()
    count = 0

    def push(_: Any) -> None:
        nonlocal count
        if count % EVERY == 0:
            force = PUSH_N if (count // EVERY) % 2 == 0 else -PUSH_N
            if kind == "null":
                robot.wrench[1] = force
            else:
                robot.world.push([0.0, force, 0.0, 0.0, 0.0, 0.0])
        count += 1

    with (
        TelemetryWriter(CHANNEL, model="ur5e", rate=rate) as telemetry,
        Mailbox(CHANNEL) as mailbox,
        realtime() as setup,
    ):
        clock = RealTimeClock(rate)
        started, used = time.monotonic(), time.process_time()
        report = run(controller, robot, clock, duration=seconds, telemetry=telemetry, mailbox=mailbox, on_tick=push)
        cpu = (time.process_time() - used) / (time.monotonic() - started)
    return _figures(report, cpu, str(setup))


def _figures(report: LoopReport, cpu: float, setup: str) -> dict[str, Any]:
    def us(distribution: Distribution) -> dict[str, float]:
        keys = ("p50", "p99", "p999", "max")
        return {key: round(1e6 * getattr(distribution, key), 1) for key in keys}

    return {
        "cycles": report.ticks,
        "period_us": us(report.period),
        "force_to_command_us": us(report.latency),
        "publish_us": us(report.publish),
        "missed": report.missed,
        "overruns": report.overruns,
        "stalls": report.stalls,
        "ended": report.reason,
        "cpu_percent": round(100.0 * cpu, 2),
        "rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0, 1),
        "setup": setup,
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_loop(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]))))
