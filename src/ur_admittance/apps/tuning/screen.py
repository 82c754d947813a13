"""Throw out hopeless candidates before anything is simulated: the stability model of analysis/ knows them.

A candidate is hopeless when some case would bounce even with SLACK times the damping that it has in that contact:
the damping of the law, or what the stabiliser raises it to. The slack covers what the model simplifies.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ur_admittance.analysis import Arm, Loop, loop_of
from ur_admittance.analysis.discrete import is_stable
from ur_admittance.apps.tuning.task import Task
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.params.record import loop_delay
from ur_admittance.simulation import Case

SLACK = 1.5  # times the damping with which a thrown-out candidate would still bounce
AXIS = 2  # all tasks touch along z


def arm_of(case: Case) -> Arm:
    """The arm in the case's pose: 1 / K = n^T J diag(1 / kp) J^T n along z at the TCP, its mass in proportion."""
    model = robot_model(case.robot)
    q = model.home if case.q is None else np.array(case.q)
    R, _ = model.forward(q)
    J = model.jacobian(q)
    along = J[2] + np.cross(J[3:].T, R @ np.array(case.tool.tcp))[:, 2]  # v + w x lever
    stiffness = 1.0 / float(np.sum(along**2 / case.servo.stiffness_of(model)))
    usual = Arm()
    return replace(usual, stiffness=stiffness, mass=usual.mass * stiffness / usual.stiffness)


def contact_damping(parameters: Parameters, stiffness: float, arm: Arm) -> float:
    """Damping [Ns/m] in contact with a surface [N/m]: the law's, raised by the stabiliser (core/contact.py)."""
    own = parameters.admittance.effective_damping[AXIS]
    if not (parameters.contact.stabilizer and parameters.admittance.force_axes[AXIS]):
        return own
    mass, r = loop_of(parameters, AXIS).mass, parameters.contact.ratio
    seen = stiffness * arm.stiffness / (stiffness + arm.stiffness)
    a = 0.5 * seen * loop_delay(parameters) / r
    return max(own, min(a + math.sqrt(a * a + seen * mass / r), parameters.contact.max_damping[0]))


def contact_loop(parameters: Parameters, case: Case, stiffness: float) -> Loop:
    """The loop of the case with the damping that it has in contact."""
    arm, servo = arm_of(case), case.servo
    lag = 0.0 if math.isinf(servo.lag_hz) else 1.0 / (2.0 * math.pi * servo.lag_hz)
    loop = loop_of(parameters, AXIS, arm, servo.delay + case.sensor.delay, lag)
    return loop.with_damping(contact_damping(parameters, stiffness, arm))


def hopeless_share(task: Task, parameters: Parameters, cases: Sequence[Case]) -> float:
    """Share of the cases that would bounce for certain; 0: worth a simulation."""
    certain = 0
    for case in cases:
        stiffness = task.touched(case)
        loop = contact_loop(parameters, case, stiffness)
        certain += not is_stable(loop.with_damping(SLACK * loop.damping), stiffness, case.environment.damping)
    return certain / len(cases)
