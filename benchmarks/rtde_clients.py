"""What a client of the robot costs, and how soon a force becomes a command: one after the other, against one emulator.

    python -m benchmarks.rtde_clients                  a minute each, printed
    python -m benchmarks.rtde_clients --minutes 0.25   a quick look
    python -m benchmarks.rtde_clients --write          kept in docs/measured/rtde_clients.json

`run` with ur_rtde, `run` with the direct client, and for comparison a bare ur_rtde loop: getters, one multiplication,
speedJ, waitPeriod. All loops at the same real-time priority. Measured from outside, for all in the same way:

CPU        of each thread, from the scheduler; processes that watch (the status line) are left out
latency    by the emulator, from a state sent to the command that comes back; and in robot cycles, from a step of the
           force in a state to the first state whose target speed has changed
missed     robot cycles in which no command came
memory     resident and proportional set size of the loop and its helper
"""

import argparse
import os
import subprocess
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.machine import machine
from ur_admittance.robots.rtde.states import States
from ur_admittance_lab.emulator.emulator_process import EmulatorProcess
from ur_admittance_lab.evidence import keep

PERIOD = 0.002  # [s]
PRIORITY = 50  # SCHED_FIFO of every loop, as `run` has it
ROBOT_PRIORITY = 70  # the robot is another computer: the loops must not disturb it
START = 2.0  # [s] after its first command; not counted
PUSH, EVERY = "push 0 12 0 0 0 0 0.1", 1.0  # [s] between two
STEP = 3.0  # [N] in one cycle: a push has begun
KINK = 1e-6  # [rad/s] by which one cycle's change of speed differs from the one before
KEPT = Path(__file__).parents[1] / "docs" / "measured" / "rtde_clients.json"


@dataclass
class Measured:
    client: str
    cpu_percent: float  # of one core
    threads_percent: dict[str, float]
    microseconds: dict[str, float]  # state sent -> command received: p50, p99, max
    force_to_command_cycles: dict[int, int]  # robot cycles: how often
    commands: int
    missed: int
    resident_mb: float
    proportional_mb: float


def tree(pid: int) -> list[int]:
    """A process and those that it has started."""
    children = [int(child) for task in _tasks(pid) for child in (task / "children").read_text().split()]
    return [pid, *(each for child in children for each in tree(child))]


def _tasks(pid: int) -> list[Path]:
    return list(Path(f"/proc/{pid}/task").iterdir())


def working(pid: int) -> dict[str, int]:
    """The loop's process and ur_rtde's, without those that watch."""
    found = {"loop": pid}
    for child in tree(pid)[1:]:
        if "child.py" in Path(f"/proc/{child}/cmdline").read_text():
            found["helper"] = child
    return found


def cpu(processes: dict[str, int]) -> dict[str, float]:
    """Seconds on a processor so far, by thread."""
    times: Counter[str] = Counter()
    for name, pid in processes.items():
        for task in _tasks(pid):
            thread = name if task.name == str(pid) else f"{name}'s other threads"
            times[thread] += int((task / "schedstat").read_text().split()[0]) / 1e9
    return dict(times)


def memory(processes: dict[str, int]) -> tuple[float, float]:
    """Resident and proportional set size together [MB]."""
    sizes: Counter[str] = Counter()
    for pid in processes.values():
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
            name, size = line.split()[:2]
            sizes[name] += int(size)
    return sizes["Rss:"] / 1e3, sizes["Pss:"] / 1e3


def pushes(emulator: EmulatorProcess, seconds: float) -> dict[int, int]:
    """Push now and then; robot cycles from each step of the force to the kink in the target speed."""
    states = States(emulator.host, 1.0 / PERIOD, ["timestamp", "actual_TCP_force", "target_qd"])
    states.resting(False)
    rows = []
    end, due = time.monotonic() + seconds, time.monotonic()
    while (now := time.monotonic()) < end:
        if now > due:
            due += EVERY
            emulator.tell(PUSH)
        if states.wait(states.timestamp, 0.1):
            rows.append((states.timestamp, *states["actual_TCP_force"][:3], *states["target_qd"]))
    states.close()
    table = np.array(rows)
    cycle = np.round(table[:, 0] / PERIOD).astype(int)
    stepped = np.linalg.norm(np.diff(table[:, 1:4], axis=0), axis=1) > STEP
    bent = np.linalg.norm(np.diff(table[:, 4:], n=2, axis=0), axis=1) > KINK
    found: Counter[int] = Counter()
    for i in np.flatnonzero(stepped) + 1:
        after = i + 1 + np.flatnonzero(bent[i - 1 :])
        if len(after) and cycle[after[0]] - cycle[i - 1] == after[0] - (i - 1):  # no state was lost in between
            found[int(after[0] - i)] += 1
    return dict(sorted(found.items()))


