"""A simulated arm in lock-step, and short paths from its home."""

import numpy as np
import pytest

import ur_admittance as ua
from ur_admittance.core.chain import forward
from ur_admittance.teaching import curve
from ur_admittance.teaching.taught import Step, Taught


class Cell:
    """An arm with a tool, its controller, and what can be taught at home."""

    def __init__(self, model="ur5e", **changes):
        self.world = ua.World(model, ua.Tool(mass=1.0))
        parameters = ua.preset("hand_guiding").changed(self.world.parameters() | changes)
        self.controller = ua.AdmittanceController(self.world.model, parameters)
        self.robot = ua.SimulatedRobot(self.world)
        R, p, J = np.empty((3, 3)), np.empty(3), np.empty((6, 6))
        q = np.array(self.world.model.home)
        forward(
            self.controller.params["chain_rotation"].copy(),
            self.controller.params["chain_position"].copy(), q, R, p, J,
        )  # fmt: skip
        self.home = curve.to_vectors(curve.from_matrix(p, R)[None])[0]
        self.twists = []

    def taught(self, *steps, **fields):
        """Steps as (kind, value); poses and paths seen from home."""
        found = [Step(kind, self.home + value if kind in ("pose", "path") else value) for kind, value in steps]
        fields = {"arm": self.world.model.name, "tcp": tuple(self.controller.parameters.tool.tcp)} | fields
        return Taught(start_joints=tuple(self.world.model.home), steps=tuple(found), **fields)

    def run(self, stage, seconds=60.0, each=lambda time: None, **options):
        def watch(controller):
            self.twists.append(np.array(controller.command["twist"]))
            each(self.world.time)

        with self.robot:
            return ua.run(
                self.controller, self.robot, duration=seconds, activate=True, stages=[stage], on_tick=watch, **options
            )

    @property
    def p(self):
        return np.array(self.controller.command["p_tcp"])


@pytest.fixture
def cell():
    return Cell


@pytest.fixture
def bow():
    """A path of 0.2 m with a bend and a turn (n, 6), from home."""
    t = np.linspace(0.0, 1.0, 9)
    return np.stack([0.05 * t**2, 0.18 * t, 0.04 * np.sin(np.pi * t), 0.0 * t, 0.0 * t, 0.2 * t], axis=1)
