"""READ FIRST. One cycle of the controller, 500 times a second.

    0 check the sample, change the mode            checks.py, modes.py
    1 condition the wrench                         wrench.py
    2 from the wrench to a twist                   law.py
      2.1 normal of the surface that is touched    surface.py
      2.2 axes in which the law acts               control_axes.py
      2.3 contact: its stiffness, enough damping   contact.py
      2.4 damping that varies with speed and place variable.py
      2.5 mass, damping and spring of one axis     admittance.py
      2.6 axes under force control                 force_axes.py
    3 bounds: joints, walls, edge of the reach     bounds.py
    4 joint speeds that keep every limit           choose.py, singular.py, quadratic.py
    5 what could not be realised goes back into the law; joints are integrated from the last command

p: PARAMS, s: STATE, u: SAMPLE, c: COMMAND (records.py). No I/O, no allocation, no exceptions: the same records in give
the same bits out.
"""

import math

import numpy as np
from numba import njit, prange

from .bounds import SINGULARITY, stopping_time
from .chain import forward, twist_of
from .checks import (
    ACTIVE,
    BAD_PARAMS,
    INTERNAL_ERROR,
    LONGEST_PERIOD,
    OK,
    check_params,
    check_sample,
    check_state,
    is_sane,
)
from .choose import choose
from .compile import kernel, mat3, mat6, record, vec3, vec6
from .control_axes import NORMAL
from .law import advance, carry, desired_twist, law_twist, pose_error, ramp_parameters
from .modes import INACTIVE, SLACK, change_mode, clear_state, enter_fault, stands_still, start
from .obstacles import COLLISION as NEAR_LIMIT
from .obstacles import SHOWN, forget_near, nearest_pair
from .records import Limit, Status
from .singular import SINGULAR, damped_factor, smallest_singular_value
from .spatial import clip, copy_matrix, norm
from .surface import estimate_normal
from .wrench import ACCELERATION_CUTOFF_HZ, condition, smoothing

OVER_FORCE, OVER_TORQUE = int(Status.OVER_FORCE), int(Status.OVER_TORQUE)
POSITION_ERROR, ORIENTATION_ERROR = int(Status.POSITION_ERROR), int(Status.ORIENTATION_ERROR)
IK_FAILED, COLLISION = int(Status.IK_FAILED), int(Status.COLLISION)
ACCELERATION = int(Limit.LINEAR_ACCELERATION | Limit.ANGULAR_ACCELERATION)

BODY = 16.0  # evidence of a collision: first body + BODY * second
NOMINAL_PERIOD = 0.002  # [s] assumed for braking when the measured period is bad
BLIND_BRAKING = 5.0  # [rad/s2] when the parameters cannot be trusted
LEAD = 0.1  # [s] the command may lead the measurement by SLACK plus LEAD times the speed before it is pulled back
RESYNC_TIME = 0.5  # [s]
RESYNC_SPEED = 0.1  # share of the joint's speed limit with which it is pulled back at most


