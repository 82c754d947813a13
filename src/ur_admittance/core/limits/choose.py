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

Which solves a cycle needs, at most twelve. Counted in 800 random moments near all limits (tests/core/test_choose.py; at
most six were seen), and tried without in benchmarks/ablation:

    none                 qd0 keeps everything: 173 of 800, and nearly every cycle of a campaign
    the second problem   626 of 800
    the first problem    80 of 800, before the second or alone; without it the tool leaves its box
    the first again      8: a motion that was slowed down towards a singularity may meet a gate anew
    up to CUTS rounds    48: a norm is no row, it gets one along the vector that is too long, and again where that turns
    a line search        28: where four rounds were not enough, back towards braking until the norms hold
    rows loosened        17: rows that contradict each other give way to what braking needs, and are solved once more
    a bisection          obstacles.slow_until_clear, along the planned stop: rows see a distance to first order only
"""

from collections import namedtuple

from ur_admittance.core.chain import twist_of
from ur_admittance.core.kernel import kernel, mat7, row_table, two_places, vec3, vec6, vec7
from ur_admittance.core.law.variable import speed_factor
from ur_admittance.core.limits.approach import stopping_time
from ur_admittance.core.limits.every_limit import put_gates
from ur_admittance.core.limits.joints import JOINT_ACCELERATION, joint_bounds, joints_kept, put_joints
from ur_admittance.core.limits.obstacles import COLLISION, known_room, slow_until_clear, stops_clear
from ur_admittance.core.limits.rows import minimise_or_brake, rows_kept
from ur_admittance.core.limits.singular import DAMPING, SINGULAR, curve_speed, damped_inverse
from ur_admittance.core.limits.tool import limit_change, norm_bounds, norms_kept, put_norms, shape, towards
from ur_admittance.core.spatial import clip

SPEED = 1e-6  # weight of the speed against the direction
TURNING = 1e-4  # [m2/rad2] weight of the joints' own direction: decides where the tool's leaves it open
SLIDING = 1e-8  # [m2/rad2] the same along a gate: small, or a tool pressed against a wall creeps sideways
CUTS = 4  # rounds in which a norm that is too large gets a row of its own

# The arm in the middle of the coming step: joint angles, position of the TCP, Jacobian, its damped factor (singular.py)
# and smallest singular value.
Middle = namedtuple("Middle", "q p J C sigma")


@kernel
def calm_curve(p, s, middle, V, qd, dt):
    """Slows V and qd down where a straight path would bend the joints too fast. They keep their direction, save for
    what the acceleration of the tool forbids: only that is inverted, damped. Returns whether it did."""
    share = curve_speed(p, middle.q, s.singular_vectors, V, qd, middle.sigma)
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
    damped_inverse(middle.J, middle.C, change, more)
    for i in range(6):
        qd[i] = share * qd[i] + more[i]
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
def slide(middle, table, n, brake, qd):
    """Where to: qd := as close as the gates allow. Returns Limit flags."""
    H, g = mat7(), vec7()
    nearness = max(0.0, 1.0 - (middle.sigma / SINGULAR) ** 2)  # damped like the inverse
    distance(middle.J, SLIDING + (DAMPING * nearness) ** 2, H)
    for i in range(6):
        g[i] = 0.0
        for k in range(6):
            g[i] -= H[i, k] * qd[k]
    for i in range(6):
        H[i, 6] = H[6, i] = 0.0
    H[6, 6], g[6] = 1.0, 0.0
    flags = minimise_or_brake(H, g, table, n, brake, qd)
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
def fastest_along(s, J, table, n, norms, braking, qd, twist):
    """How fast: qd (in: qd1) and its twist, under all rows. norms: most, caps, which get rows where they turn out too
    large; braking: brake, hold. Returns Limit flags."""
    (most, caps), (brake, hold) = norms, braking
    H, g = mat7(), vec7()
    slowed(J, qd, hold, H, g)
    flags = 0
    for _ in range(CUTS):
        flags = minimise_or_brake(H, g, table, n, brake, qd)
        if flags < 0:
            qd[:] = brake
            flags = JOINT_ACCELERATION
        twist_of(J, qd, twist)
        if norms_kept(twist, s.twist, most, caps):
            return flags
        n = put_norms(table, n, J, twist, s.twist, most, caps)
    towards(s, J, brake, most, caps, qd, twist)
    return flags


@kernel
def fraction(V, twist):
    """How much of what is wanted is done, 0..1."""
    along, size = 0.0, 0.0
    for i in range(6):
        along += V[i] * twist[i]
        size += V[i] * V[i]
    return clip(along / size, 0.0, 1.0) if size > 0.0 else 1.0


@kernel
def choose(p, s, middle, V, measured, qd, twist, dt):
    """V: what is wanted; measured: where the TCP is; out: qd and its twist. Returns (fraction of what is wanted, Limit
    flags)."""
    J, C = middle.J, middle.C
    now, brake, hold, caps, most = vec6(), vec6(), vec6(), vec3(), vec3()
    low, high, why_low, why_high = vec6(), vec6(), vec6(), vec6()
    table, places = row_table(), two_places()
    twist_of(J, s.qd_command, now)
    time = stopping_time(p, now, s.qd_command)
    keep = max(0.0, 1.0 - dt / time) if time > 0.0 else 0.0
    for i in range(6):
        brake[i] = keep * s.qd_command[i]
    joint_bounds(p, s, time, dt, low, high, why_low, why_high)
    places[0], places[1] = middle.p, measured
    n = put_gates(p, s, J, now, time, places, table)
    room = known_room(p, s)

    caps[0] = p.max_velocity[0] * speed_factor(p, measured)
    caps[1] = p.max_velocity[1]
    flags = shape(p, s, V, caps, dt)
    damped_inverse(J, C, V, qd)
    if not rows_kept(table, n, qd):
        flags |= slide(middle, table, n, brake, qd)
        twist_of(J, qd, V)
    if calm_curve(p, s, middle, V, qd, dt):
        flags |= JOINT_ACCELERATION
        if not rows_kept(table, n, qd):
            flags |= slide(middle, table, n, brake, qd)
    twist_of(J, qd, twist)
    norm_bounds(p, s, keep, caps, most, dt)
    whole = joints_kept(low, high, qd) and norms_kept(twist, s.twist, most, caps)
    if whole and stops_clear(p, s, room, qd, twist, dt):
        return 1.0, flags
    for i in range(6):
        now[i] = keep * s.twist[i]
    damped_inverse(J, C, now, hold)
    if not whole:
        n = put_joints(low, high, why_low, why_high, table, n)
        flags |= fastest_along(s, J, table, n, (most, caps), (brake, hold), qd, twist)
        if stops_clear(p, s, room, qd, twist, dt):
            return fraction(V, twist), flags
    if not joints_kept(low, high, hold):
        hold = brake
    slow_until_clear(p, s, J, (brake, hold), room, qd, twist, dt)
    return fraction(V, twist), flags | COLLISION
