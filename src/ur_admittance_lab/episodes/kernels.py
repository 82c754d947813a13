"""A whole episode in compiled code: script, arm, physics and controller, without Python in the cycle.

The same parts in the same order as the loop of runtime/loop.py with the simulated arm: the bits are the same.
"""

import math
from functools import cache

import numpy as np

from ur_admittance.core.kernel import call_at, doubles_at, kernel, record, vec6
from ur_admittance.core.records import Status
from ur_admittance.core.tick import tick
from ur_admittance.robots.simulated.kernels import controller_box as box
from ur_admittance.robots.simulated.kernels import holding as hand
from ur_admittance.robots.simulated.kernels.plant import advance

F = np.float64
I = np.int64  # noqa: E741

NO_FAULT, WRENCH_LOST, JOINTS_LOST, NAN_WRENCH, NAN_JOINTS, FROZEN, STOPPED = range(7)
PROTECTIVE_STOP = int(Status.PROTECTIVE_STOP)

# What happens in one cycle, before its physics.
ROW = np.dtype(
    [
        ("request", I),  # Request flags
        ("parameters", I),  # which of the sets is in force
        ("fault", I),  # one of the above
        ("hand", I),  # hand.OFF, PUSHES, HOLDS
        ("hand_values", F, 6),  # at the end of the period: wrench of a push, displacement of a grip, base axes
        ("hand_stiffness", F, 2),  # [N/m, Nm/rad] of a grip
        ("hand_damping", F, 2),  # [Ns/m, Nms/rad]
        ("hand_mass", F),  # [kg]
        ("reference_twist", F, 6),  # [m/s, rad/s]
        ("reference_wrench", F, 6),  # [N, Nm]
    ],
    align=True,
)


@kernel
def change_fault(arm, qd, fault):
    box.restore(arm)
    arm.fault = fault
    if fault == WRENCH_LOST:
        arm.wrench_lost = 1
    elif fault == JOINTS_LOST:
        arm.joints_lost = 1
    elif fault == FROZEN:
        arm.wrench_lost = arm.joints_lost = arm.frozen = 1
    elif fault == STOPPED:
        arm.external_status = PROTECTIVE_STOP
        box.brake(arm, qd)
    elif fault in (NAN_WRENCH, NAN_JOINTS):
        arm.corrupted = box.WRENCH if fault == NAN_WRENCH else box.Q
        arm.corrupt_value = math.nan


@kernel
def change_hand(plant, row, e):
    if row.hand == hand.PUSHES:
        hand.start_pushing(plant, row.hand_values)
    elif row.hand == hand.HOLDS:
        call_at(e.mj_kinematics, e.model, e.data)  # bodies are one physics step behind the joints
        plant.hand_stiffness[:] = row.hand_stiffness
        plant.hand_damping[:] = row.hand_damping
        plant.hand_mass = row.hand_mass
        hand.take_hold(plant, doubles_at(e.p_tool, (3,)), doubles_at(e.R_tool, (3, 3)))
    else:
        hand.let_go(plant)


@kernel
def prepare(plant, arm, row, e):
    """Hand and faults of the row, before the physics of its cycle."""
    if row.fault != arm.fault:
        change_fault(arm, doubles_at(e.qd, (6,)), row.fault)
    if row.hand != plant.hand:
        change_hand(plant, row, e)


@kernel
def react(plant, arm, p, s, row, u, c, e):
    """The rest of the cycle: read, tick, write."""
    q, qd = doubles_at(e.q, (6,)), doubles_at(e.qd, (6,))
    stamp_ns = np.int64(np.rint(plant.steps * e.h * 1e9))
    box.fill(arm, q, qd, plant.wrench, u, stamp_ns, arm.period, 0.0)
    u.request = row.request
    u.reference_twist[:] = row.reference_twist
    u.reference_wrench[:] = row.reference_wrench
    tick(p, s, u, c)
    if arm.velocity:
        box.take(arm, qd, c.qd)
    else:
        box.take(arm, qd, c.q)


@kernel
def move(plant, arm, row, e, target, noise):
    """The physics of a cycle, under the last command. False: the simulation has diverged."""
    box.aim(arm, plant.setpoint, doubles_at(e.qd, (6,)), target)
    hand.lead(plant, row.hand_values, arm.period)
    return advance(e, plant, target, noise)


@kernel
def change_parameters(p, revision):
    p.revision = revision


@kernel
def play(rows, sets, players, trace, noise):
    """Cycle after cycle; returns how many were done: fewer than rows when the simulation diverged.

    rows: (n,) ROW. sets: (m,) PARAMS. players: (1,) each, PARAMS in force, STATE, ARM, PLANT, ENGINE. trace: what every
    cycle gave, SAMPLE and COMMAND (n,), contact and hand (n, 6). noise: (n, 12)."""
    params, states, arms, plants, engines = players
    samples, commands, contacts, hands = trace
    target = vec6()
    in_force = 0
    revision = params[0].revision
    for k in range(rows.size):
        prepare(record(plants, 0), record(arms, 0), record(rows, k), record(engines, 0))
        if rows[k].parameters != in_force:
            in_force = rows[k].parameters
            revision += 1
            params[0] = sets[in_force]
            change_parameters(record(params, 0), revision)
        if k > 0:
            samples[k] = samples[k - 1]  # what a robot does not report stays, as in the one sample of the loop
            commands[k] = commands[k - 1]
            if not move(record(plants, 0), record(arms, 0), record(rows, k), record(engines, 0), target, noise[k]):
                return k
        react(record(plants, 0), record(arms, 0), record(params, 0), record(states, 0), record(rows, k),
              record(samples, k), record(commands, k), record(engines, 0))  # fmt: skip
        contacts[k] = plants[0].contact
        hands[k] = plants[0].hand_wrench
    return rows.size


@cache
def compiled_play():
    """``play`` as machine code, with the tick of the library in it: what is tried here is what arms run."""
    from ur_admittance.compiler import numba_form  # here: what needs no batch needs no Numba

    numba_form.through_library(tick)
    return numba_form.compiled(play)
