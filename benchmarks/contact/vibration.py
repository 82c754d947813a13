"""A tool that shakes itself while it presses 10 N: with the notch, with one that found the frequency, and without.

python -m benchmarks.contact.vibration              the table: a minute or two
python -m benchmarks.contact.vibration --quick      four of its rows
python -m benchmarks.contact.vibration --preset polishing
"""

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.signal import butter, sosfiltfilt

from ur_admittance.core.records import Mode, Status
from ur_admittance.params import Parameters
from ur_admittance.params import preset as preset_of
from ur_admittance.robots.simulated import Environment, Tool
from ur_admittance_lab.episodes.trace import Trace
from ur_admittance_lab.scenarios import Setup, Stage
from ur_admittance_lab.scenarios.in_contact import FORCE, pressing

FREQUENCIES = (30.0, 40.0, 50.0, 70.0, 100.0, 150.0, 200.0)  # [Hz]
AMPLITUDES = (5.0, 10.0, 20.0)  # [N] of the force on the tool, along the direction in which it presses
STIFFNESSES = (1e4, 1e5)  # [N/m]
NOTCHES = ("without", "given", "found")
SLOW_HZ = 10.0  # what the law can answer lies below
SETTLED, JUDGED = 3.0, 4.0  # [s] after the start; then for so long


@dataclass(frozen=True)
class Cell:
    hz: float
    amplitude: float
    stiffness: float
    notch: str
    error: float  # of the mean force [N]
    swing: float  # of the force below 10 Hz, peak to peak [N]
    damping: float  # the largest that was used [Ns/m]
    seen_hz: float  # taken out of the wrench at the end
    stopped: str  # why, empty: it did not


def press(hz: float, amplitude: float, stiffness: float, notch: str, preset: str = "", seed: int = 0) -> Cell:
    cell, _ = press_with_trace(hz, amplitude, stiffness, notch, preset, seed)
    return cell


def press_with_trace(
    hz: float, amplitude: float, stiffness: float, notch: str, preset: str = "", seed: int = 0
) -> tuple[Cell, Trace]:
    """The tool runs before the arm complies: at rest it is known, or found in two seconds."""
    base = preset_of(preset) if preset else Parameters()
    changes: dict[str, Any] = pressing(2, FORCE) | {"contact.approach_speed": [0.015, 0.2]}
    changes |= {"sensor.vibration_hz": hz if notch == "given" else 0.0, "sensor.find_vibration": notch == "found"}
    stage = Stage(
        Setup(preset=base.changed(changes), seed=seed),
        environment=Environment.floor(stiffness, gap=0.02),
        tool=Tool(mass=1.0, vibration_hz=hz),
    )
    stage.controller.deactivate()
    stage.run(0.5)
    stage.world.plants[0]["vibration"] = 0.0, 0.0, amplitude
    stage.run(2.0)
    stage.controller.activate(accept_load=notch == "without")  # nothing explains 5 N and more at rest
    stage.run(SETTLED)
    begin = stage.time
    stage.run(JUDGED)
    end = stage.time
    stopped = "" if stage.controller.mode == Mode.ACTIVE else Status(int(stage.controller.command["status"])).name
    seen_hz = float(stage.controller.command["vibration_hz"])
    stage.world.plants[0]["vibration"] = 0.0
    trace = stage.finish()
    part = trace.since(begin, end)
    force = part.contact[:, 2]
    low = sosfiltfilt(butter(4, SLOW_HZ, fs=1.0 / stage.period, output="sos"), force)
    swing = float(np.ptp(low[250:-250]))  # a filter that runs both ways is not true near its ends
    damping = float(trace.command["damping"][:, 2].max())
    return Cell(hz, amplitude, stiffness, notch, float(force.mean()) - FORCE, swing, damping, seen_hz, stopped), trace


def markdown(cells: list[Cell], whole: bool) -> str:
    """One row for each tool and surface, or the worst over the amplitudes; for each notch the error of the mean, the
    slow swing, the damping."""
    found: dict[tuple[str, str], dict[str, list[Cell]]] = {}
    for cell in cells:
        tool = f"{cell.hz:g} Hz, {cell.amplitude:g} N" if whole else f"{cell.hz:g} Hz"
        row = found.setdefault((tool, f"{cell.stiffness / 1e3:g} kN/m"), {})
        row.setdefault(cell.notch, []).append(cell)
    lines = ["| tool | surface | " + " | ".join(NOTCHES) + " |", "|---|---|" + "---|" * len(NOTCHES)]
    for place, row in found.items():
        lines.append("| " + " | ".join([*place, *(worst(row[notch]) for notch in NOTCHES)]) + " |")
    return "\n".join(lines)


def worst(cells: list[Cell]) -> str:
    stopped = [cell.stopped for cell in cells if cell.stopped]
    if stopped:
        return stopped[0]
    error, swing, damping = (max(abs(getattr(cell, name)) for cell in cells) for name in ("error", "swing", "damping"))
    return f"{error:.2f} N, {swing:.1f} N, {damping:.0f} Ns/m"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--whole", action="store_true", help="a row for each amplitude, in place of the worst of them")
    parser.add_argument("--preset", default="")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    tools = [(hz, n) for n in AMPLITUDES for hz in FREQUENCIES]
    tools = [(30.0, 10.0), (50.0, 20.0)] if given.quick else [(0.0, 0.0), *tools]
    print("error of the mean force, swing below 10 Hz (peak to peak), largest damping; worst of 5, 10 and 20 N")
    cells = []
    for hz, amplitude in tools:
        for stiffness in STIFFNESSES:
            for notch in NOTCHES:
                cells.append(press(hz, amplitude, stiffness, notch, given.preset, given.seed))
    print(markdown(cells, given.whole))


if __name__ == "__main__":
    main()