@kernel
def tick_one(p, s, u, c):
    """One cycle of one controller: reads p and u, updates s, fills all of c."""
    s.ticks += 1
    dt = u.dt if 0.0 < u.dt <= LONGEST_PERIOD else NOMINAL_PERIOD
    status, value, bound = check_sample(p, u)
    trusted = check_params(p)
    if not trusted:
        status, value, bound = BAD_PARAMS, 0.0, 0.0
    if not check_state(s):
        clear_state(s)
        enter_fault(s, INTERNAL_ERROR, 0.0, 0.0)

    R_measured, p_measured, J = mat3(), vec3(), mat6()
    usable = status == OK
    seen = usable or (trusted and is_sane(u.q) and u.joint_age <= p.joint_state_timeout)
    if seen:
        forward(p.chain_rotation, p.chain_position, u.q, R_measured, p_measured, J)
    if usable:
        if s.has_command == 0:
            start(s, u)
        force, torque = condition(p, s, u, R_measured, c)
        if force > p.max_force:
            status, value, bound = OVER_FORCE, force, p.max_force
        elif torque > p.max_torque:
            status, value, bound = OVER_TORQUE, torque, p.max_torque
        if status != OK:
            s.filter_ready = 0  # a spike must not linger in the filter
        if status == OK and s.mode == INACTIVE and p.shapes.on != 0:
            distance, one, two = nearest_pair(p, u.q, 0.0)
            if one >= 0:
                status, value, bound = COLLISION, one + BODY * two, distance
    change_mode(p, s, u, status, value, bound, R_measured, p_measured)

    clear_motion(c)
    if seen:
        copy_matrix(R_measured, c.R_tcp)
        c.p_tcp[:] = p_measured
    else:
        copy_matrix(s.R_ref, c.R_tcp)
        c.p_tcp[:] = s.p_ref
    if not usable:  # no wrench to trust
        c.wrench_sensor[:] = 0.0
        c.wrench_tcp[:] = 0.0
    if s.mode == ACTIVE:
        status, value, bound = comply(p, s, u, c, R_measured, p_measured, J, dt)
        if status != OK:
            enter_fault(s, status, value, bound)
    if s.mode != ACTIVE:
        forget_near(s)
        slow_down(p, s, J, trusted, dt)
    if usable:
        resynchronise(p, s, u, dt)
    report(s, u, c)


@kernel
def clear_motion(c):
    c.limits = 0
    c.scale = 1.0
    c.sigma_min = 0.0
    c.wrench_control[:] = 0.0
    c.pose_error[:] = 0.0
    c.damping[:] = 0.0


@kernel
def comply(p, s, u, c, R_measured, p_measured, J, dt):
    """Steps 2 to 5: the arm yields to the wrench. Returns (Status, value, bound)."""
    ramp_parameters(p, s, u, dt)

    if p.control_frame == NORMAL:
        velocity = vec6()
        twist_of(J, u.qd, velocity)
        estimate_normal(p, s.contact, c.wrench_tcp[:3], velocity[:3], dt)
    law, x_next, v_next = vec6(), vec6(), vec6()
    desired = vec6()
    desired_twist(p, s, u, desired)
    carry(s, desired)
    silent = law_twist(p, s, c, desired, dt, law, x_next, v_next)
    pose_error(s, R_measured, p_measured, c.pose_error)
    if norm(c.pose_error[:3]) > p.max_position_error:
        return POSITION_ERROR, norm(c.pose_error[:3]), p.max_position_error
    if norm(c.pose_error[3:]) > p.max_orientation_error:
        return ORIENTATION_ERROR, norm(c.pose_error[3:]), p.max_orientation_error

    V, wanted = vec6(), vec6()
    for i in range(6):
        wanted[i] = desired[i] + law[i] + p.tracking_gain[i] * (c.pose_error[i] - s.lag[i])
        V[i] = wanted[i]
    # The Jacobian in the middle of the coming step makes the joints second-order accurate.
    q_middle, R_command, p_command = vec6(), mat3(), vec3()
    for i in range(6):
        q_middle[i] = s.q_command[i] + 0.5 * dt * s.qd_command[i]
    forward(p.chain_rotation, p.chain_position, q_middle, R_command, p_command, J)
    qd, realised, C = vec6(), vec6(), mat6()
    sigma, exact = damped_factor(J, s.singular_vectors, C)
    c.sigma_min = sigma if exact else smallest_singular_value(C, s.weakest_direction)
    c.scale, c.limits = choose(p, s, J, C, V, sigma, q_middle, p_command, p_measured, qd, realised, dt)
    if s.near_distance > p.shapes.clearance + SHOWN and not c.limits & NEAR_LIMIT:
        forget_near(s)
    if c.sigma_min < SINGULAR:
        c.limits |= SINGULARITY
    s.contact.unlimited_time = 0.0 if c.limits & ~ACCELERATION else min(s.contact.unlimited_time + dt, 1.0)
    if not (is_sane(qd) and is_sane(realised)):
        return IK_FAILED, c.sigma_min, 0.0

    advance(p, s, u, c, law, desired, wanted, realised, x_next, v_next, silent, R_measured, p_measured, dt)
    move_joints(s, J, qd, p.response_time, dt)
    return OK, 0.0, 0.0


