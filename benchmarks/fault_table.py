"""What happens when something breaks: each fault in the simulation, what the controller said, how the arm stopped.

    python benchmarks/fault_table.py [FILE.md]

tests/lab/bench/test_fault_table.py runs the same cases and checks them.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ur_admittance.core.records import Mode
from ur_admittance.recording.log import read_log
from ur_admittance_lab.scenarios import Setup, Stage

PUSH = [0.0, 25.0, 0.0, 0.0, 0.0, 0.0]  # [N]
NO_EFFECT = "no effect"


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    fault: str
    said: str  # the controller's sentence, or NO_EFFECT
    speed: float  # [m/s] when it happened
    noticed: float  # [s] from the event to the fault; 0 when there was no stop
    stopped: float  # [s] from the fault to standstill
    travel: float  # [m] from the event to rest
    deceleration: float  # [m/s2] largest

    @property
    def markdown(self) -> str:
        if self.said == NO_EFFECT:
            return f"| {self.fault} | {NO_EFFECT} | {self.speed:.2f} | | | | |"
        return (
            f"| {self.fault} | {self.said} | {self.speed:.2f} | {1e3 * self.noticed:.0f} | {1e3 * self.stopped:.0f} "
            f"| {1e3 * self.travel:.0f} | {self.deceleration:.1f} |"
        )


def in_motion(fault: str, happen: Callable[[Stage], None]) -> Row:
    """Push the arm to speed in lock-step, let it happen, watch until it stands."""
    stage = Stage(Setup())
    stage.world.push(PUSH)
    stage.run(0.6)
    speed = float(np.linalg.norm(stage.controller.command["twist"][:3]))
    begun, where = stage.time, stage.position
    happen(stage)
    noticed = stage.run(0.5, until=lambda s: s.controller.mode == Mode.FAULT)
    at = stage.time
    said = stage.controller.reason
    stage.run(1.5, until=lambda s: not np.any(s.controller.command["qd"]))
    stood = stage.time
    stage.world.let_go()
    stage.run(0.3)
    position = stage.world.pose()[1]
    travel = float(np.linalg.norm(position - where))
    trace = stage.finish()
    twist = trace.since(begun - trace.period, stood).command["twist"][:, :3]
    deceleration = float(np.linalg.norm(np.diff(twist, axis=0), axis=1).max() / trace.period)
    if not noticed:
        return Row(fault, NO_EFFECT, speed, 0.0, 0.0, 0.0, deceleration)
    return Row(fault, said, speed, at - begun, stood - at, travel, deceleration)


def clock_step(stage: Stage) -> None:
    """The next cycle claims that 3 s have passed."""
    read = stage.robot.read

    def wrong(sample: np.void) -> None:
        read(sample)
        sample["dt"] = 3.0
        stage.robot.read = read  # type: ignore[method-assign]

    stage.robot.read = wrong  # type: ignore[method-assign]


LOCKSTEP: dict[str, Callable[[Stage], None]] = {
    "wrench stream stops": lambda stage: stage.robot.drop_wrench(),
    "joint states stop": lambda stage: stage.robot.drop_joints(),
    "NaN in the wrench": lambda stage: stage.robot.corrupt("wrench"),
    "NaN in a joint angle": lambda stage: stage.robot.corrupt("q"),
    "force spike of 1e6 N": lambda stage: stage.robot.corrupt("wrench", 1e6),
    "clock steps by 3 s": clock_step,
    "connection hangs": lambda stage: stage.robot.freeze(),
    "protective stop": lambda stage: stage.robot.protective_stop(),
}


CHILD = """
import sys, time
from ur_admittance.robots.simulated.interactive_world import run_simulated
import ur_admittance.robots.simulated.interactive_world as live
live.IDLE_PUSH_N, live.IDLE_PUSH_S, live.IDLE_EVERY_S = 25.0, 30.0, 100.0
stall = float(sys.argv[2])
tick = live.InteractiveWorld.on_tick
def on_tick(self, controller):
    if stall and not hasattr(self, "stalled") and self.robot.world.time > 2.6:
        self.stalled = True
        time.sleep(stall)
    return tick(self, controller)
