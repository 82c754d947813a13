"""Moving the joints by one step, and every mode but ACTIVE: brake inside all limits, then hold.

A stop does not go through the chooser (limits/choose.py), nor does a retreat: it must work without a measured position
and where no direction is wanted, and campaigns with the chooser in its place were no better.
"""

import math

from ur_admittance.core.chain import forward, twist_of
from ur_admittance.core.checks import is_sane
from ur_admittance.core.kernel import kernel, mat3, mat6, vec3, vec6
from ur_admittance.core.limits.approach import BRAKING, stopping_time
from ur_admittance.core.limits.joints import joint_bounds
from ur_admittance.core.limits.singular import damped_factor, damped_inverse
from ur_admittance.core.memory import stands_still
from ur_admittance.core.motion.retreat import remember_place
from ur_admittance.core.spatial import clip, norm
from ur_admittance.core.wrench.condition import ACCELERATION_CUTOFF_HZ, smoothing

BLIND_BRAKING = 5.0  # [rad/s2] when no parameters could ever be trusted
SLOWEST = 0.8  # share of the planned braking that is kept, even where the tool's path then bends or brakes too hard


@kernel
def move_joints(s, J, qd, response_time, dt):
    """Joint positions are integrated from the last command, never from the lagging measurement."""
    twist = vec6()
    twist_of(J, qd, twist)
    take_step(s, twist, qd, response_time, dt)


@kernel
def take_step(s, twist, qd, response_time, dt):
    weight = smoothing(ACCELERATION_CUTOFF_HZ, dt)
    for i in range(3):
        s.acceleration[i] += weight * ((twist[i] - s.twist[i]) / dt - s.acceleration[i])
    s.twist[:] = twist
    late = math.exp(-dt / response_time) if response_time > 0.0 else 0.0
    for i in range(6):
        s.lag[i] = late * s.lag[i] + (1.0 - late) * response_time * twist[i]
        s.qd_command[i] = qd[i]
        s.q_command[i] += qd[i] * dt
    remember_place(s)


@kernel
def brake_and_hold(p, s, J, trusted, dt):
    """Brakes the tool along its straight line, as far as the joints can; the rest of the way along theirs. Needs no
    measurement."""
    if s.has_command == 0 or stands_still(s):
        s.qd_command[:] = 0.0
        s.twist[:] = 0.0
        s.acceleration[:] = 0.0
        s.lag[:] = 0.0
        return
    if not trusted:
        brake_blindly(s, dt)
        return
    q_middle, R, position = vec6(), mat3(), vec3()
    for i in range(6):
        q_middle[i] = s.q_command[i] + 0.5 * dt * s.qd_command[i]
    forward(p.chain_rotation, p.chain_position, q_middle, R, position, J)
    if norm(s.twist[:3]) == 0.0 and norm(s.twist[3:]) == 0.0:  # forgotten
        twist_of(J, s.qd_command, s.twist)
    time = stopping_time(p, s.twist, s.qd_command)
    rate = 1.0 / time
    keep = max(0.0, 1.0 - rate * dt)
    straight, C, low, high, why, line, qd = vec6(), mat6(), vec6(), vec6(), vec6(), vec6(), vec6()
    for i in range(6):
        line[i] = keep * s.twist[i]
    damped_factor(J, s.singular_vectors, C)
    damped_inverse(J, C, line, straight)
    joint_bounds(p, s, time, dt, low, high, why, why)
    keep = curved_keep(p, s, J, keep, rate, dt)
    share = 1.0
    for i in range(6):
        line[i] = clip(keep * s.qd_command[i], low[i], high[i])
        # Towards a singularity a straight path would keep the joints fast: all of them stop in the planned time.
        most = BRAKING * p.joint_acceleration[i] * max(0.0, 1.0 / rate - SLOWEST * dt)
        high[i], low[i] = max(line[i], min(high[i], most)), min(line[i], max(low[i], -most))
        change = straight[i] - line[i]
        if change > 0.0:
            share = min(share, (high[i] - line[i]) / change)
        elif change < 0.0:
            share = min(share, (low[i] - line[i]) / change)
    for i in range(6):
        qd[i] = clip(line[i] + share * (straight[i] - line[i]), low[i], high[i])
    if not is_sane(qd):
        qd[:] = line
    move_joints(s, J, qd, p.response_time, dt)


@kernel
def curved_keep(p, s, J, keep, rate, dt):
    """Braking along the joints bends the path of the tool, which takes a part of its acceleration limit: the smallest
    share k of the speed with |k J qd - twist| <= a dt, at least SLOWEST of the planned braking."""
    twist = vec6()
    twist_of(J, s.qd_command, twist)
    slowest = max(0.0, 1.0 - SLOWEST * rate * dt)
    for part in range(2):
        tt, tb, bb = 0.0, 0.0, 0.0
        for i in range(3 * part, 3 * part + 3):
            tt += twist[i] * twist[i]
            tb += twist[i] * s.twist[i]
            bb += s.twist[i] * s.twist[i]
        if tt > 0.0:
            root = tb * tb - tt * (bb - (p.max_acceleration[part] * dt) ** 2)
            keep = max(keep, (tb - math.sqrt(max(root, 0.0))) / tt)
    return min(keep, slowest)


@kernel
def remember_limits(p, s):
    """For braking in case that the parameters cannot be trusted any more."""
    s.last_acceleration[:6] = p.joint_acceleration
    s.last_acceleration[6:] = p.max_acceleration


@kernel
def brake_blindly(s, dt):
    """Without parameters there is no model of the arm: joints and tool lose their speed at the last known limits."""
    rate = math.inf
    for i in range(6):
        if s.qd_command[i] != 0.0:
            limit = BRAKING * s.last_acceleration[i] if s.last_acceleration[i] > 0.0 else BLIND_BRAKING
            rate = min(rate, limit / abs(s.qd_command[i]))
    for part in range(2):
        speed = norm(s.twist[3 * part : 3 * part + 3])
        if speed > 0.0 and s.last_acceleration[6 + part] > 0.0:
            rate = min(rate, s.last_acceleration[6 + part] / speed)
    keep = max(0.0, 1.0 - rate * dt)
    twist, qd = vec6(), vec6()
    for i in range(6):
        twist[i] = keep * s.twist[i]
        qd[i] = keep * s.qd_command[i]
    take_step(s, twist, qd, 0.0, dt)
