"""A calm status in the terminal, shown by a process of its own: it only looks at the telemetry.

python -m ur_admittance.cli.status_line NAME
"""

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from ur_admittance.analysis.stability import margin_of_record
from ur_admittance.control.recovery import CLAMPED
from ur_admittance.core.enabling import HELD
from ur_admittance.core.faults import ENDED_BY_RESET, remedy, sentence
from ur_admittance.core.leader import WORDS as LEADERS
from ur_admittance.core.leader import Leader
from ur_admittance.core.limits.shapes_record import pair_words
from ur_admittance.core.records import Limit, Mode, Status
from ur_admittance.errors import UrAdmittanceError
from ur_admittance.params.own_motion import own_motion
from ur_admittance.runtime.registry import DEFAULT_NAME
from ur_admittance.runtime.telemetry import TelemetryReader

REFRESH_S = 0.25
COLOURS = {Mode.ACTIVE: "green", Mode.INACTIVE: "blue", Mode.STOPPING: "yellow", Mode.FAULT: "red"}
MM = 1e3  # per m


@contextlib.contextmanager
def status_process(name: str) -> Iterator[None]:
    """The status, shown while the block runs; nothing when the output is not a terminal."""
    if not sys.stdout.isatty():
        yield
        return
    child = subprocess.Popen([sys.executable, "-m", "ur_admittance.cli.status_line", name])
    try:
        yield
    finally:
        child.terminate()
        child.wait(timeout=5.0)


def lines(reader: TelemetryReader) -> Text:
    """Four lines about the last quarter of a second, one more about motion without a push, one about a recording that
    has ended, in a fault one more: the way out."""
    records = reader.drain()
    if len(records) == 0:
        return Text("waiting for the first cycle ...")
    last, command = records[-1], records[-1]["command"]
    mode = Mode(int(command["mode"]))
    force, torque = np.linalg.norm(command["wrench_tcp"][:3]), np.linalg.norm(command["wrench_tcp"][3:])
    speed = np.linalg.norm(command["twist"][:3])
    offset = np.linalg.norm(command["offset"][:3])
    period = 1e3 * records["loop"]["period"]
    latency = 1e3 * records["loop"]["latency"]
    flags = int(np.bitwise_or.reduce(records["command"]["limits"]))
    near = pair_words(command["near"], float(command["near_distance"]))
    acting = [str(limit.name).lower().replace("_", " ") for limit in Limit if limit and limit & flags]
    touching = int(np.count_nonzero(command["contact"]))
    vibration = f"   without {command['vibration_hz']:.1f} Hz of the tool" if command["vibration_hz"] > 0.0 else ""
    text = Text()
    held = mode == Mode.ACTIVE and int(command["status"]) in HELD
    text.append(f" {mode.name.lower():9}", style=f"bold {'yellow' if held else COLOURS[mode]}")
    led = LEADERS[Leader(int(last["loop"]["leader"]))] if mode == Mode.ACTIVE else ""
    text.append(f" {reader.reason()}{f'; {led}' if led else ''}\n")
    params = reader.params(int(last["loop"]["params_revision"]))
    alone = "" if params is None or mode == Mode.FAULT else own_motion(params)
    if alone:
        text.append(f" {alone}\n", style="yellow")
    if warning := reader.warning():
        text.append(f" {warning}\n", style="bold red")
    if mode == Mode.FAULT:
        text.append(f" {_way_out(command, reader.name)}\n", style="bold")
    text.append(
        f" force {force:6.1f} N   torque {torque:5.2f} Nm   speed {MM * speed:6.1f} mm/s   "
        f"offset {MM * offset:6.1f} mm   contact on {touching} axes{vibration}\n"
    )
    text.append(f" {_margin(params)}\n")
    text.append(
        f" loop {period.mean():.3f} ms, slowest {period.max():.3f} ms, read to write {np.median(latency):.3f} ms, "
        f"missed {int(last['loop']['missed'])}"
        + (f"   limits: {', '.join(acting)}" if acting else "")
        + (f" ({near})" if near else ""),
        style="dim",
    )
    return text


def _way_out(command: np.void, name: str) -> str:
    """What to do in a fault, now, in another terminal."""
    asked = "ur-admittance ask {0}" if name == DEFAULT_NAME else f"ur-admittance ask {{0}} --name {name}"
    if command["status"] == Status.RETREATING:
        return f"to end the retreat: {asked.format('stop')}"
    status = Status(int(command["hindrance"]))
    if status == Status.OK:
        return f"to go on: {asked.format('reset_fault')}, then activate"
    if status == Status.PROTECTIVE_STOP:
        return f"unlock it on the pendant or by: {asked.format('unlock')}; then {asked.format('reset_fault')}"
    if status in ENDED_BY_RESET:
        return f"{remedy(status).rstrip('.')}: {asked.format('reset_fault')}, then activate"
    words = sentence(status, command["hindrance_evidence"])
    return f"{words}; free the tool, or: {asked.format('retreat')}" if status in CLAMPED else f"not yet: {words}"


def _margin(params: np.void | None) -> str:
    """How stiff a surface the present parameters can handle without the help of the stabiliser."""
    if params is None:
        return ""
    margin = margin_of_record(params)
    stiffness = margin.stable_stiffness
    surface = "on any surface" if np.isinf(stiffness) else f"on surfaces up to {stiffness / 1e3:.1f} kN/m"
    guess = ", response time assumed" if margin.assumed else ""
    light = "" if margin.can_be_held else f"; too light for a hand: {margin.mass:.2g} of {margin.lightest_mass:.2g} kg"
    return f"stable {surface} (delay {1e3 * margin.loop_delay:.0f} ms{guess}){light}"


def show(name: str) -> None:
    """Until the controller ends or SIGTERM comes. Ctrl-C is the controller's business."""
    stop: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: stop.append(number))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    hint = Text(" Ctrl-C: slow down and stop", style="dim")
    with TelemetryReader(name) as reader, Live(console=Console(), auto_refresh=False, transient=True) as live:
        while not stop and not reader.ended:
            live.update(Group(lines(reader), hint), refresh=True)
            time.sleep(REFRESH_S)


if __name__ == "__main__":
    try:
        show(sys.argv[1])
    except UrAdmittanceError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