@kernel
def move_joints(s, J, qd, response_time, dt):
    """Joint positions are integrated from the last command, never from the lagging measurement."""
    weight = smoothing(ACCELERATION_CUTOFF_HZ, dt)
    twist = vec6()
    twist_of(J, qd, twist)
    for i in range(3):
        s.acceleration[i] += weight * ((twist[i] - s.twist[i]) / dt - s.acceleration[i])
    s.twist[:] = twist
    late = math.exp(-dt / response_time) if response_time > 0.0 else 0.0
    for i in range(6):
        s.lag[i] = late * s.lag[i] + (1.0 - late) * response_time * twist[i]
        s.qd_command[i] = qd[i]
        s.q_command[i] += qd[i] * dt


@kernel
def slow_down(p, s, J, trusted, dt):
    """Every mode but ACTIVE: brake along the present direction inside all limits, then hold. Needs no measurement."""
    if s.has_command == 0 or stands_still(s):
        s.qd_command[:] = 0.0
        s.twist[:] = 0.0
        s.acceleration[:] = 0.0
        s.lag[:] = 0.0
        return
    R, position, qd = mat3(), vec3(), vec6()
    if trusted:
        forward(p.chain_rotation, p.chain_position, s.q_command, R, position, J)
        twist_of(J, s.qd_command, s.twist)
        rate = 1.0 / stopping_time(p, s.twist, s.qd_command)
    else:
        J[:] = 0.0
        rate = BLIND_BRAKING / np.max(np.abs(s.qd_command))
    keep = max(0.0, 1.0 - rate * dt)
    for i in range(6):
        qd[i] = keep * s.qd_command[i]
    move_joints(s, J, qd, p.response_time if trusted else 0.0, dt)


@kernel
def resynchronise(p, s, u, dt):
    """A command that is further ahead of the arm than lag and load explain is pulled back slowly.
    Smaller differences stay: following the measurement would let a load sink."""
    for i in range(6):
        lead = s.q_command[i] - u.q[i]
        excess = abs(lead) - SLACK - LEAD * abs(s.qd_command[i])
        if excess > 0.0:
            step = min(excess * dt / RESYNC_TIME, RESYNC_SPEED * p.joint_velocity[i] * dt)
            s.q_command[i] -= math.copysign(step, lead)
        if p.joint_lower[i] <= u.q[i] <= p.joint_upper[i]:
            s.q_command[i] = clip(s.q_command[i], p.joint_lower[i], p.joint_upper[i])


@kernel
def report(s, u, c):
    c.stamp_ns = u.stamp_ns
    c.mode = s.mode
    c.status = s.status
    c.evidence[:] = s.evidence
    if s.has_command != 0:
        c.q[:] = s.q_command
    elif is_sane(u.q):  # no command yet: where the arm is, or what was commanded before
        c.q[:] = u.q
    c.qd[:] = s.qd_command
    c.twist[:] = s.twist
    c.p_ref[:] = s.p_ref
    copy_matrix(s.R_ref, c.R_ref)
    c.offset[:] = s.offset
    c.rate[:] = s.rate
    c.engagement = s.ramp
    for i in range(6):
        c.contact[i] = int(s.contact.touching[i])
    c.contact_stiffness[:] = s.contact.stiffness
    c.normal[:] = s.contact.normal
    c.near_distance = s.near_distance
    for i in range(2):
        c.near[i] = int(s.near[i])


@kernel
def tick(params, state, sample, command):
    """One cycle of each controller: four arrays of equal length, usually 1 (an array crosses from Python into compiled
    code in 0.2 us, a single record in 3 us)."""
    for i in range(state.size):
        tick_one(record(params, i), record(state, i), record(sample, i), record(command, i))


@njit(nogil=True, cache=True, error_model="numpy", parallel=True)
def tick_batch(params, state, sample, command):
    """The same on all cores, for tuning and stability maps."""
    for i in prange(state.size):
        tick_one(record(params, i), record(state, i), record(sample, i), record(command, i))