live.InteractiveWorld.on_tick = on_tick
run_simulated(name=sys.argv[1], restless=True, duration=float(sys.argv[3]), log=__import__("pathlib").Path(sys.argv[4]))
"""


def live_child(
    name: str, log: Path, stall: float = 0.0, duration: float = 4.0, environment: dict[str, str] | None = None
):
    """The simulated arm in real time, pushed by its own hand from 1.5 s on, in a process of its own."""
    command = [sys.executable, "-c", CHILD, name, str(stall), str(duration), str(log)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)


def of_recording(fault: str, log: Path, event: float | None = None) -> Row:
    """The row that a recording tells; event: time of it in the recording [s], default: the fault itself."""
    recording = read_log(log)
    command, seconds = recording.ticks["command"], recording.seconds
    speed = np.linalg.norm(command["twist"][:, :3], axis=1)
    slowing = np.flatnonzero((command["mode"] == Mode.FAULT) | (command["mode"] == Mode.STOPPING))
    if len(slowing) == 0:
        return Row(fault, NO_EFFECT, float(speed.max()), 0.0, 0.0, 0.0, 0.0)
    first = int(slowing[0])
    from ur_admittance.core.faults import sentence

    faulty = command["mode"][first] == Mode.FAULT
    said = f"stopped: {sentence(int(command['status'][first]), command['evidence'][first])}" if faulty else "slows down"
    stood = first + int(np.argmax(speed[first:] == 0.0))
    begun = seconds[first] if event is None else event
    travel = float(np.linalg.norm(command["p_tcp"][-1] - command["p_tcp"][first]))
    braking = slice(first - 1, stood + 1)
    claimed = recording.ticks["sample"]["dt"][braking][1:]
    return Row(
        fault,
        said,
        float(speed[first - 1]),
        float(seconds[first] - begun),
        float(seconds[stood] - seconds[first]),
        travel,
        largest_acceleration(command["twist"][braking, :3], claimed, seconds[braking]),
    )


def largest_acceleration(velocity: np.ndarray, claimed: np.ndarray, seconds: np.ndarray) -> float:
    """Largest step of the commanded velocity over the time it had [m/s2].

    velocity (n, 3); claimed (n - 1): the period each step was computed for, longer than the nominal one in a late
    cycle; seconds (n): the clock. Should the periods claim more time than the clock shows, the clock counts.
    """
    steps = np.linalg.norm(np.diff(velocity, axis=0), axis=1)
    excess = claimed.sum() / (seconds[-1] - seconds[0])
    return float((steps / claimed).max() * max(1.0, excess))


def stalled_loop(folder: Path) -> Row:
    log = folder / "stall.mcap"
    child = live_child(f"stall{os.getpid()}", log, stall=0.2)
    child.communicate(timeout=120.0)
    return of_recording("loop stalled by 200 ms", log)


def signalled(folder: Path, number: signal.Signals = signal.SIGTERM) -> Row:
    log, name = folder / "signal.mcap", f"signal{os.getpid()}"
    child = live_child(name, log, duration=30.0)
    _wait_until_fast(name, child)
    child.send_signal(number)
    child.communicate(timeout=60.0)
    return of_recording(number.name, log)


def reader_killed(folder: Path) -> Row:
    """A process that reads the telemetry (as page and status do) is stopped, then killed with SIGKILL."""
    log, name = folder / "reader.mcap", f"reader{os.getpid()}"
    child = live_child(name, log, duration=5.0)
    _wait_until_fast(name, child)
    watching = (
        f"import time; from ur_admittance.runtime.telemetry import TelemetryReader\nr = TelemetryReader({name!r})\n"
    )
    reader = subprocess.Popen([sys.executable, "-c", watching + "while True: r.drain(); time.sleep(0.01)"])
    time.sleep(0.5)
    reader.send_signal(signal.SIGSTOP)
    time.sleep(0.2)
    reader.kill()
    reader.wait()
    time.sleep(0.2)
    row = of_live(name, "telemetry reader stopped, then killed")
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=60.0)
    return row


def disk_full(folder: Path) -> Row:
    """The recorder meets a full disk (a limit on the size of its file stands for it); the loop goes on."""
    import resource

    log, name = folder / "full.mcap", f"full{os.getpid()}"
    command = [sys.executable, "-c", CHILD, name, "0", "30", str(log)]
    limit = (200_000, 200_000)

    # The ring of the telemetry is a file too, in memory: it is made before the limit would matter to the recorder.
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    _wait_until_fast(name, child)
    recorder = _child_of(child.pid)
    resource.prlimit(recorder, resource.RLIMIT_FSIZE, limit)
    _wait_until_warned(name)
    row = of_live(name, "disk full while recording")
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=60.0)
    return row


def of_live(name: str, fault: str) -> Row:
    """A row from a controller that still runs: was there an effect?"""
    from ur_admittance.runtime.telemetry import TelemetryReader

    with TelemetryReader(name) as reader:
        last = reader.latest()
        assert last is not None
        speed = float(np.linalg.norm(last["command"]["twist"][:3]))
        active = int(last["command"]["mode"]) == Mode.ACTIVE
        return Row(fault, NO_EFFECT if active else reader.reason(), speed, 0.0, 0.0, 0.0, 0.0)


def _wait_until_fast(name: str, child: subprocess.Popen) -> None:
    from ur_admittance.errors import UrAdmittanceError
    from ur_admittance.runtime.telemetry import TelemetryReader

    end = time.monotonic() + 120.0
    while time.monotonic() < end and child.poll() is None:
        try:
            with TelemetryReader(name) as reader:
                last = reader.latest()
                if last is not None and np.linalg.norm(last["command"]["twist"][:3]) > 0.2:
                    return
        except UrAdmittanceError:
            pass
        time.sleep(0.05)
    raise RuntimeError(f"the simulated arm did not get to speed; it said: {child.communicate(timeout=10.0)[0]}")


def _wait_until_warned(name: str) -> None:
    from ur_admittance.runtime.telemetry import TelemetryReader

    end = time.monotonic() + 30.0
    with TelemetryReader(name) as reader:
        while not reader.warning():
            if time.monotonic() > end:
                raise RuntimeError("the recorder did not meet the full disk")
            time.sleep(0.05)


def _child_of(pid: int) -> int:
    """Process id of the recorder."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
            command = (path.parent / "cmdline").read_text()
        except OSError:
            continue
        if int(fields[1]) == pid and "ur_admittance.recording.recorder" in command:
            return int(path.parent.name)
    raise RuntimeError("the recorder's process was not found")


LIVE: dict[str, Callable[[Path], Row]] = {
    "loop stalled by 200 ms": stalled_loop,
    "SIGTERM": signalled,
    "telemetry reader stopped, then killed": reader_killed,
    "disk full while recording": disk_full,
}

HEADER = """| fault | what it says | speed [m/s] | noticed [ms] | stopped after [ms] | travel [mm] | braking [m/s2] |
|---|---|---|---|---|---|---|
"""


def main() -> None:
    rows = [in_motion(name, happen) for name, happen in LOCKSTEP.items()]
    with tempfile.TemporaryDirectory() as folder:
        rows += [case(Path(folder)) for case in LIVE.values()]
    text = HEADER + "\n".join(row.markdown for row in rows) + "\n"
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text)
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
