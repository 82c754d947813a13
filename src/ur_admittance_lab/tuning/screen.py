"""Refuse candidates before anything is simulated: the stability model and two lines of algebra know them.

    no reserve           the loop would bounce with the damping that it has in contact divided by `--reserve`
    hits too hard        until the arm responds it moves on: the force grows by K_ser v T beyond the wanted one
    never settles        the force settles with D / K_ser

The first is a demand, not a forecast: simulation alone would find parameters that just do not bounce, and a real arm is
never quite the simulated one. The others must fail with a factor of SLACK to spare, for what the formulas leave out.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ur_admittance.analysis.axis_loop import Arm, Loop, loop_of
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.params.record import loop_delay
from ur_admittance_lab.episodes import Case
from ur_admittance_lab.stability.eigenvalues import is_stable, minimum_damping
from ur_admittance_lab.tuning.task import Task

SLACK = 1.5
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
    """Damping [Ns/m] in contact with a surface [N/m]: the law's, raised by the stabiliser (core/contact)."""
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


def refused(task: Task, parameters: Parameters, case: Case) -> bool:
    """Whether these parameters are not worth a simulation of this case."""
    stiffness = task.touched(case)
    loop = contact_loop(parameters, case, stiffness)
    if not is_stable(loop.with_damping(loop.damping / task.reserve), stiffness, case.environment.damping):
        return True
    if not parameters.admittance.force_axes[AXIS]:
        return False
    wanted, own = task.knowledge.force, parameters.admittance.effective_damping[AXIS]
    in_series = stiffness * loop.arm.stiffness / (stiffness + loop.arm.stiffness)
    speed = min(parameters.contact.approach_speed[0], wanted / own)
    too_hard = in_series * speed * loop.loop_delay > SLACK * (task.largest_force - wanted)
    return too_hard or own / in_series > SLACK * task.slowest_settling


def refused_share(task: Task, parameters: Parameters, cases: Sequence[Case]) -> float:
    """Share of the cases for which they are refused; 0: worth a simulation."""
    return sum(refused(task, parameters, case) for case in cases) / len(cases)


def reserve(task: Task, parameters: Parameters, case: Case) -> float:
    """Damping in contact over the least that the stability model needs in this case."""
    stiffness = task.touched(case)
    loop = contact_loop(parameters, case, stiffness)
    return loop.damping / minimum_damping(loop, stiffness, case.environment.damping)
