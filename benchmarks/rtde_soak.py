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
from array import array
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import Mode
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.robots.rtde.library_link import LibraryLink
from ur_admittance.robots.rtde.rtde_robot import RtdeRobot
from ur_admittance.robots.rtde.settings import RtdeSettings
from ur_admittance.runtime.realtime import realtime
from ur_admittance_lab.emulator.emulator_process import EmulatorProcess

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
        self.cycles = array("q")  # plain numbers: the tool's own memory must not look like a leak
        self.ask()
        self.fetch()
        del self.cycles[:]

    def ask(self) -> None:
        self._lines.write("emulator trace\n")
        self._lines.flush()
        self._asked = True

    def fetch(self) -> None:
        if self._asked:
            self.cycles.extend(json.loads(self._lines.readline())["cycles"])
            self._asked = False


@dataclass
class Measured:
    """One uninterrupted stretch, or all of them together."""

    periods: "array[float]" = field(default_factory=lambda: array("d"))  # [s]
    steps: Counter[int] = field(default_factory=Counter)  # robot cycles per loop cycle
    delays: Counter[int] = field(default_factory=Counter)  # robot cycles from sample to command
    robot_time: float = 0.0  # [s]
    elapsed: float = 0.0  # [s]
    faults: list[str] = field(default_factory=list)
    memory: list[tuple[float, ...]] = field(default_factory=list)


def stretch(
    robot: RtdeRobot, controller: AdmittanceController, emulator: EmulatorProcess, until: float, m: Measured
) -> None:
    """Run until the time is over or something stops the arm."""
    trace = Trace(emulator)
    robot.beat.wait()
    robot.read(controller.sample)
    controller.update()
    robot.write(controller.command)  # arms the watchdog: takes some cycles
    robot.beat.wait()
    robot.read(controller.sample)
    if controller.mode == Mode.FAULT:
        m.faults.append(f"{controller.reason} {robot.reason}")
        return
    controller.activate()
    used, count, begin = array("q"), 0, time.monotonic()
    last = begin
    while (now := time.monotonic()) < until:
        robot.beat.wait()
        robot.read(controller.sample)
        now = time.monotonic()
        phase = 2.0 * np.pi * 0.2 * count * PERIOD
        controller.set_reference_twist([0.0, 0.05 * np.cos(phase), 0.0, 0.0, 0.0, 0.0])
        controller.update()
        robot.write(controller.command)
        if controller.mode != Mode.ACTIVE:
            m.faults.append(f"{controller.reason} {robot.reason}")
            break
        used.append(round(robot.beat.timestamp / PERIOD))
        m.periods.append(now - last)
        last, count = now, count + 1
        if count % 500 == 250:
            trace.ask()
        elif count % 500 == 300:
            trace.fetch()
        if count % 15000 == 0:
            m.memory.append((m.elapsed + now - begin, *(memory(pid) for pid in processes(robot, emulator))))
    m.elapsed += time.monotonic() - begin
    trace.fetch()
    trace.ask()
    trace.fetch()
    seen = trace.cycles[1:]  # without the one that armed the watchdog
    common = min(len(used), len(seen))
    m.delays += Counter((np.array(seen[:common]) - np.array(used[:common])).tolist())
    m.steps += Counter(np.diff(used).tolist())
    m.robot_time += (used[-1] - used[0]) * PERIOD if used else 0.0


def processes(robot: RtdeRobot, emulator: EmulatorProcess) -> list[int]:
    """Loop, emulator and, with ur_rtde, its process."""
    assert emulator.process is not None
    helper = [robot._link.commander._process.pid] if isinstance(robot._link, LibraryLink) else []
    return [os.getpid(), emulator.process.pid, *helper]


def ours(emulator: EmulatorProcess, seconds: float, priority: int, client: str) -> None:
    model = robot_model("ur5e")
    parameters = Parameters().changed({"tool.tcp": [0.0, 0.0, 0.15, 0.0, 0.0, 0.0]})
    controller = AdmittanceController(model, parameters)
    controller.configure(print)
    settings = RtdeSettings(rt_priority=priority or -1, client=client)  # type: ignore[arg-type]
    robot = RtdeRobot(emulator.host, model, settings)
    measured = Measured()
    load = np.zeros(3 if client == "ur_rtde" else 2)
    with robot, realtime(priority=priority or None) as setup:
        print(setup)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            before = np.array([cpu_seconds(pid) for pid in processes(robot, emulator)])
            names = processes(robot, emulator)
            stretch(robot, controller, emulator, until, measured)
            if Path(f"/proc/{names[-1]}").exists():
                load += np.array([cpu_seconds(pid) for pid in names]) - before
            if measured.faults and time.monotonic() < until:
                robot.recover()
                for _ in range(50):
                    robot.beat.wait()
                    robot.read(controller.sample)
                    controller.update()
                if controller.mode == Mode.FAULT:
                    controller.reset_fault()
                    robot.beat.wait()
                    robot.read(controller.sample)
                    controller.update()
    report(measured, 100.0 * load / measured.elapsed, emulator)


def report(m: Measured, load: np.ndarray, emulator: EmulatorProcess) -> None:
    p = 1e6 * np.array(m.periods)
    rate = len(p) / m.elapsed
    print(f"{len(p)} cycles in {m.elapsed:.1f} s: {rate:.2f} Hz; robot time {m.robot_time / m.elapsed:.5f} s/s")
    p50, p99, p999 = np.quantile(p, [0.5, 0.99, 0.999])
    print(f"period us p50 {p50:.0f}, p99 {p99:.0f}, p99.9 {p999:.0f}, worst {p.max():.0f}")
    print(f"robot cycles per loop cycle: {share(m.steps)}")
    print(f"sample-to-command delay in robot cycles ({sum(m.delays.values())} commands): {share(m.delays)}")
    names = ("loop", "emulator", "commander")[: len(load)]
    print("CPU of one core: " + ", ".join(f"{n} {x:.1f} %" for n, x in zip(names, load, strict=True)))
    for t, *sizes in m.memory:
        print(f"  {t:6.0f} s  memory MB: " + ", ".join(f"{n} {x:.1f}" for n, x in zip(names, sizes, strict=True)))
    lost = emulator.ask("counters").get("streamed commands lost in one cycle", 0)
    print(f"emulator: {emulator.ask('state')['late']} late cycles, {lost} commands lost in one cycle")
    first, second = np.array_split(p, 2)
    print(f"drift: median period first half {np.median(first):.1f} us, second half {np.median(second):.1f} us")
    print(f"{len(m.faults)} faults" + "".join(f"\n  {fault}" for fault in m.faults[:10]))


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
    parser.add_argument("--priority", type=int, default=0, help="SCHED_FIFO priority of loop, commander and emulator")
    parser.add_argument("--client", choices=("ur_rtde", "direct"), default="ur_rtde")
    options = parser.parse_args()
    gc.collect()
    with EmulatorProcess("--priority", str(options.priority)) as emulator:
        ours(emulator, 60.0 * options.minutes, options.priority, options.client)
        if options.bare:
            bare(emulator, min(60.0, 60.0 * options.minutes))


if __name__ == "__main__":
    main()
