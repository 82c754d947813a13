"""4  Twist -> joint velocities inside their bounds, direction preserved.

singular.py computes the joint velocities for a twist. Bounds then slow the whole vector down (speed, position) or let
it turn more slowly (acceleration): a joint at its limit does not bend the path of the tool.
"""

import math

from .cartesian import braking_speed
from .chain import forward
from .compile import kernel, mat3, mat6, vec3, vec6
from .following import top_speed
from .records import Limit
from .singular import damped_factor, damped_inverse, solve
from .spatial import clip, norm

SINGULARITY = int(Limit.SINGULARITY)
JOINT_VELOCITY = int(Limit.JOINT_VELOCITY)
JOINT_ACCELERATION = int(Limit.JOINT_ACCELERATION)
JOINT_POSITION = int(Limit.JOINT_POSITION)

ELBOW = 2  # the joint whose zero is the edge of the reach of a UR
ELBOW_RATE = 10.0  # [1/s] close to the margin the speed of the elbow falls linearly
ELBOW_BRAKING = 0.5  # fraction of its acceleration planned for braking before the margin
BRAKING = 0.9  # fraction of the joint acceleration planned for braking: the rest absorbs the curvature of the path
CURVE = 0.3  # fraction of the joint acceleration that a straight tool path may need at constant speed
AHEAD = 0.05  # [rad] that the fastest joint moves to the point ahead where that is evaluated


@kernel
def keep_elbow_bent(p, s, J, C, V, dt):
    """One-sided gate on V, like a workspace wall: the elbow straightens only as fast as it can stop before the margin.
    What V asks beyond that is removed along the gradient of the elbow's speed, so that the tool slides along the edge
    of its reach; a straight elbow could fold to either side. Returns whether it acted.

        qd_elbow = g . V,   g = (J J^T)^-1 J e_elbow;      V := V - g (g . V - allowed) / |g|^2
    """
    bend = s.q_command[ELBOW]
    if p.elbow_margin <= 0.0:
        return False
    g = vec6()
    solve(C, J[:, ELBOW], g)
    speed, square = 0.0, 0.0
    for i in range(6):
        speed += g[i] * V[i]
        square += g[i] * g[i]
    side = 1.0 if bend > 0.0 else -1.0
    room = abs(bend) - p.elbow_margin
    allowed = min(braking_speed(room, ELBOW_BRAKING * p.joint_acceleration[ELBOW], dt), ELBOW_RATE * max(room, 0.0))
    if -side * speed <= allowed or square == 0.0:
        return False
    excess = (speed + side * allowed) / square
    for i in range(6):
        V[i] -= g[i] * excess
    return True


@kernel
def velocity_bounds(p, s, dt, low, high):
    """Bounds that keep every joint inside its velocity, acceleration and (by braking distance) position limits.
    A bound that shrank is approached at the acceleration limit: low <= high always."""
    for i in range(6):
        a = p.joint_acceleration[i]
        up = min(top_speed(p, s, i, 1.0), braking_speed(p.joint_upper[i] - s.q_command[i], a, dt))
        down = -min(top_speed(p, s, i, -1.0), braking_speed(s.q_command[i] - p.joint_lower[i], a, dt))
        slowest = s.qd_command[i] - a * dt
        fastest = s.qd_command[i] + a * dt
        high[i] = clip(up, slowest, fastest)
        low[i] = clip(down, slowest, fastest)


@kernel
def common_braking(p, twist, qd):
    """Fraction of its speed that the whole vector can lose per second within joint and Cartesian limits [1/s]."""
    rate = math.inf
    for i in range(6):
        if qd[i] != 0.0:
            rate = min(rate, BRAKING * p.joint_acceleration[i] / abs(qd[i]))
    for part in range(2):
        speed = norm(twist[3 * part : 3 * part + 3])
        if speed > 0.0:
            rate = min(rate, p.max_acceleration[part] / speed)
    return rate


@kernel
def curve_speed(p, q, U, V, qd, sigma):
    """Fraction of V at which the joint accelerations that a straight path needs at constant speed stay within CURVE:
    s^2 |d(qd)/dt| <= CURVE a. Towards a singularity they grow as a power of the distance, so the slowing down starts
    early enough to need no look-ahead."""
    fastest = 0.0
    for i in range(6):
        fastest = max(fastest, abs(qd[i]))
    # At the angle `a` from a singularity the joints need about qd^2 / a, and sigma <= a on arms up to 1 m of lever.
    weakest = p.joint_acceleration[0]
    for i in range(1, 6):
        weakest = min(weakest, p.joint_acceleration[i])
    if fastest * fastest <= CURVE * weakest * max(0.0, sigma - AHEAD):
        return 1.0
    if fastest == 0.0:
        return 1.0
    time = AHEAD / fastest
    q_ahead, qd_ahead, position = vec6(), vec6(), vec3()
    R, J, C, U_ahead = mat3(), mat6(), mat6(), mat6()
    for i in range(6):
        q_ahead[i] = q[i] + time * qd[i]
        for j in range(6):
            U_ahead[i, j] = U[i, j]
    forward(p.chain_rotation, p.chain_position, q_ahead, R, position, J)
    damped_factor(J, U_ahead, C)
    damped_inverse(J, C, V, qd_ahead)
    share = 1.0
    for i in range(6):
        change = abs(qd_ahead[i] - qd[i])
        if change * share * share > CURVE * p.joint_acceleration[i] * time:
            share = math.sqrt(CURVE * p.joint_acceleration[i] * time / change)
    return share


