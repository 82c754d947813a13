"""Guide: a hand leads the tool to a place, holds still, lets go; then it presses the tool onto a table."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.robots.simulated import Environment
from ur_admittance_lab.episodes import Case, Trace
from ur_admittance_lab.scenarios.outcome import rms
from ur_admittance_lab.tuning import unknowns as u
from ur_admittance_lab.tuning.score import Figure
from ur_admittance_lab.tuning.task import STOPPED, Task, stopped_share
from ur_admittance_lab.tuning.unknowns import Unknown

Array = NDArray[np.float64]

GRABBED = 0.3  # [s]
LEAD, STILL, FREE, LOWER, PRESSED = 1.2, 1.0, 0.6, 2.5, 2.0  # [s] led, held still, let go, lowered, pressed on
HELD, RELEASED = GRABBED + LEAD, GRABBED + LEAD + STILL  # [s] begins of these parts
LOWERED = RELEASED + FREE
SECONDS = LOWERED + LOWER + PRESSED
FASTEST_MOMENT = 1.875  # of a minimum-jerk motion over its mean speed
GRIPS, GRIP_RATIOS = (300.0, 2000.0), (0.3, 0.8)  # [N/m] of a loose and a firm hand, damping ratio of a hand
HAND_MASS = 1.5  # [kg] that this ratio refers to
GRIPPED = 0.67  # share of the damping in the model's view that a hand on the tool can do with
PRESSES = (10.0, 30.0)  # [N] of the hand onto the table
GAPS = (0.01, 0.03)  # [m] above the table at the start


class Guide(Task):
    """Guided by hand."""

    name = "guide"
    uses = ("speed",)
    presets = ("hand_guiding",)

    @property
    def figures(self) -> dict[str, Figure]:
        return {
            "effort": Figure("N", 8.0, np.inf, "mean force of the hand while it leads"),
            "peak": Figure("N", 20.0, 60.0, "largest force of the hand while it leads"),
            "trailing": Figure("mm", 5.0, 30.0, "between tool and hand after holding still for 1 s"),
            "shaking": Figure("N", 0.3, 3.0, "RMS of the hand's force about its mean while it holds still"),
            "coasting": Figure("mm", 2.0, 20.0, "that the tool moves on after the hand has let go"),
            "bounce": Figure("N", 1.0, 5.0, "peak to peak of the table's force in the last second of pressing"),
            "stopped": STOPPED,
        }

    def _unknowns(self) -> list[Unknown]:
        return [u.damping(10.0, 300.0), u.mass(1.5, 15.0), u.cutoff(), u.threshold(), u.travel_damping(), u.ratio()]

    def fixed(self) -> dict[str, Any]:
        return {}

    @property
    def reserve(self) -> float:
        return GRIPPED  # the hand damps too, which the model does not count

    def touched(self, case: Case) -> float:
        return GRIPS[1]

    def _draw(self, rng: np.random.Generator, case: Case) -> Case:
        k = self.knowledge
        stiffness, speed = k.stiffness.log(rng), k.speed.uniform(rng)
        grip = math.exp(rng.uniform(math.log(GRIPS[0]), math.log(GRIPS[1])))
        damping = 2.0 * float(rng.uniform(*GRIP_RATIOS)) * math.sqrt(HAND_MASS * grip)
        place = rng.normal(size=3)
        place *= speed * LEAD / FASTEST_MOMENT / np.linalg.norm(place)
        place[2] = abs(place[2])  # away from the table
        press, gap = float(rng.uniform(*PRESSES)), float(rng.uniform(*GAPS))
        down = np.array([0.0, 0.0, -(place[2] + gap + press / grip)])
        script = self.script(SECONDS)
        firm: dict[str, Any] = {"stiffness": (grip, 0.015 * grip), "damping": (damping, 0.015 * damping)}
        script.grab(GRABBED, _moved(place, LEAD, STILL, script.period), **firm)
        script.grab(LOWERED, _moved(down, LOWER, PRESSED, script.period), **firm)
        return replace(case, script=script, environment=Environment.floor(stiffness, gap=gap))

    def curve(self, case: Case, trace: Trace) -> tuple[str, Array]:
        return "force of the hand [N]", np.linalg.norm(trace.hand[:, :3], axis=1)

    def measure(self, case: Case, trace: Trace) -> dict[str, float]:
        def part(start: float, end: float) -> slice:
            return slice(round(start / trace.period), round(end / trace.period))

        hand, p = np.linalg.norm(trace.hand[:, :3], axis=1), trace.command["p_tcp"]
        lead, still = hand[part(GRABBED, HELD)], trace.hand[part(HELD + 0.5 * STILL, RELEASED), :3]
        coast, pressed = p[part(RELEASED, LOWERED)], trace.contact[part(SECONDS - 1.0, SECONDS), 2]
        if trace.diverged or len(pressed) == 0:
            return {name: 10.0 * figure.scale for name, figure in self.figures.items()} | {"stopped": 1.0}
        target = p[part(GRABBED, HELD)][0] + case.script.rows["hand_values"][part(0.0, RELEASED)][-1, :3]
        return {
            "effort": float(lead.mean()),
            "peak": float(lead.max()),
            "trailing": 1e3 * float(np.linalg.norm(coast[0] - target)),
            "shaking": rms(np.linalg.norm(still - still.mean(axis=0), axis=1)),
            "coasting": 1e3 * float(np.linalg.norm(coast - coast[0], axis=1).max()),
            "bounce": float(np.ptp(pressed)),
            "stopped": stopped_share(case, trace),
        }


def _moved(by: Array, seconds: float, still: float, period: float) -> Array:
    """Displacements (n, 6) of a hand that moves by `by` [m] with minimum jerk, then holds still."""
    rows = np.zeros((round((seconds + still) / period), 6))
    s = np.clip(np.arange(1, len(rows) + 1) * period / seconds, 0.0, 1.0)
    rows[:, :3] = np.outer(s**3 * (10.0 - 15.0 * s + 6.0 * s**2), by)
    return rows
