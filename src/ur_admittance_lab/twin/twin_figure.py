"""Measured and simulated side by side: the twin is given the recorded commands and forces, and both are drawn."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ur_admittance import figures
from ur_admittance.errors import CalibrationError
from ur_admittance.robots.simulated import FtSensor, Servo, World
from ur_admittance_lab.twin.found import Finding, Stretch
from ur_admittance_lab.twin.found.dynamics import Kinematics
from ur_admittance_lab.twin.found.filters import smoothed
from ur_admittance_lab.twin.found.servo import SPEED_AGE
from ur_admittance_lab.twin.twin import Twin
from ur_admittance_lab.twin.twin_file import MEANINGS

Array = NDArray[np.float64]

LONGEST = 60.0  # [s] that are simulated and drawn
CLOSE_UP = 0.6  # [s]
MEASURED, USUAL, TWIN = "measured", "usual simulation", "twin"
STYLES: dict[str, dict[str, Any]] = {
    MEASURED: {"color": "0.7", "linewidth": 3.5},
    USUAL: {"color": "tab:orange", "linewidth": 1.0, "linestyle": "--"},
    TWIN: {"color": "tab:blue", "linewidth": 1.2},
}
USUAL_SERVO = Servo(delay=0.010)  # what scenarios take for an arm that nobody has identified
MOST_POINTS = 4000
AXES = ("x", "y", "z")


@dataclass(frozen=True, eq=False)
class Comparison:
    """How far the TCP was from where it was commanded to be, and the force on the sensor; each (n, 3), base axes."""

    t: Array  # (n,) [s]
    deflection: dict[str, Array]  # by MEASURED, TWIN, USUAL [m]
    force: dict[str, Array]  # [N]

    @property
    def difference(self) -> float:
        """Deflection of the twin minus that of the arm, root mean square [m]."""
        return float(np.sqrt(np.mean(np.sum((self.deflection[TWIN] - self.deflection[MEASURED]) ** 2, axis=1))))


def compare(twin: Twin, stretch: Stretch) -> Comparison:
    """The twin, and the simulation's usual arm, driven through a recorded stretch."""
    n = min(len(stretch.q), round(LONGEST / stretch.period))
    pushes = _outer_wrench(twin, stretch)[: n + 1]
    lever = np.array(twin.tcp[:3])
    commanded, measured = (_tcp(stretch, angles[:n], lever) for angles in (stretch.command, stretch.q))
    deflection, force = {MEASURED: measured - commanded}, {MEASURED: stretch.wrench[:n, :3]}
    quiet = FtSensor(delay=twin.sensor().delay)  # one's own noise beside the recorded one shows nothing
    for name, servo, sensor in ((USUAL, USUAL_SERVO, FtSensor()), (TWIN, twin.servo(), quiet)):
        world = World(twin.model, twin.tool(), None, servo, sensor)
        q, felt = _replayed(world, stretch, pushes, n)
        simulated = _tcp(stretch, q, lever)
        offset = (measured - simulated).mean(axis=0)  # a wrong payload or bias: not a matter of the twin
        deflection[name], force[name] = simulated + offset - commanded, felt
    return Comparison(np.asarray(stretch.period * np.arange(n, dtype=np.float64)), deflection, force)


def _replayed(world: World, stretch: Stretch, pushes: Array, n: int) -> tuple[Array, Array]:
    """Joint angles (n, 6), and the force on the sensor without the tool's weight, base axes (n, 3)."""
    world.reset(stretch.command[0])
    world.push(lambda t: pushes[min(int(round(t / stretch.period)), len(pushes) - 1)])
    q, force = np.empty((n, 6)), np.empty((n, 3))
    for k in range(n):
        q[k], force[k] = world.q, world.wrench[:3]
        world.step(stretch.command[k], None, stretch.period)
    R = Kinematics.of(world.model, q).rotations[:, 6]
    return q, np.einsum("nij,nj->ni", R, force) - world.tool.mass * world.gravity


def _outer_wrench(twin: Twin, stretch: Stretch) -> Array:
    """What hands and surfaces did to the tool, about the TCP, base axes (n, 6): the reading of its own time, and what
    the tool's inertia took of it."""
    T = stretch.period
    wrench = smoothed(stretch.wrench, T, later=twin.value("sensor_delay") + 0.5 * T + SPEED_AGE)
    R, p_sensor = stretch.sensor_pose
    com = p_sensor + R @ stretch.mounting.com
    inertial = twin.value("tool_mass") * smoothed(com, T, derivative=2)
    p_tcp = _tcp(stretch, stretch.q, np.array(twin.tcp[:3]))
    force = wrench[:, :3] + inertial
    torque = wrench[:, 3:] + np.cross(p_sensor - p_tcp, wrench[:, :3]) + np.cross(com - p_tcp, inertial)
    return np.hstack([force, torque])


