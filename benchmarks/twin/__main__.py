"""Hidden arms identified from recordings of their work: true against found, and the edge of stability.

python -m benchmarks.twin                          five arms, three surfaces each: about three minutes
python -m benchmarks.twin --honesty 20             and how often the truth lies within one and two standard deviations
python -m benchmarks.twin --out docs/assets/twin   what the page about the twin shows

Ends with 1 when a predicted edge is off by more than 5 %: of arms without friction that from the eigenvalues, which
know none, of arms with friction that of the simulated twin.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.twin.boundary import STIFFNESSES, Devices, predicted, simulated
from benchmarks.twin.plants import Plant, draw, record
from ur_admittance.model import robot_model
from ur_admittance.robots.simulated import Servo
from ur_admittance_lab.twin import Twin, identify_twin
from ur_admittance_lab.twin.twin_figure import compare, save, shown
from ur_admittance_lab.twin.twin_file import MEANINGS

PLANTS = (2, 4, 8, 11, 14)  # five types of arm; the ur3e has friction
ALLOWED = 0.05  # error of a predicted edge
FIRST_OF_MANY = 100  # plants for the honesty of the deviations: others than those above


@dataclass(frozen=True)
class Edge:
    plant: int
    stiffness: float  # [N/m]
    true: float  # least damping with the hidden arm [Ns/m]
    linear: float  # from the eigenvalues with the twin's numbers
    twin: float  # in a simulation of the twin

    @property
    def errors(self) -> tuple[float, float]:
        return self.linear / self.true - 1.0, self.twin / self.true - 1.0


def truth(plant: Plant) -> dict[str, list[float]]:
    servo, sensor, model = plant.servo, plant.sensor, robot_model(plant.robot)
    assert servo.stiffness is not None
    return {
        "delay": [servo.delay],
        "lag": [1.0 / (2.0 * np.pi * servo.lag_hz)],
        "damping_ratio": [servo.damping_ratio],
        "stiffness": list(servo.stiffness),
        "rotors": [float(servo.armature_of(model)[0] / Servo().armature_of(model)[0])],
        "friction": list(servo.friction),
        "sensor_delay": [sensor.delay],
        "noise_force": [sensor.noise_force],
        "noise_torque": [sensor.noise_torque],
        "tool_mass": [plant.tool.mass],
    }


def identified(plant: Plant, folder: Path, figure: Path | None = None) -> Twin:
    """From nothing but the recording."""
    log = folder / f"arm_{plant.seed}.mcap"
    record(plant, log, seed=plant.seed)
    twin, _, stretches = identify_twin([log])
    if figure is not None:
        save(twin, compare(twin, max(stretches, key=lambda stretch: stretch.seconds)), figure)
    return twin


def table(plants: list[Plant], twins: list[Twin]) -> list[str]:
    """One column for each plant: true, then found with its deviation."""
    lines = ["| number | " + " | ".join(f"{p.robot}: true, found" for p in plants) + " |"]
    lines.append("|---" * (len(plants) + 1) + "|")
    for name, (count, _, unit, factor, _) in MEANINGS.items():
        for i in range(count):
            label = f"{name.replace('_', ' ')} {i + 1 if count > 1 else ''} [{unit}]".replace(" []", "").replace(
                "  ", " "
            )
            cells = []
            for plant, twin in zip(plants, twins, strict=True):
                true, row = factor * truth(plant)[name][i], twin.values[name][i]
                cells.append(f"{true:.4g}, {shown(row, factor).strip()}")
            lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return lines


def edges(plant: Plant, twin: Twin) -> list[Edge]:
    found = []
    for stiffness in STIFFNESSES:
        linear = predicted(twin, stiffness)
        true = simulated(Devices(plant.robot, plant.tool, plant.servo, plant.sensor), stiffness, linear)
        again = simulated(Devices(twin.robot, twin.tool(), twin.servo(), twin.sensor()), stiffness, linear)
        found.append(Edge(plant.seed, stiffness, true, linear, again))
    return found


def edge_table(plants: list[Plant], rows: list[Edge]) -> list[str]:
    robots = {plant.seed: plant for plant in plants}
    lines = ["| arm | surface | true | twin, eigenvalues | error | twin, simulated | error |", "|---" * 7 + "|"]
    for row in rows:
        plant = robots[row.plant]
        name = f"{plant.robot}{', with friction' if any(plant.servo.friction) else ''}"
        linear, twin = (f"{100 * error:+.1f} %" for error in row.errors)
        cells = [name, f"{row.stiffness / 1e3:g} kN/m", f"{row.true:.4g}", f"{row.linear:.4g}", linear]
        lines.append(f"| {' | '.join([*cells, f'{row.twin:.4g}', twin])} |")
    return lines


def deviations(seeds: Iterable[int], folder: Path) -> np.ndarray:
    """Found minus true over the standard deviation, of every number that was found."""
    z = []
    for seed in seeds:
        plant = draw(seed)
        twin = identified(plant, folder)
        for name, values in truth(plant).items():
            rows = zip(values, twin.values[name], strict=True)
            z += [(row.value - value) / row.deviation for value, row in rows if row.found]
        print(f"arm {seed}: {plant.robot}", file=sys.stderr)
    return np.array(z)


def main() -> int:
    parser = argparse.ArgumentParser(description="Identification of arms whose numbers are hidden.")
    parser.add_argument("--honesty", type=int, default=0, help="number of further arms for the test of the deviations")
    parser.add_argument("--out", type=Path, help="folder for the tables (Markdown) and the figure")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        plants = [draw(seed) for seed in PLANTS]
        if arguments.out:
            arguments.out.mkdir(parents=True, exist_ok=True)
        picture = arguments.out / "twin.png" if arguments.out else None
        twins = [identified(plant, Path(folder), picture if plant is plants[0] else None) for plant in plants]
        rows = [row for plant, twin in zip(plants, twins, strict=True) for row in edges(plant, twin)]
        text = [*table(plants, twins), "", *edge_table(plants, rows)]
        if arguments.honesty:
            z = np.abs(deviations(range(FIRST_OF_MANY, FIRST_OF_MANY + arguments.honesty), Path(folder)))
            shares = (
                f"{100 * np.mean(z < 1):.0f} % within one standard deviation, {100 * np.mean(z < 2):.0f} % within two"
            )
            text += ["", f"{len(z)} numbers of {arguments.honesty} further arms: {shares}."]
    print("\n".join(text))
    if arguments.out:
        (arguments.out / "twin_tables.txt").write_text("\n".join(text) + "\n", encoding="utf-8")
    rubbing = {plant.seed: any(plant.servo.friction) for plant in plants}
    missed = [row for row in rows if abs(row.errors[rubbing[row.plant]]) > ALLOWED]
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
