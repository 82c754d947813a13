"""Press: approach a surface, touch it, hold a force. As stiff as it may be, as late as the arm may be."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.robots.simulated import Environment
from ur_admittance_lab.episodes import Case, Trace
from ur_admittance_lab.scenarios.in_contact import pressing
from ur_admittance_lab.scenarios.outcome import settling_time
from ur_admittance_lab.tuning import unknowns as u
from ur_admittance_lab.tuning.score import Figure
from ur_admittance_lab.tuning.task import ACTIVATED, STOPPED, Task, stopped_share
from ur_admittance_lab.tuning.unknowns import Unknown

Array = NDArray[np.float64]

SECONDS, HELD = 5.0, 2.0  # [s] an episode, and its last part, in which it holds
GAPS = (0.002, 0.006)  # [m]
FRICTIONS = (0.05, 0.4)
TOUCH = 0.5  # [N] of true force is a contact


class Press(Task):
    """Approach, touch, hold."""

    name = "press"
    presets = ("probe_contact", "surface_following", "polishing", "assembly")

    @property
    def figures(self) -> dict[str, Figure]:
        force = self.knowledge.force
        return {
            "overshoot": Figure("%", 10.0, 100.0, "largest force over the wanted one"),
            "residual": Figure("N", 0.04 * force, 0.1 * force, f"peak to peak in the last {HELD:g} s"),
            "error": Figure("N", 0.02 * force, 0.05 * force, "of the mean force in that time"),
            "settling": Figure("s", 1.0, np.inf, "from the touch until within 5 %"),
            "approach": Figure("s", 1.0, np.inf, "until the touch"),
            "lost": Figure("-", 0.1, 0.0, "share of that time without contact"),
            "stopped": STOPPED,
        }

    @property
    def largest_force(self) -> float:
        return self.knowledge.force * (1.0 + self.figures["overshoot"].limit / 100.0)

    @property
    def slowest_settling(self) -> float:
        return SECONDS / math.log(self.knowledge.force / self.figures["error"].limit)

    def _unknowns(self) -> list[Unknown]:
        return [u.damping(), u.mass(), u.ratio(), u.max_damping(), u.approach_speed(), u.cutoff()]

    def fixed(self) -> dict[str, Any]:
        return pressing(2, self.knowledge.force)

    def _draw(self, rng: np.random.Generator, case: Case) -> Case:
        stiffness = self.knowledge.stiffness.log(rng)
        environment = Environment.floor(
            stiffness, gap=float(rng.uniform(*GAPS)), friction=float(rng.uniform(*FRICTIONS))
        )
        return replace(case, script=self.script(SECONDS), environment=environment)

    def curve(self, case: Case, trace: Trace) -> tuple[str, Array]:
        return "force of the surface [N]", trace.contact[:, 2]

    def measure(self, case: Case, trace: Trace) -> dict[str, float]:
        wanted = case.parameters.admittance.desired_wrench[2]
        force, t = trace.contact[:, 2], trace.t
        touched = np.flatnonzero(force > TOUCH)
        first = int(touched[0]) if len(touched) else len(force) - 1
        hold = force[t >= SECONDS - HELD]
        if len(hold) == 0:  # it diverged before
            hold = np.zeros(1)
        return {
            "overshoot": max(0.0, 100.0 * (float(force.max()) / wanted - 1.0)),
            "residual": float(np.ptp(hold)),
            "error": abs(float(hold.mean()) - wanted),
            "settling": settling_time(t[first:], force[first:], wanted, 0.05 * wanted),
            "approach": float(t[first]) - ACTIVATED,
            "lost": float(np.mean(hold < TOUCH)),
            "stopped": stopped_share(case, trace),
        }
