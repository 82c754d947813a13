"""Limit of the reference: it keeps its line. It slows down where the joints would have to be too fast, and it stops in
front of a singular pose.

It is not damped (singular.py): that takes only the part that the arm cannot do, and bends the path. All of the
reference loses the same share of its speed, also while it accelerates: position and orientation keep step.

The room to a singular pose is sigma^2 - FLOOR^2, sigma the smallest singular value: where the arm can go no further,
sigma^2 falls linearly along the line. It is approached as if it were a wall. Damping, for hands, begins below FLOOR.
"""

from ur_admittance.core.chain import forward, twist_of
from ur_admittance.core.kernel import kernel, mat3, mat6, vec3, vec6
from ur_admittance.core.limits.approach import NEAR_RATE, PLANNED, stoppable_speed, stopping_time
from ur_admittance.core.limits.joints import JOINT_ACCELERATION, JOINT_VELOCITY
from ur_admittance.core.limits.reach import ELBOW, SINGULARITY, straightening
from ur_admittance.core.limits.singular import SINGULAR, curve_speed, damped_inverse, inverse_factor, solve
from ur_admittance.core.spatial import norm

FLOOR = 1.1 * SINGULAR  # [m/rad] above what is damped, by more than the reference overshoots
LOOK = 1e-4  # [rad] that the fastest joint moves to where the singular value is looked at again
LEVER = 2.0  # [m] it changes by less per radian of the joints
BENT = 1e-3  # share of a twist that damping may take: 1 mm beside a line of 1 m


@kernel
def pace(p, s, middle, desired):
    """(share of the desired twist at which the arm can go on along it, Limit flags)"""
    linear, angular = norm(desired[:3]), norm(desired[3:])
    share, flags = 1.0, 0
    if p.keep_line != 0.0 and (linear > 0.0 or angular > 0.0):
        share = min(share_of_speed(linear, s.led_speed[0], p.max_acceleration[0] * s.period), share)
        share = min(share_of_speed(angular, s.led_speed[1], p.max_acceleration[1] * s.period), share)
        share, flags = joint_pace(p, s, middle, desired, share)
    s.led_speed[0], s.led_speed[1] = share * linear, share * angular
    return share, flags


@kernel
def share_of_speed(speed, before, step):
    return (before + step) / speed if speed > before + step else 1.0


@kernel
def joint_pace(p, s, middle, desired, share):
    """What the joints leave of that share."""
    dt, now, qd, flags = s.period, vec6(), vec6(), 0
    twist_of(middle.J, s.qd_command, now)
    time = stopping_time(p, now, s.qd_command)
    damped_inverse(middle.J, middle.C, desired, qd)
    total, fastest, size, along = 0.0, 0.0, 0.0, 0.0
    for i in range(6):
        total += abs(qd[i])
        fastest = max(fastest, abs(qd[i]))
        size += qd[i] * qd[i]
        along += qd[i] * s.qd_command[i]
    curve = curve_speed(p, middle.q, s.singular_vectors, desired, qd, middle.sigma)
    if curve < share:
        share, flags = curve, JOINT_ACCELERATION
    for i in range(6):
        if share * abs(qd[i]) > p.joint_velocity[i]:
            share, flags = p.joint_velocity[i] / abs(qd[i]), JOINT_VELOCITY
    straighten = straightening(p, s, time, dt)
    bending = -qd[ELBOW] if s.q_command[ELBOW] > 0.0 else qd[ELBOW]
    if share * bending > straighten:
        share, flags = straighten / bending, SINGULARITY
    if middle.sigma - FLOOR > 2.0 * LEVER * total * max(1.0 / NEAR_RATE, time / PLANNED + 3.0 * dt):
        return share, flags
    J, R, position, q = mat6(), mat3(), vec3(), vec6()
    ahead = LOOK / fastest
    for i in range(6):
        q[i] = middle.q[i] + ahead * qd[i]
    forward(p.chain_rotation, p.chain_position, q, R, position, J)
    room = room_along(middle.J, s.weakest_direction)
    closing = (room - room_along(J, s.weakest_direction)) / ahead
    most = stoppable_speed(room, closing * min(1.0, along / size), time, dt)
    if share * closing > most and (room > 0.0 or bends(middle.J, qd, desired)):
        share, flags = most / closing, SINGULARITY
    return share, flags


@kernel
def bends(J, qd, desired):
    """Whether damping keeps the arm from that twist: it began in a singular pose, or a hand led it into one."""
    got, lost, size = vec6(), 0.0, 0.0
    twist_of(J, qd, got)
    for i in range(6):
        lost += (got[i] - desired[i]) ** 2
        size += desired[i] ** 2
    return lost > BENT * BENT * size


@kernel
def room_along(J, weakest):
    """By how much the square of the singular value of that direction, 1 / (w' (J J')^-1 w), is above that of FLOOR. Its
    change with J is exact to first order."""
    C, y, inverse = mat6(), vec6(), 0.0
    if inverse_factor(J, C) == 0.0:
        return -FLOOR * FLOOR
    solve(C, weakest, y)
    for i in range(6):
        inverse += y[i] * weakest[i]
    return 1.0 / inverse - FLOOR * FLOOR
