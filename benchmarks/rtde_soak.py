"""Does the loop keep pace with the robot? Rate, delay in robot cycles, CPU and memory over some minutes.

    python benchmarks/rtde_soak.py --minutes 1             the emulator is started for it
    python benchmarks/rtde_soak.py --minutes 30 --bare     next to it the bare ur_rtde library, 60 s

The delay from sample to command is counted by the emulator: the n-th streamed command belongs to the n-th state that
the loop has used; it is seen in the emulator's cycle number c, computed from the state of cycle s: c - s cycles.
"""

import argparse
import gc
import json
import os
import time
from collections import Counter
from pathlib import Path

import numpy as np

from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import Mode
from ur_admittance.emulator.process import EmulatorProcess
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.robots.rtde import RtdeRobot
from ur_admittance.robots.rtde_settings import RtdeSettings
from ur_admittance.runtime.realtime import realtime

PERIOD = 0.002
PAGE = os.sysconf("SC_PAGE_SIZE")
TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far [s]."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def memory(pid: int) -> float:
    """Resident memory [MB]."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE / 1e6


class Trace:
    """Cycles in which the emulator has seen our commands, fetched now and then; the rest of the cycle pays for it."""

    def __init__(self, emulator: EmulatorProcess) -> None:
        import socket

        self._socket = socket.create_connection((emulator.host, 29999), timeout=5.0)
        self._lines = self._socket.makefile("rw", encoding="utf-8", newline="\n")
        self._lines.readline()
        self._asked = False
        self.cycles: list[int] = []
        self.ask()
        self.fetch()
        self.cycles.clear()

    def ask(self) -> None:
        self._lines.write("emulator trace\n")
        self._lines.flush()
        self._asked = True

    def fetch(self) -> None:
        if self._asked:
            self.cycles += json.loads(self._lines.readline())["cycles"]
            self._asked = False


def ours(emulator: EmulatorProcess, seconds: float, priority: int | None) -> None:
    model = robot_model("ur5e")
    parameters = Parameters().changed({"tool.tcp": [0.0, 0.0, 0.15, 0.0, 0.0, 0.0]})
    controller = AdmittanceController(model, parameters)
    controller.configure(print)
    robot = RtdeRobot(emulator.host, model, RtdeSettings(state_patience=0.016))
    with robot, realtime(priority=priority) as setup:
        print(setup)
        child = robot._link.commander._process.pid if robot._link is not None else 0
        trace = Trace(emulator)
        robot.read(controller.sample)
        controller.update()
        robot.write(controller.command)  # arms the watchdog: takes some cycles
        robot.read(controller.sample)
        controller.activate()
        used, periods, ages, rows = [], [], [], []
        begin = last = time.monotonic()
        before = (cpu_seconds(os.getpid()), cpu_seconds(child), cpu_seconds(emulator.process.pid))
        count, fault = 0, ""
        while time.monotonic() - begin < seconds and not fault:
            robot.read(controller.sample)
            now = time.monotonic()
            phase = 2.0 * np.pi * 0.2 * count * PERIOD
            controller.set_reference_twist([0.0, 0.05 * np.cos(phase), 0.0, 0.0, 0.0, 0.0])
            used.append(round(robot._pace.timestamp / PERIOD))
            controller.update()
            robot.write(controller.command)
            periods.append(now - last)
            ages.append(float(controller.sample["joint_age"]))
            last, count = now, count + 1
            if controller.mode != Mode.ACTIVE:
                fault = f"{controller.reason} {robot.reason}"
            if count % 500 == 250:
                trace.ask()
            elif count % 500 == 300:
                trace.fetch()
            if count % 15000 == 0:
                rows.append((count * PERIOD, memory(os.getpid()), memory(child), memory(emulator.process.pid)))
        elapsed = time.monotonic() - begin
        after = (cpu_seconds(os.getpid()), cpu_seconds(child), cpu_seconds(emulator.process.pid))
        trace.fetch()
        trace.ask()
        trace.fetch()
    report(used, trace.cycles, periods, elapsed, before, after, rows, fault, emulator)


def report(used, cycles, periods, elapsed, before, after, rows, fault, emulator) -> None:  # type: ignore[no-untyped-def]
    cycles = cycles[len(cycles) - len(used) :]  # without those before the count began
    count = min(len(used), len(cycles))
    delays = Counter((np.array(cycles[:count]) - np.array(used[:count])).tolist())
    steps = Counter(np.diff(used).tolist())
    p = 1e6 * np.array(periods[1:])
    robot_time = (used[-1] - used[0]) * PERIOD
    print(f"ended by a fault: {fault}" if fault else "no fault")
    rate = len(used) / elapsed
    print(f"{len(used)} cycles in {elapsed:.1f} s: {rate:.2f} Hz; robot time {robot_time / elapsed:.5f} s/s")
    p50, p99, p999 = np.quantile(p, [0.5, 0.99, 0.999])
    print(f"period us p50 {p50:.0f}, p99 {p99:.0f}, p99.9 {p999:.0f}, worst {p.max():.0f}")
    print(f"robot cycles per loop cycle: {share(steps)}")
    print(f"sample-to-command delay in robot cycles ({count} commands): {share(delays)}")
    names = ("loop", "commander", "emulator")
    load = [100.0 * (b - a) / elapsed for a, b in zip(before, after, strict=True)]
    print("CPU of one core: " + ", ".join(f"{n} {x:.1f} %" for n, x in zip(names, load, strict=True)))
    for t, *sizes in rows:
        print(f"  {t:6.0f} s  memory MB: " + ", ".join(f"{n} {x:.1f}" for n, x in zip(names, sizes, strict=True)))
    counters = emulator.ask("counters")
    lost = counters.get("streamed commands lost in one cycle", 0)
    print(f"emulator: {emulator.ask('state')['late']} late cycles, {lost} commands lost in one cycle")
    halves = np.array_split(p, 2)
    print(f"drift: median period first half {np.median(halves[0]):.1f} us, second half {np.median(halves[1]):.1f} us")


def share(counter: Counter) -> str:  # type: ignore[type-arg]
    total = sum(counter.values())
    return ", ".join(f"{k}: {100.0 * n / total:.2f} %" for k, n in sorted(counter.items())[:8])


def bare(emulator: EmulatorProcess, seconds: float) -> None:
    """The library alone, with the same questions per cycle, for comparison."""
    from rtde_control import RTDEControlInterface
    from rtde_receive import RTDEReceiveInterface

    receive, control = RTDEReceiveInterface(emulator.host), RTDEControlInterface(emulator.host)
    before, begin, count = cpu_seconds(os.getpid()), time.monotonic(), 0
    deadline = begin
    while time.monotonic() - begin < seconds:
        receive.getActualQ(), receive.getActualQd(), receive.getActualTCPForce()
        control.speedJ([0.0] * 6, 40.0, PERIOD)
        count, deadline = count + 1, deadline + PERIOD
        time.sleep(max(0.0, deadline - time.monotonic()))
    elapsed = time.monotonic() - begin
    print(f"bare ur_rtde: {count / elapsed:.2f} Hz, CPU {100.0 * (cpu_seconds(os.getpid()) - before) / elapsed:.1f} %")
    control.speedStop()
    control.disconnect()
    receive.disconnect()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--bare", action="store_true", help="also measure the bare library for 60 s")
    parser.add_argument("--priority", type=int, default=None, help="SCHED_FIFO priority of the loop")
    options = parser.parse_args()
    gc.collect()
    with EmulatorProcess() as emulator:
        ours(emulator, 60.0 * options.minutes, options.priority)
        if options.bare:
            bare(emulator, min(60.0, 60.0 * options.minutes))


if __name__ == "__main__":
    main()
