"""An ideal arm for the proofs: it is where the last command told it to be, and its sensor sits at the TCP."""

import os

import numpy as np
import pytest

from ur_admittance.compiler.numba_form import compiled, through_library
from ur_admittance.core.chain import forward
from ur_admittance.core.kernel import mat3, mat6, vec3
from ur_admittance.core.records import COMMAND, PARAMS, SAMPLE, STATE, Mode, Request, new
from ur_admittance.core.tick import tick
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.params.record import fill

through_library(tick)
SWEEP = int(os.environ.get("SWEEP", "0"))  # number of random cases; 0: the short sweep of each test


@compiled
def run_ideal(params, state, samples, commands, wrench_base):
    """Ticks with q = last command; wrench_base acts on the tool at the TCP, base axes."""
    R, p, J = mat3(), vec3(), mat6()
    for k in range(samples.size):
        u = samples[k]
        if state[0].has_command != 0:
            u.q[:] = state[0].q_command
            u.qd[:] = state[0].qd_command
        forward(params[0].chain_rotation, params[0].chain_position, u.q, R, p, J)
        for i in range(3):
            u.wrench[i] = 0.0
            u.wrench[3 + i] = 0.0
            for j in range(3):
                u.wrench[i] += R[j, i] * wrench_base[k, j]
                u.wrench[3 + i] += R[j, i] * wrench_base[k, 3 + j]
        tick(params[0], state[0], u, commands[k])


class IdealArm:
    """One controller and its arm. `log = arm.run(seconds, ...)` gives one COMMAND record per tick."""

    def __init__(self, robot="ur5e", q=None, dt=0.002, active=True, **changes):
        self.model = robot_model(robot)
        self.dt = dt
        self.parameters = Parameters()
        self.params, self.state = new(PARAMS), new(STATE)
        self.p, self.s = self.params[0], self.state[0]
        self.set(
            **{
                "admittance.min_motion_threshold": 0.0,
                "admittance.min_motion_threshold_torque": 0.0,
                "admittance.filter_coefficient": 1.0,
            }
            | changes
        )
        self.q_start = np.array(self.model.home if q is None else q, float)
        self.target = (0, np.zeros(3), np.eye(3))
        if active:
            self.run(self.dt, request=Request.ACTIVATE)
            assert self.s["mode"] == Mode.ACTIVE

    def set(self, **changes):
        """Live parameter change, by dotted name."""
        self.parameters = self.parameters.changed(changes)
        fill(self.p, self.parameters, self.model)
        self.p["revision"] += 1

    def samples(self, count, request=Request.NONE, twist=0.0, wrench=0.0):
        u = new(SAMPLE, count)
        u["dt"] = self.dt
        u["q"] = self.s["q_command"] if self.s["has_command"] else self.q_start
        u["request"][0] = request
        u["reference_twist"] = twist
        u["reference_wrench"] = wrench
        u["target_id"], u["target_position"], u["target_rotation"] = self.target
        return u

    def run(self, seconds, push=0.0, **inputs):
        """push: (6,) or (n, 6) wrench on the tool at the TCP, base axes [N, Nm]."""
        count = max(1, round(seconds / self.dt))
        u = self.samples(count, **inputs)
        log = new(COMMAND, count)
        run_ideal(self.params, self.state, u, log, np.ascontiguousarray(np.broadcast_to(push, (count, 6)), float))
        return log

    def pose(self, q=None):
        """(R, p) of the TCP at the commanded joints."""
        R, p, J = np.empty((3, 3)), np.empty(3), np.empty((6, 6))
        forward(
            self.p["chain_rotation"],
            self.p["chain_position"],
            np.array(self.s["q_command"] if q is None else q),
            R,
            p,
            J,
        )
        return R, p


def pytest_collection_finish(session):
    """Compile before the first test: its time-out is for the test."""
    if any("tests/core" in item.nodeid for item in session.items):
        IdealArm()


@pytest.fixture(scope="session")
def ideal_arm():
    return IdealArm


@pytest.fixture(scope="session")
def sweep():
    """sweep(short): how many random cases to try."""
    return lambda short: SWEEP or short