@kernel
def speed_share(p, s, qd, rate, dt):
    """(share, Limit flag): fraction of qd that joint speed and position limits allow; `rate` is its common braking."""
    share = 1.0
    flag = 0
    for i in range(6):
        speed = abs(qd[i])
        if speed == 0.0:
            continue
        # The other joints must stop in time too: brake the whole vector before this joint's position limit.
        room = p.joint_upper[i] - s.q_command[i] if qd[i] > 0.0 else s.q_command[i] - p.joint_lower[i]
        stop = braking_speed(room, rate * speed, dt)
        if stop < share * speed:
            share = stop / speed
            flag = JOINT_POSITION
        top = top_speed(p, s, i, math.copysign(1.0, qd[i]))
        if top < share * speed:
            share = top / speed
            flag = JOINT_VELOCITY
    return share, flag


@kernel
def inside(qd, share, low, high):
    """`share`, changed as little as possible so that share qd is inside the box; negative: no share is."""
    least = 0.0
    most = 1.0
    for i in range(6):
        if qd[i] > 0.0:
            least = max(least, low[i] / qd[i])
            most = min(most, high[i] / qd[i])
        elif qd[i] < 0.0:
            least = max(least, high[i] / qd[i])
            most = min(most, low[i] / qd[i])
    if least > most:
        return -1.0
    return clip(share, least, most)


@kernel
def calm_turn(p, twist, hold, wanted, target, turn, dt):
    """Largest part of the turn from `hold twist` to `wanted target` whose acceleration of the tool stays inside the
    limit, or no worse than that of `hold` alone:

        |b + t c| <= max(a dt, |b|)        b = (hold - 1) twist,   c = wanted target - hold twist
    """
    for part in range(2):
        bb, bc, cc = 0.0, 0.0, 0.0
        for i in range(3 * part, 3 * part + 3):
            b = (hold - 1.0) * twist[i]
            c = wanted * target[i] - hold * twist[i]
            bb, bc, cc = bb + b * b, bc + b * c, cc + c * c
        room = max((p.max_acceleration[part] * dt) ** 2 - bb, 0.0)
        if cc * turn * turn + 2.0 * bc * turn > room:
            turn = max(0.0, (math.sqrt(bc * bc + cc * room) - bc) / cc)
    return turn


@kernel
def fit_into_bounds(p, s, J, qd_hold, curve, qd, realised, dt):
    """Brings qd inside the bounds of the joints without bending the path of the tool.

        qd := b qd_hold + turn (w qd - b qd_hold)        qd_hold: what keeps the last twist

    Speed and position limits slow the whole vector down (b, w). Acceleration limits let the tool turn into its new
    direction more slowly (turn), as more inertia would. Out: qd, its twist `realised`. Returns (fraction of the wanted
    twist, Limit flags).
    """
    low, high, base = vec6(), vec6(), vec6()
    velocity_bounds(p, s, dt, low, high)
    rate = common_braking(p, s.twist, qd_hold)
    hold, flags = speed_share(p, s, qd_hold, rate, dt)
    twist_of(J, qd, realised)
    wanted, flag = speed_share(p, s, qd, common_braking(p, realised, qd), dt)
    flags |= flag
    if curve < 1.0:
        flags |= JOINT_ACCELERATION
        wanted = min(wanted, curve)
        along, size = 0.0, 0.0
        for i in range(6):
            along += qd[i] * qd_hold[i]
            size += qd_hold[i] * qd_hold[i]
        if curve * along < size:
            hold = min(hold, max(curve * along / size, 1.0 - rate * dt))
    hold = inside(qd_hold, hold, low, high)
    if hold < 0.0:  # no joint motion within bounds keeps the direction of the tool: brake along that of the joints
        flags |= JOINT_ACCELERATION
        hold = max(0.0, 1.0 - common_braking(p, s.twist, s.qd_command) * dt)
        qd_hold[:] = s.qd_command
    turn = 1.0
    for i in range(6):
        base[i] = clip(hold * qd_hold[i], low[i], high[i])
        change = wanted * qd[i] - base[i]
        if change > 0.0:
            turn = min(turn, (high[i] - base[i]) / change)
        elif change < 0.0:
            turn = min(turn, (low[i] - base[i]) / change)
    if turn < 1.0:
        flags |= JOINT_ACCELERATION
    turn = calm_turn(p, s.twist, hold, wanted, realised, turn, dt)
    for i in range(6):
        base[i] = hold * qd_hold[i] + turn * (wanted * qd[i] - hold * qd_hold[i])
        qd[i] = clip(base[i], low[i], high[i])
    twist_of(J, base, realised)
    return wanted * turn, flags


@kernel
def twist_of(J, qd, twist):
    for i in range(6):
        total = 0.0
        for k in range(6):
            total += J[i, k] * qd[k]
        twist[i] = total
