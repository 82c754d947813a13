"""4  Joint speeds that keep every limit: two small constrained problems over what the arm will really do.

Where to: walls, distances and the edge of the reach are one-sided. The tool slides along them, as close to what is
wanted as it can:

    minimise |J (qd - qd0)|^2 + SLIDING |qd - qd0|^2                                    under the gates

How fast: joint limits and the norms of speed and acceleration of the tool slow it down. Its direction comes first, then
its speed:

    minimise |J (qd - w)|^2 + TURNING |qd - w|^2 + SPEED (1 - s)^2 |J (qd1 - hold)|^2    under all limits
    w = s qd1 + (1 - s) hold

qd0: joint speeds for what is wanted, damped at singularities (singular.py); qd1: the first solution; hold: those that
brake the tool along its present direction; s: how much of what is wanted. Usually qd0 keeps all limits and is taken.
"""

import math

from ur_admittance.core.chain import twist_of
from ur_admittance.core.compile import kernel, mat7, per_row, rows7, vec3, vec6, vec7
from ur_admittance.core.law.variable import speed_factor
from ur_admittance.core.limits.bounds import JOINT_ACCELERATION, gates, joint_bounds, stopping_time
from ur_admittance.core.limits.obstacles import COLLISION, put_near, stop_clear
from ur_admittance.core.limits.rows import (
    ACCELERATION,
    KEPT,
    VELOCITY,
    minimise_or_brake,
    put_joint,
    put_norms,
    rows_kept,
)
from ur_admittance.core.limits.singular import DAMPING, SINGULAR, curve_speed, damped_inverse
from ur_admittance.core.spatial import clip, dot, norm

SPEED = 1e-6  # weight of the speed against the direction
TURNING = 1e-4  # [m2/rad2] weight of the joints' own direction: decides where the tool's leaves it open
SLIDING = 1e-8  # [m2/rad2] the same along a gate: small, or a tool pressed against a wall creeps sideways
NORM_KEPT = 1.000001  # by which the square of a norm may be exceeded
CUTS = 4  # rounds in which a norm that is too large gets a row of its own


@kernel
def limit_change(v, v_prev, largest):
    """v := v_prev + (v - v_prev) shortened to `largest`. Returns whether it was shortened."""
    square = 0.0
    for i in range(3):
        square += (v[i] - v_prev[i]) ** 2
    if square <= largest * largest:
        return False
    share = largest / math.sqrt(square)
    for i in range(3):
        v[i] = v_prev[i] + share * (v[i] - v_prev[i])
    return True


@kernel
def limit_norm(v, v_prev, cap, a_dt):
    """Speed cap, direction kept. Returns whether it acted."""
    square = dot(v, v)
    if square <= cap * cap:
        return False
    speed = math.sqrt(square)
    cap = max(cap, norm(v_prev) - a_dt)  # one that shrank since the last tick is reached within the acceleration
    if speed <= cap:
        return True
    for i in range(3):
        v[i] *= cap / speed
    return True


@kernel
def shape(p, s, V, caps, dt):
    """What is wanted, within the norms of the tool's acceleration and speed; its direction is kept. Returns Limit
    flags."""
    flags = 0
    for part in range(2):
        v, v_prev = V[3 * part : 3 * part + 3], s.twist[3 * part : 3 * part + 3]
        a_dt = p.max_acceleration[part] * dt
        if limit_change(v, v_prev, a_dt):
            flags |= ACCELERATION[part]
        if limit_norm(v, v_prev, caps[part], a_dt):
            flags |= VELOCITY[part]
        limit_change(v, v_prev, a_dt)  # a cap that shrank while the arm was fast is reached over several ticks
    return flags


