"""How fast are the tick and the loop on this computer?

The tick: controller.update() of an arm that is pushed, call by call. The loop: in real time, with a robot that costs
nothing and with the simulated arm, each in a process of its own, so that CPU time and memory are its own.
"""

import gc
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import Mode
from ur_admittance.errors import UrAdmittanceError
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.robots.simulated import World
from ur_admittance.robots.simulated.simulated_robot import SimulatedRobot
from ur_admittance.runtime.clock import RealTimeClock
from ur_admittance.runtime.loop import run
from ur_admittance.runtime.mailbox import Mailbox
from ur_admittance.runtime.realtime import realtime
from ur_admittance.runtime.report import Distribution, LoopReport
from ur_admittance.runtime.telemetry import TelemetryWriter
from ur_admittance_lab.null_robot import NullRobot

Array = NDArray[np.float64]

PUSH_N = 10.0
EVERY = 1000  # cycles between changes of the push: the arm moves to and fro
ROBOTS = ("null", "sim")
CHANNEL = "bench"
CALLS = 20_000  # of update(): enough for one in a thousand
CLOCK_READINGS = 5001


def measure(
    seconds: float = 10.0, rate: float = 500.0, say: Callable[[str], None] = lambda text: None
) -> dict[str, Any]:
    """{"tick_us": percentiles, "null": figures, "sim": figures}, one after the other. Durations in microseconds."""
    say("timing the tick")
    result: dict[str, Any] = {"tick_us": percentiles(_updates(CALLS))}
    for kind in ROBOTS:
        say(f"running the loop for {seconds:g} s at {rate:g} Hz, robot: {kind}")
        command = [sys.executable, "-m", "ur_admittance_lab.speed", kind, str(seconds), str(rate)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 180.0)
        if done.returncode != 0:
            raise UrAdmittanceError(f"the real-time benchmark failed: {done.stderr.strip().splitlines()[-1]}")
        result[kind] = json.loads(done.stdout)
    return result


def timed(call: Callable[..., Any], arguments: tuple[Any, ...], prepare: Callable[[int], None], count: int) -> Array:
    """Durations [ns] of call(*arguments) alone, minus the cost of reading the clock; prepare(i) runs before each,
    outside of the measurement. The garbage collector is off, as it is in the control loop."""
    clock = time.perf_counter_ns
    durations, cost = np.empty(count), np.empty(CLOCK_READINGS)
    for i in range(CLOCK_READINGS):
        begin = clock()
        cost[i] = clock() - begin
    collecting = gc.isenabled()
    gc.disable()
    try:
        for i in range(count):
            prepare(i)
            begin = clock()
            call(*arguments)
            durations[i] = clock() - begin
    finally:
        if collecting:
            gc.enable()
    return durations - np.median(cost)


def percentiles(nanoseconds: Array) -> dict[str, float]:
    """[us]"""
    p50, p99, p999 = np.percentile(nanoseconds, (50.0, 99.0, 99.9)) / 1e3
    return {"p50": float(p50), "p99": float(p99), "p999": float(p999), "max": float(nanoseconds.max()) / 1e3}


def updates(controller: AdmittanceController, pushes: Array, count: int) -> Array:
    """Durations [ns] of update() of a fresh controller; a perfect servo under `pushes` (n, 6), over and over."""
    controller.configure()
    controller.activate_with_load()
    sample, command = controller.sample, controller.command
    sample["dt"], sample["q"] = 1.0 / controller.parameters.control_rate, controller.model.home
    sample["wrench"] = pushes[0]
    controller.update()

    def perfect_servo(i: int) -> None:
        sample["q"], sample["qd"] = command["q"], command["qd"]
        sample["wrench"] = pushes[i % len(pushes)]

    durations = timed(controller.update, (), perfect_servo, count)
    if controller.mode != Mode.ACTIVE:  # a controller that has stopped is fast and useless
        raise UrAdmittanceError(f"bench: the controller stopped: {controller.reason}")
    return durations


def _updates(count: int) -> Array:
    """The push turns, so that the arm moves in a circle and its Jacobian changes on every tick."""
    phase = 2.0 * np.pi * np.arange(EVERY) / EVERY
    pushes = np.zeros((EVERY, 6))
    pushes[:, 0], pushes[:, 1] = PUSH_N * np.cos(phase), PUSH_N * np.sin(phase)
    return updates(AdmittanceController(robot_model("ur5e")), pushes, count)


def _loop(kind: str, seconds: float, rate: float) -> dict[str, Any]:
    model, period = robot_model("ur5e"), 1.0 / rate
    world = World(model)
    controller = AdmittanceController(model, Parameters(control_rate=rate).changed(world.parameters()))
    controller.configure()
    robot: Any = NullRobot(period, model=model) if kind == "null" else SimulatedRobot(world, period, realtime=True)
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
