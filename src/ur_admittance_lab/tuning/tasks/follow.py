"""Follow: press on a flat, inclined or round surface and slide over it."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.robots.simulated import Environment
from ur_admittance_lab.episodes import Case, Trace
from ur_admittance_lab.episodes.normal_force import normal_force
from ur_admittance_lab.scenarios.in_contact import pressing
from ur_admittance_lab.scenarios.outcome import rms
from ur_admittance_lab.tuning import unknowns as u
from ur_admittance_lab.tuning.score import Figure
from ur_admittance_lab.tuning.task import ACTIVATED, STOPPED, Task, stopped_share
from ur_admittance_lab.tuning.unknowns import Unknown

Array = NDArray[np.float64]

SLIDES, STARTING, LONGEST = 2.5, 0.3, 3.0  # [s] begins to slide, until full speed, of sliding
SETTLED = 0.5  # [s] of sliding after which the error counts: the normal has been found
LENGTH = 0.1  # [m] slid at most
GAPS = (0.002, 0.006)  # [m]
FRICTIONS = (0.05, 0.4)
STEEPEST, RADII = math.radians(12.0), (0.25, 0.6)  # of inclines, of cylinders [m]
TOUCH = 0.5  # [N]


class Follow(Task):
    """Press and slide."""

    name = "follow"
    uses = ("force", "speed")
    presets = ("surface_following", "polishing")

    @property
    def figures(self) -> dict[str, Figure]:
        force = self.knowledge.force
        return {
            "error": Figure("N", 0.03 * force, 0.3 * force, "RMS of the normal force while sliding"),
            "overshoot": Figure("%", 20.0, 150.0, "largest normal force over the wanted one"),
            "undershoot": Figure("%", 20.0, 95.0, "smallest normal force while sliding under the wanted one"),
            "approach": Figure("s", 2.0, SLIDES - ACTIVATED, "until the touch"),
            "stopped": STOPPED,
        }

    @property
    def largest_force(self) -> float:
        return self.knowledge.force * (1.0 + self.figures["overshoot"].limit / 100.0)

    def _unknowns(self) -> list[Unknown]:
        touching = [u.damping(), u.mass(), u.ratio(), u.max_damping(), u.approach_speed(), u.cutoff()]
        return [*touching, u.bias_time(), u.normal_time()]

    def fixed(self) -> dict[str, Any]:
        return pressing(2, self.knowledge.force) | {"control_frame": "normal"}

    def _draw(self, rng: np.random.Generator, case: Case) -> Case:
        stiffness, speed = self.knowledge.stiffness.log(rng), self.knowledge.speed.uniform(rng)
        around: dict[str, Any] = {"gap": float(rng.uniform(*GAPS)), "friction": float(rng.uniform(*FRICTIONS))}
        angle, radius = float(rng.uniform(-STEEPEST, STEEPEST)), float(rng.uniform(*RADII))
        environment = (
            Environment.floor(stiffness, **around),
            Environment.incline(angle, stiffness, **around),
            Environment.cylinder(radius, stiffness, **around),
        )[int(rng.integers(3))]
        seconds = min(LONGEST, LENGTH / speed)
        script = self.script(SLIDES + seconds)
        twists = np.zeros((round(seconds / script.period), 6))
        since = np.arange(len(twists)) * script.period
        twists[:, 0] = speed * np.minimum(1.0, since / STARTING)  # nobody starts at full speed
        script.twist(SLIDES, seconds, twists)
        return replace(case, script=script, environment=environment)

    def curve(self, case: Case, trace: Trace) -> tuple[str, Array]:
        return "normal force [N]", normal_force(case, trace)

    def measure(self, case: Case, trace: Trace) -> dict[str, float]:
        wanted = case.parameters.admittance.desired_wrench[2]
        force, t = normal_force(case, trace), trace.t
        touched = np.flatnonzero(force > TOUCH)
        sliding = force[t >= SLIDES + SETTLED]
        if len(sliding) == 0:  # it diverged before
            sliding = np.zeros(1)
        return {
            "error": rms(sliding - wanted),
            "overshoot": max(0.0, 100.0 * (float(force.max()) / wanted - 1.0)),
            "undershoot": max(0.0, 100.0 * (1.0 - float(sliding.min()) / wanted)),
            "approach": float(t[touched[0]] if len(touched) else t[-1]) - ACTIVATED,
            "stopped": stopped_share(case, trace),
        }
