"""Insert: a peg that is a little off and tilted finds its way into a hole by compliance alone."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.spatial import exp_so3
from ur_admittance.model import robot_model
from ur_admittance.robots.simulated import Environment
from ur_admittance_lab.episodes import Case, Trace
from ur_admittance_lab.scenarios.insertion import CHAMFER, DEPTH, GAP, joints_at
from ur_admittance_lab.tuning import unknowns as u
from ur_admittance_lab.tuning.score import Figure
from ur_admittance_lab.tuning.task import ACTIVATED, STOPPED, Task, stopped_share
from ur_admittance_lab.tuning.unknowns import Unknown

Array = NDArray[np.float64]

SECONDS = 10.0  # [s]
CLEARANCES = (0.0002, 0.0005)  # [m] on each side
OFF, TILT = 0.002, math.radians(2.0)  # largest error of the start pose: within the chamfer
FRICTIONS = (0.05, 0.3)
INSERTED = 0.9  # share of the depth that counts as in


class Insert(Task):
    """A peg into a hole."""

    name = "insert"
    presets = ("assembly",)

    @property
    def figures(self) -> dict[str, Figure]:
        force = self.knowledge.force
        return {
            "missing": Figure("mm", 2.0, 1e3 * (1.0 - INSERTED) * DEPTH, "depth that was not reached"),
            "time": Figure("s", 4.0, np.inf, "until it was in, or given up"),
            "peak_force": Figure("N", force, 5.0 * force, "largest contact force"),
            "peak_torque": Figure("Nm", 1.0, np.inf, "largest contact torque about the tip"),
            "stopped": STOPPED,
        }

    @property
    def largest_force(self) -> float:
        return self.figures["peak_force"].limit

    def _unknowns(self) -> list[Unknown]:
        return [u.damping(100.0), u.turning_damping(), u.mass(), u.approach_speed(), u.ratio(), u.cutoff()]

    def fixed(self) -> dict[str, Any]:
        return {
            "admittance.force_axes": [i == 2 for i in range(6)],
            "admittance.desired_wrench": [0.0, 0.0, self.knowledge.force, 0.0, 0.0, 0.0],
            "admittance.min_motion_threshold": 0.3,  # [N] the chamfer pushes gently
            "admittance.min_motion_threshold_torque": 0.03,  # [Nm]
        }

    def _draw(self, rng: np.random.Generator, case: Case) -> Case:
        tool = replace(case.tool, shape="peg")
        clearance, aside, axis = float(rng.uniform(*CLEARANCES)), *rng.uniform(0.0, 2.0 * math.pi, 2)
        off, tilt = OFF * math.sqrt(rng.uniform()), float(rng.uniform(0.0, TILT))  # evenly over the disc
        model, tcp, nominal = robot_model(case.robot), np.array(tool.tcp), np.array(case.q)
        R, p = model.forward(nominal)
        tip, turn = p + R @ tcp, np.empty((3, 3))
        exp_so3(tilt * np.array([math.cos(axis), math.sin(axis), 0.0]), turn)
        moved = tip + off * np.array([math.cos(aside), math.sin(aside), 0.0])
        q = joints_at(model, nominal, turn @ R, moved, tcp)
        environment = Environment.hole(
            tool.radius,
            clearance,
            self.knowledge.stiffness.log(rng),
            chamfer=CHAMFER,
            depth=DEPTH,
            friction=float(rng.uniform(*FRICTIONS)),
            at=(float(tip[0]), float(tip[1]), float(tip[2]) - GAP),
        )
        return replace(case, script=self.script(SECONDS), environment=environment, tool=tool, q=tuple(map(float, q)))

    def curve(self, case: Case, trace: Trace) -> tuple[str, Array]:
        return "contact force [N]", np.linalg.norm(trace.contact[:, :3], axis=1)

    def measure(self, case: Case, trace: Trace) -> dict[str, float]:
        assert case.environment.at is not None
        depth = case.environment.at[2] - trace.command["p_tcp"][:, 2]
        inside = np.flatnonzero(depth >= INSERTED * DEPTH)
        return {
            "missing": 1e3 * max(0.0, DEPTH - float(depth.max())),
            "time": (float(trace.t[inside[0]]) if len(inside) else SECONDS) - ACTIVATED,
            "peak_force": float(np.linalg.norm(trace.contact[:, :3], axis=1).max()),
            "peak_torque": float(np.linalg.norm(trace.contact[:, 3:], axis=1).max()),
            "stopped": stopped_share(case, trace),
        }