@kernel
def calm_curve(p, s, J, C, V, sigma, q_middle, qd, dt):
    """Slows V and qd down where a straight path would bend the joints too fast. They keep their direction, save for
    what the acceleration of the tool forbids: only that is inverted, damped. Returns whether it did."""
    share = curve_speed(p, q_middle, s.singular_vectors, V, qd, sigma)
    if share == 1.0:
        return False
    change, more = vec6(), vec6()
    for i in range(6):
        V[i] *= share
        change[i] = -V[i]
    for part in range(2):
        limit_change(V[3 * part : 3 * part + 3], s.twist[3 * part : 3 * part + 3], p.max_acceleration[part] * dt)
    for i in range(6):
        change[i] += V[i]
    damped_inverse(J, C, change, more)
    for i in range(6):
        qd[i] = share * qd[i] + more[i]
    return True


@kernel
def joints_kept(low, high, qd):
    for i in range(6):
        if not low[i] - KEPT <= qd[i] <= high[i] + KEPT:
            return False
    return True


@kernel
def norms_kept(twist, prev, most, caps):
    for part in range(2):
        speed, change = 0.0, 0.0
        for i in range(3 * part, 3 * part + 3):
            speed += twist[i] * twist[i]
            change += (twist[i] - prev[i]) ** 2
        if speed > caps[part] ** 2 * NORM_KEPT or change > most[part] ** 2 * NORM_KEPT:
            return False
    return True


@kernel
def distance(J, weight, H):
    """H of |J qd|^2 + weight |qd|^2"""
    for i in range(6):
        for j in range(i + 1):
            total = 0.0
            for k in range(6):
                total += J[k, i] * J[k, j]
            H[i, j] = total
            H[j, i] = total
        H[i, i] += weight


@kernel
def slide(J, sigma, A, b, n, brake, flag, qd):
    """Where to: qd := as close as the gates allow. Returns Limit flags."""
    H, g = mat7(), vec7()
    nearness = max(0.0, 1.0 - (sigma / SINGULAR) ** 2)  # damped like the inverse
    distance(J, SLIDING + (DAMPING * nearness) ** 2, H)
    for i in range(6):
        g[i] = 0.0
        for k in range(6):
            g[i] -= H[i, k] * qd[k]
    for i in range(6):
        H[i, 6] = H[6, i] = 0.0
    H[6, 6], g[6] = 1.0, 0.0
    flags = minimise_or_brake(H, g, A, b, n, brake, flag, qd)
    if flags < 0:
        qd[:] = brake
        return JOINT_ACCELERATION
    return flags


@kernel
def slowed(J, qd1, hold, H, g):
    """H and g of the second problem at the top."""
    distance(J, TURNING, H)
    size, along = 0.0, 0.0
    for i in range(6):
        turn, still = 0.0, 0.0
        for k in range(6):
            turn += H[i, k] * (qd1[k] - hold[k])
            still += H[i, k] * hold[k]
        H[i, 6] = -turn
        H[6, i] = -turn
        g[i] = -still
        size += turn * (qd1[i] - hold[i])
        along += turn * hold[i]
    H[6, 6] = (1.0 + SPEED) * size
    g[6] = along - SPEED * size
    if size < 1e-16:  # what is wanted is to brake
        H[6, 6], g[6] = 1.0, -1.0
        for i in range(6):
            H[i, 6] = H[6, i] = 0.0


@kernel
def fastest_along(s, J, A, b, n, flag, most, caps, brake, hold, qd, twist):
    """How fast: qd (in: qd1) and its twist, under all rows. Norms get rows where they turn out too large. Returns Limit
    flags."""
    H, g = mat7(), vec7()
    slowed(J, qd, hold, H, g)
    flags = 0
    for _ in range(CUTS):
        flags = minimise_or_brake(H, g, A, b, n, brake, flag, qd)
        if flags < 0:
            qd[:] = brake
            flags = JOINT_ACCELERATION
        twist_of(J, qd, twist)
        if norms_kept(twist, s.twist, most, caps):
            return flags
        n = put_norms(A, b, flag, n, J, twist, s.twist, most, caps)
    towards(s, J, brake, most, caps, qd, twist)
    return flags


