"""A controller with an arm that obeys exactly."""

import numpy as np
import pytest

from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import Mode
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters


class Bench:
    """The loop that a program writes: read, update, write."""

    def __init__(self, **changes):
        self.controller = AdmittanceController(robot_model("ur5e"), Parameters().changed(changes))
        self.q = np.array(self.controller.model.home)
        self.qd = np.zeros(6)

    def active(self):
        self.controller.configure()
        self.controller.activate()
        self.run(0.002)
        assert self.controller.mode == Mode.ACTIVE
        return self

    def run(self, seconds, wrench=0.0, **sample):
        """wrench: raw, sensor axes. Returns the commanded joint velocities, one row per cycle."""
        c, log = self.controller, []
        for _ in range(round(seconds / 0.002)):
            c.sample["dt"], c.sample["q"], c.sample["qd"], c.sample["wrench"] = 0.002, self.q, self.qd, wrench
            c.sample["joint_age"] = c.sample["wrench_age"] = 0.0
            for name, value in sample.items():
                c.sample[name] = value
            c.update()
            self.q[:], self.qd[:] = c.command["q"], c.command["qd"]
            log.append(self.qd.copy())
        return np.array(log)


@pytest.fixture
def bench():
    return Bench
