"""Loops around the tick for Numba: over many controllers; each of its steps over many cycles (steps.py times them)."""

from functools import cache

import numpy as np
from numba import prange

from ur_admittance.compiler import numba_form
from ur_admittance.core.adopt import adopt
from ur_admittance.core.chain import forward, twist_of
from ur_admittance.core.checks import OK, check_params, check_sample, check_state
from ur_admittance.core.kernel import kernel, mat6, record, vec6
from ur_admittance.core.law.led import take_references
from ur_admittance.core.law.ramps import ramp_parameters, track
from ur_admittance.core.law.twist import LawStep, advance, carry, desired_twist, hold_when_quiet, law_twist, pose_error
from ur_admittance.core.limits.choose import Middle, choose
from ur_admittance.core.limits.singular import damped_factor, smallest_singular_value
from ur_admittance.core.memory import stands_still
from ur_admittance.core.modes import change_mode
from ur_admittance.core.motion.following import follows, observe_lead, observe_speed, rejoin
from ur_admittance.core.motion.sending import send
from ur_admittance.core.motion.stopping import move_joints, remember_limits
from ur_admittance.core.spatial import Pose, copy_matrix
from ur_admittance.core.tick import clear_motion, keep_inside, known_period, report, tick
from ur_admittance.core.wrench.condition import condition
from ur_admittance.core.wrench.fusion import take_reading

BETWEEN = np.dtype(  # what one step hands to the next
    [
        *((name, float, (3, 3)) for name in ("R", "R_command", "R_control")),
        *((name, float, (3,)) for name in ("p", "p_command")),
        ("J", float, (6, 6)),
        *((name, float, (6,)) for name in ("law", "desired", "v_now", "x_next", "v_next", "wanted", "qd", "realised")),
        *((name, float) for name in ("silent", "force", "torque", "dt")),
    ],
    align=True,
)


@kernel
def put(to, what):
    """In a function of its own: see `record`."""
    to[:] = what


@kernel
def add(to, what):
    for j in range(6):
        to[j] += what[j]


@kernel
def law_step(b):
    return LawStep(b.R_control, b.v_now, b.x_next, b.v_next, b.law)


def check(P, S, U, C, B):
    for i in range(S.size):
        p, s, u, b = record(P, 0), record(S, i), record(U, i), record(B, i)
        s.ticks += 1
        take_references(s, u)
        found = check_sample(p, s, u, take_reading(p, s, u))
        if check_params(p) and check_state(s):
            b.dt = known_period(s, u.dt)
            remember_limits(p, s)
        change_mode(p, s, u, found, (b.force, b.torque), Pose(b.R, b.p))
        clear_motion(record(C, i))


def kinematics(P, S, U, C, B):
    for i in range(S.size):
        p, u, c, b = record(P, 0), record(U, i), record(C, i), record(B, i)
        forward(p.chain_rotation, p.chain_position, u.q, b.R, b.p, b.J)
        copy_matrix(b.R, c.R_tcp)
        put(c.p_tcp, b.p)


def parameters(P, S, U, C, B):
    for i in range(S.size):
        p, s, u, c, b = record(P, 0), record(S, i), record(U, i), record(C, i), record(B, i)
        adopt(p, s, u, c, True, b.R)
        ramp_parameters(p, s, u, b.dt)


def wrench(P, S, U, C, B):
    for i in range(S.size):
        p, s, u, c, b = record(P, 0), record(S, i), record(U, i), record(C, i), record(B, i)
        observe_speed(p, s, b.dt)
        rejoin(p, s, u, OK, True, True, stands_still(s))
        lead = observe_lead(p, s, u)
        b.force, b.torque = condition(p, s, u, b.R, c)
        follows(p, s, lead, b.dt)


def law(P, S, U, C, B):
    for i in range(S.size):
        p, s, u, c, b = record(P, 0), record(S, i), record(U, i), record(C, i), record(B, i)
        velocity = vec6()
        twist_of(b.J, u.qd, velocity)
        desired_twist(p, s, u, b.desired)
        carry(s, b.desired)
        b.silent = law_twist(p, s, c, velocity, b.desired, b.dt, law_step(b))
        pose_error(s, Pose(b.R, b.p), c.pose_error)
        track(p, s, c.pose_error, b.wanted)
        add(b.wanted, b.desired)
        add(b.wanted, b.law)


def joints(P, S, U, C, B):
    for i in range(S.size):
        p, s, c, b = record(P, 0), record(S, i), record(C, i), record(B, i)
        V, middle, factor = vec6(), vec6(), mat6()
        for j in range(6):
            V[j] = b.wanted[j]
            middle[j] = s.q_command[j] + 0.5 * b.dt * s.qd_command[j]
        forward(p.chain_rotation, p.chain_position, middle, b.R_command, b.p_command, b.J)
        sigma, exact = damped_factor(b.J, s.singular_vectors, factor)
        c.sigma_min = sigma if exact else smallest_singular_value(factor, s.weakest_direction)
        place = Middle(middle, b.p_command, b.J, factor, sigma)
        c.scale, c.limits = choose(p, s, place, V, b.p, b.qd, b.realised, b.dt)


def integrate(P, S, U, C, B):
    for i in range(S.size):
        p, s, u, c, b = record(P, 0), record(S, i), record(U, i), record(C, i), record(B, i)
        advance(p, s, law_step(b), b.desired, b.wanted, b.realised, b.dt)
        hold_when_quiet(p, s, b.R_control, b.silent != 0.0, b.desired, Pose(b.R, b.p), b.dt)
        move_joints(s, b.J, b.qd, p.response_time, b.dt)
        keep_inside(p, s, u)
        report(s, u, c)
        send(p, s, u, c)


def whole(P, S, U, C, B):
    for i in range(S.size):
        tick(record(P, 0), record(S, i), record(U, i), record(C, i))


def batch(P, S, U, C):
    """One cycle of many controllers, on all threads."""
    for i in prange(S.size):
        tick(record(P, i), record(S, i), record(U, i), record(C, i))


STEPS = {step.__name__: step for step in (check, kinematics, parameters, wrench, law, joints, integrate)}


@cache
def compiled(function, **options):
    """With the tick of the library in it: what is timed is what arms run."""
    numba_form.through_library(tick)
    return numba_form.compiled(function, **options)
