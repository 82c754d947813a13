"""The report in one picture: cost against the rivals, where it is lost, the worst case, the margin of the damping."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure as Picture
from numpy.typing import NDArray

from ur_admittance import figures
from ur_admittance.analysis.axis_loop import Arm, loop_of
from ur_admittance.params import Parameters
from ur_admittance_lab.episodes import Trace
from ur_admittance_lab.stability import minimum_damping
from ur_admittance_lab.tuning.score import BROKEN
from ur_admittance_lab.tuning.screen import AXIS, arm_of, contact_damping
from ur_admittance_lab.tuning.task import FRESH, Task
from ur_admittance_lab.tuning.tuning_result import Result

Array = NDArray[np.float64]

TUNED, PLAIN = "#00695c", "#c0392b"
PRESETS = ("#5d8aa8", "#d98e04", "#8e6bbf", "#7f8c8d", "#3d3d3d")
MARGIN_POINTS = 14  # of a curve of needed damping, each found by bisection


def colours(names: list[str]) -> dict[str, str]:
    """The tuned parameters first, plain admittance last, the presets between."""
    between = dict(zip(names[1:-1], PRESETS, strict=False))
    return {names[0]: TUNED, **between, names[-1]: PLAIN}


def draw(result: Result, worst: Mapping[str, Trace]) -> Picture:
    """`worst`: traces of the worst fresh case of the tuned parameters, by the name of who ran it."""
    picture, axes = figures.panels((11, 8), 2, 2)
    paint = colours([rival.name for rival in result.contest])
    _costs(axes[0, 0], result, paint)
    _where(axes[0, 1], result, paint)
    _worst(axes[1, 0], result, worst, paint)
    _margin(axes[1, 1], result, paint)
    for panel in axes.flat:
        panel.grid(alpha=0.25)
        panel.spines[["top", "right"]].set_visible(False)
    assert result.certificate is not None
    picture.suptitle(f"tune {result.task.name}: {result.task.ranges()}\n{result.certificate.sentence()}", fontsize=11)
    return picture


def _costs(panel: Any, result: Result, paint: dict[str, str]) -> None:
    for rival in result.contest:
        cost = np.sort(rival.costs)
        share = 100.0 * np.arange(len(cost), 0, -1) / len(cost)
        panel.step(cost, share, where="pre", color=paint[rival.name], linewidth=_width(rival.name), label=rival.name)
    panel.set(xscale="log", xlabel="cost of a case", ylabel="cases that cost at least this [%]", ylim=(0, 108))
    right = max(panel.get_xlim()[1], 2.0 * BROKEN)
    panel.set_xlim(right=right)
    panel.axvspan(BROKEN, right, color="0.5", alpha=0.12, linewidth=0)
    panel.text(BROKEN, 103, " a limit is broken", fontsize=8, color="0.35")
    panel.set_title(f"Cost on {len(result.contest[0].costs)} fresh cases", fontsize=10)


def _where(panel: Any, result: Result, paint: dict[str, str]) -> None:
    """Worst tenth of each figure over its scale, one group of bars per figure."""
    figures = {name: f for name, f in result.task.figures.items() if name != "stopped"}
    wide = 0.8 / len(result.contest)
    for i, rival in enumerate(result.contest):
        height = [rival.certificate.worst_tenth[name] / f.scale for name, f in figures.items()]
        x = np.arange(len(figures)) + (i + 0.5) * wide - 0.4
        panel.bar(x, height, wide, color=paint[rival.name], label=rival.name)
    for place, figure in enumerate(figures.values()):
        if np.isfinite(figure.limit) and figure.limit > 0.0:
            panel.plot([place - 0.42, place + 0.42], [figure.limit / figure.scale] * 2, color="black", linewidth=1.2)
    panel.set_xticks(
        range(len(figures)), [f"{name}\n/ {f.scale:g} {f.unit.strip('-')}" for name, f in figures.items()], fontsize=8
    )
    panel.set(yscale="log", ylabel="mean of the worst tenth, over its scale")
    bottom, top = panel.get_ylim()
    panel.set_ylim(max(bottom, 1e-3), 8.0 * top)  # room for the legend
    panel.legend(fontsize=8, frameon=False, loc="upper right", ncols=2)
    panel.set_title("Where it is lost (black: the limit)", fontsize=10)


def _worst(panel: Any, result: Result, worst: Mapping[str, Trace], paint: dict[str, str]) -> None:
    assert result.certificate is not None
    case = result.task.case(result.seed, FRESH, result.certificate.worst_case)
    label, highest = "", 0.0
    for name, trace in reversed(list(worst.items())):  # the tuned one on top
        label, curve = result.task.curve(case, trace)
        plain = name == result.contest[-1].name
        highest = highest if plain else max(highest, float(np.max(curve)))
        style = {"linewidth": 0.8, "alpha": 0.6} if plain else {"linewidth": _width(name)}
        panel.plot(trace.t[: len(curve)], curve, color=paint[name], label=name, **style)
    panel.set(xlabel="time [s]", ylabel=label, ylim=(-0.05 * highest, 1.6 * highest))  # a bounce is cut off
    stiffness = case.environment.stiffness
    panel.set_title(
        f"Worst fresh case of the tuned: {case.robot}, {stiffness / 1e3:.3g} kN/m, {1e3 * case.servo.delay:.1f} ms",
        fontsize=10,
    )
    panel.legend(fontsize=8, loc="upper right")


def _margin(panel: Any, result: Result, paint: dict[str, str]) -> None:
    """Damping in contact against what the stability model needs, for the earliest and the latest arm."""
    task, known = result.task, result.task.knowledge
    low, high = known.stiffness.low, known.stiffness.high
    stiffness = np.geomspace(low, max(high, 1.01 * low), MARGIN_POINTS)
    arm = stiffest_arm(task, result.seed)
    tuned = result.contest[0].parameters
    early, late = (needed(tuned, stiffness, arm, delay) for delay in (known.delay.low, known.delay.high))
    panel.fill_between(
        stiffness, early, late, color="0.5", alpha=0.3, linewidth=0, label="needed, shortest to longest delay"
    )
    demanded = task.reserve * np.array(late)
    panel.plot(stiffness, demanded, ":", color="0.3", linewidth=1.2, label=f"{task.reserve:g} times the needed")
    panel.fill_between(stiffness, 0.0, early, color="0.5", alpha=0.12, linewidth=0)
    for rival in result.contest:
        damping = [contact_damping(rival.parameters, float(k), arm) for k in stiffness]
        panel.plot(stiffness, damping, color=paint[rival.name], linewidth=_width(rival.name))
    panel.set(xscale="log", yscale="log", xlabel="stiffness of the surface [N/m]", ylabel="damping in contact [Ns/m]")
    panel.set_title("Margin: below the band it bounces", fontsize=10)
    panel.legend(fontsize=8, frameon=False, loc="upper left")


def needed(parameters: Parameters, stiffness: Array, arm: Arm, delay: float) -> list[float]:
    """Least damping [Ns/m] for each surface, from the eigenvalues, with the filter and mass of these parameters."""
    loop = loop_of(parameters, AXIS, arm, delay)
    return [minimum_damping(loop, float(k)) for k in stiffness]


def stiffest_arm(task: Task, seed: int) -> Arm:
    """The stiffest of the arms and poses of some fresh cases: it needs the most damping."""
    return max((arm_of(task.case(seed, FRESH, i)) for i in range(20)), key=lambda arm: arm.stiffness)


def _width(name: str) -> float:
    return 2.2 if name == "tuned" else 1.2