@kernel
def towards(s, J, brake, most, caps, qd, twist):
    """qd := brake + t (qd - brake) with the largest t, 0..1, at which the norms hold, or the one that comes nearest
    to that: where the joints' own line bends the tool's path too much, braking does not hold them."""
    base = vec6()
    twist_of(J, brake, base)
    t = 1.0
    for part in range(2):
        for which in range(2):
            bb, bc, cc = 0.0, 0.0, 0.0
            for i in range(3 * part, 3 * part + 3):
                b = base[i] - (s.twist[i] if which == 1 else 0.0)
                c = twist[i] - base[i]
                bb, bc, cc = bb + b * b, bc + b * c, cc + c * c
            largest = most[part] if which == 1 else caps[part]
            room = largest * largest - bb
            if cc > 0.0 and cc * t * t + 2.0 * bc * t > room:
                t = clip((math.sqrt(max(bc * bc + cc * room, 0.0)) - bc) / cc, 0.0, t)
    for i in range(6):
        qd[i] = brake[i] + t * (qd[i] - brake[i])
    twist_of(J, qd, twist)


@kernel
def norm_bounds(p, s, keep, caps, most, dt):
    """Largest norms of the tool's speed and of its change, linear and angular. A cap that shrank is reached by
    braking."""
    for part in range(2):
        caps[part] = max(caps[part], keep * norm(s.twist[3 * part : 3 * part + 3]))
        most[part] = p.max_acceleration[part] * dt


@kernel
def fraction(V, twist):
    """How much of what is wanted is done, 0..1."""
    along, size = 0.0, 0.0
    for i in range(6):
        along += V[i] * twist[i]
        size += V[i] * V[i]
    return clip(along / size, 0.0, 1.0) if size > 0.0 else 1.0


@kernel
def choose(p, s, J, C, V, sigma, q_middle, position, measured, qd, twist, dt):
    """V: what is wanted; out: qd and its twist. Returns (fraction of what is wanted, Limit flags)."""
    now, brake, hold, caps, most = vec6(), vec6(), vec6(), vec3(), vec3()
    low, high, why_low, why_high = vec6(), vec6(), vec6(), vec6()
    A, b, flag = rows7(), per_row(), per_row()
    twist_of(J, s.qd_command, now)
    time = stopping_time(p, now, s.qd_command)
    keep = max(0.0, 1.0 - dt / time) if time > 0.0 else 0.0
    for i in range(6):
        brake[i] = keep * s.qd_command[i]
    straighten = joint_bounds(p, s, time, dt, low, high, why_low, why_high)
    n = gates(p, s, J, now, time, straighten, position, measured, A, b, flag, dt)
    n, room = put_near(p, s, time, dt, A, b, flag, n)

    caps[0] = p.max_velocity[0] * speed_factor(p, measured)
    caps[1] = p.max_velocity[1]
    flags = shape(p, s, V, caps, dt)
    damped_inverse(J, C, V, qd)
    if not rows_kept(A, b, n, qd):
        flags |= slide(J, sigma, A, b, n, brake, flag, qd)
        twist_of(J, qd, V)
    if calm_curve(p, s, J, C, V, sigma, q_middle, qd, dt):
        flags |= JOINT_ACCELERATION
        if not rows_kept(A, b, n, qd):
            flags |= slide(J, sigma, A, b, n, brake, flag, qd)
    twist_of(J, qd, twist)
    norm_bounds(p, s, keep, caps, most, dt)
    if joints_kept(low, high, qd) and norms_kept(twist, s.twist, most, caps):
        if not stop_clear(p, s, J, brake, room, qd, twist, dt):
            return 1.0, flags
        return fraction(V, twist), flags | COLLISION
    for i in range(6):
        n = put_joint(A, b, flag, n, i, 1.0, high[i], why_high[i])
        n = put_joint(A, b, flag, n, i, -1.0, -low[i], why_low[i])
        now[i] = keep * s.twist[i]
    damped_inverse(J, C, now, hold)
    flags |= fastest_along(s, J, A, b, n, flag, most, caps, brake, hold, qd, twist)
    if stop_clear(p, s, J, brake, room, qd, twist, dt):
        flags |= COLLISION
    return fraction(V, twist), flags
