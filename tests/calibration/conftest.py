"""Synthetic readings (an analytic model of their own) and simulated arms for the calibration tests."""

import os

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ur_admittance.calibration import Reading
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters

SWEEP = int(os.environ.get("SWEEP", "0"))
NOISE = np.repeat([0.1, 0.005], 3)
G = 9.80665


@pytest.fixture
def parameters():
    return Parameters().changed({"tool.tcp": [0, 0, 0.15, 0, 0, 0]})


class Bench:
    """A sensor with a tool, without physics: readings from the analytic model with SciPy's rotations."""

    def __init__(self, seed, mass=1.5, sign=1.0, tilt_deg=10.0):
        self.rng = np.random.default_rng(seed)
        self.mass, self.sign = mass, sign
        self.R_flange_sensor = Rotation.random(random_state=seed).as_matrix()
        self.com = self.rng.uniform(-0.1, 0.1, 3)
        self.bias = np.concatenate([self.rng.uniform(-20, 20, 3), self.rng.uniform(-1, 1, 3)])
        heading = self.rng.uniform(0, 2 * np.pi)
        tilt = np.radians(tilt_deg) * np.array([np.cos(heading), np.sin(heading), 0.0])
        self.gravity = Rotation.from_rotvec(tilt).apply([0.0, 0.0, -G])

    def wrench(self, R_base_flange):
        """What the environment (gravity) does to the tool, plus bias, before the sign."""
        weight = (R_base_flange @ self.R_flange_sensor).T @ (self.mass * self.gravity)
        return np.concatenate([weight, np.cross(self.com, weight)]) + self.bias

    def read(self, q, count=500, model="ur5e"):
        R, _ = robot_model(model).forward(q)
        mean = self.wrench(R) + NOISE / np.sqrt(count) * self.rng.standard_normal(6)
        return Reading(np.asarray(q), R, self.sign * mean, NOISE.copy(), count)

    def poses(self, count=12, spread_deg=(60.0, 60.0, 150.0)):
        home = robot_model("ur5e").home
        offsets = np.radians(self.rng.uniform(-1, 1, (count, 3)) * np.array(spread_deg))
        return [home + np.concatenate([np.zeros(3), offset]) for offset in offsets]

    def readings(self, count=12):
        return [self.read(q) for q in self.poses(count)]


def rotation_error_deg(A, B):
    return np.degrees(np.linalg.norm(Rotation.from_matrix(A.T @ B).as_rotvec()))