def _tcp(stretch: Stretch, q: Array, lever: Array) -> Array:
    at = Kinematics.of(stretch.model, q)
    return np.asarray(at.positions[:, 6] + at.rotations[:, 6] @ lever)


def draw(twin: Twin, comparison: Comparison) -> Figure:
    """Deflection along x, y, z and the force along one axis, a close-up of the liveliest moment, the numbers."""
    figure = Figure(figsize=(15, 9), layout="constrained")
    grid: Any = figure.add_gridspec(4, 3, width_ratios=(2.0, 1.4, 1.5))
    begin = _liveliest(comparison)
    lively = (comparison.t >= begin) & (comparison.t <= begin + CLOSE_UP)
    loudest = int(np.argmax(np.ptp(comparison.force[MEASURED][lively], axis=0)))
    rows = [(f"{axis} [mm]", 1e3, comparison.deflection, i) for i, axis in enumerate(AXES)]
    rows.append((f"force {AXES[loudest]} [N]", 1.0, comparison.force, loudest))
    for r, (label, factor, curves, i) in enumerate(rows):
        for c, (start, end) in enumerate(((0.0, comparison.t[-1]), (begin, begin + CLOSE_UP))):
            ax = figure.add_subplot(grid[r, c])
            inside = np.flatnonzero((comparison.t >= start) & (comparison.t <= end))
            inside = inside[:: max(1, len(inside) // MOST_POINTS)]
            for name, style in STYLES.items():
                ax.plot(comparison.t[inside], factor * curves[name][inside, i], label=name, **style)
            if c == 0:
                ax.axvspan(begin, begin + CLOSE_UP, color="#fff2cc", linewidth=0, zorder=0)
                ax.set_ylabel(label)
            if r == 0:
                ax.set_title(("measured minus commanded position of the TCP", "close-up")[c], fontsize=10)
            if r == 3:
                ax.set_xlabel("time [s]")
    figures.over_time(figure.axes)
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower left", ncols=3, fontsize=9)
    _table(figure.add_subplot(grid[:, 2]), twin, comparison)
    figure.suptitle(f"Twin of a {twin.robot}, from {', '.join(twin.logs)}", fontsize=12)
    return figure


def _liveliest(comparison: Comparison) -> float:
    """Start of the close-up: where the measured deflection changes most."""
    measured = comparison.deflection[MEASURED]
    step = comparison.t[1] - comparison.t[0]
    width = max(2, round(CLOSE_UP / step))
    if len(measured) <= width:
        return 0.0
    change = np.sum(np.diff(measured, axis=0) ** 2, axis=1)
    total = np.convolve(change, np.ones(width), mode="valid")
    return float(comparison.t[int(np.argmax(total))])


def _table(ax: Any, twin: Twin, comparison: Comparison) -> None:
    """The numbers with their deviations; grey: assumed."""
    ax.axis("off")
    lines = [(text, found) for name in MEANINGS for text, found in _lines(name, twin.values[name])]
    stiffness = [1e-3 * twin.arm(np.eye(3)[i], sliding=True).stiffness for i in range(3)]
    lines += [("", True), ("at the tool, along x, y, z of the base", True)]
    lines.append((f"  stiffness    {' '.join(f'{k:7.1f}' for k in stiffness)} kN/m", True))
    lines.append((f"  friction     {' '.join(f'{f:7.2f}' for f in twin.friction_at_tool())} N", True))
    lines.append((f"twin minus measured {1e3 * comparison.difference:.3f} mm rms", True))
    for i, (text, found) in enumerate(lines):
        colour = "black" if found else "0.55"
        ax.text(
            0.0, 1.0 - 0.034 * i, text, family="monospace", fontsize=9, color=colour, transform=ax.transAxes, va="top"
        )


def _lines(name: str, rows: tuple[Finding, ...]) -> list[tuple[str, bool]]:
    _, _, unit, factor, _ = MEANINGS[name]
    result = []
    for i, row in enumerate(rows):
        label = name.replace("_", " ") if len(rows) == 1 else f"{name} {i + 1}"
        result.append((f"{label:14} {shown(row, factor)} {unit}", row.found))
    return result


def shown(row: Finding, factor: float) -> str:
    """Value and deviation with the digits that the deviation leaves."""
    value, deviation = factor * row.value, factor * row.deviation
    if not row.found:
        return f"{value:8.3g} (assumed)"
    digits = int(np.clip(1 - np.floor(np.log10(max(deviation, 1e-6))), 0, 5))
    return f"{f'{round(value, digits) + 0.0:.{digits}f}':>8} ± {deviation:.{digits}f}"


def save(twin: Twin, comparison: Comparison, path: Path) -> None:
    figures.save(draw(twin, comparison), path, CalibrationError, dpi=110)