def measure(client: str, command: list[str], emulator: EmulatorProcess, seconds: float) -> Measured:
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while not emulator.ask("trace")["cycles"]:  # until it commands
            if process.poll() is not None:
                raise SystemExit(f"{client}: ended with {process.returncode}")
            time.sleep(0.1)
        time.sleep(START)
        parts = working(process.pid)
        emulator.ask("trace")
        before, begin = cpu(parts), time.monotonic()
        cycles, delays = [], []
        reactions: Counter[int] = Counter()
        for _ in range(max(1, round(seconds / 15.0))):  # the emulator remembers 40 s
            reactions.update(pushes(emulator, min(15.0, seconds)))
            trace = emulator.ask("trace")
            cycles += trace["cycles"]
            delays += trace["microseconds"]
        elapsed = time.monotonic() - begin
        load = {name: 100.0 * (used - before[name]) / elapsed for name, used in cpu(parts).items()}
        sizes = memory(parts)
        process.terminate()
    quantiles = dict(zip(("p50", "p99", "max"), np.quantile(delays, [0.5, 0.99, 1.0]).tolist(), strict=True))
    missed = int(np.maximum(np.diff(cycles) - 1, 0).sum())
    rounded = {name: round(percent, 1) for name, percent in load.items()}
    counted = dict(sorted(reactions.items()))
    total = round(sum(load.values()), 1)
    return Measured(client, total, rounded, quantiles, counted, len(cycles), missed, *(round(s, 1) for s in sizes))


def bare(host: str) -> None:
    """The library alone, with as much physics as fits in a line; ends with the signal."""
    from rtde_control import RTDEControlInterface
    from rtde_receive import RTDEReceiveInterface

    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))  # the library's threads inherit it
    receive, control = RTDEReceiveInterface(host), RTDEControlInterface(host)
    while True:
        begin = control.initPeriod()
        receive.getActualQ(), receive.getActualQd(), receive.getSafetyStatusBits()
        control.speedJ([1e-4 * force for force in receive.getActualTCPForce()], 40.0, PERIOD)
        control.waitPeriod(begin)


def show(m: Measured) -> str:
    threads = ", ".join(f"{name} {percent:.1f}" for name, percent in m.threads_percent.items())
    latency = " / ".join(f"{m.microseconds[name]:.0f}" for name in ("p50", "p99", "max"))
    cycles = ", ".join(f"{cycle}: {count}" for cycle, count in m.force_to_command_cycles.items())
    numbers = f"{m.missed} of {m.commands} | {m.resident_mb:.0f} / {m.proportional_mb:.0f}"
    return f"| {m.client} | {m.cpu_percent:.1f} ({threads}) | {latency} | {cycles} | {numbers} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0, help="for each client")
    parser.add_argument("--write", action="store_true", help=f"keep the numbers in {KEPT.name}")
    parser.add_argument("--bare", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bare:
        bare(options.bare)
    print(machine())
    print(
        "| client | CPU % of a core | state to command us p50 / p99 / max | force to command, robot cycles: times ",
        end="",
    )
    print("| missed cycles | memory MB resident / proportional |\n|---|---|---|---|---|---|")
    results = {}
    with EmulatorProcess("--priority", str(ROBOT_PRIORITY)) as emulator:
        run = [
            sys.executable,
            "-m",
            "ur_admittance",
            "run",
            "--robot",
            emulator.host,
            "--yes",
            "--name",
            "rtde-clients",
        ]
        for name, client, command in (
            ("ur_rtde", "run, ur_rtde", [*run, "--client", "ur_rtde"]),
            ("direct", "run, direct", [*run, "--client", "direct"]),
            ("bare", "bare ur_rtde loop", [sys.executable, "-m", "benchmarks.rtde_clients", "--bare", emulator.host]),
        ):
            emulator.tell("reset")
            results[name] = measure(client, command, emulator, 60.0 * options.minutes)
            print(show(results[name]), flush=True)
    if options.write:
        kept = {"machine": machine(), "minutes": options.minutes}
        kept |= {name: asdict(result) for name, result in results.items()}
        keep(KEPT, "client", kept)


if __name__ == "__main__":
    main()
