"""4  Joint speeds that keep every limit: one small constrained problem over what the arm will really do.

    minimise |J (qd - s qd0)|^2 + TURNING |qd - s qd0|^2 + SPEED (1 - s)^2        qd: joint speeds, s: slow-down

qd0: joint speeds for what is wanted, damped at singularities (singular.py);

under all limits at once: speed, acceleration and position of the joints, walls, the elbow, speed and acceleration of
the tool. Its direction comes first, then its speed. Usually the solution without limits keeps them all and is taken.

Braking along the present motion is always allowed: no bound is tighter than what this needs, so there is always a
solution, and whatever the arm approaches, it could stop before it.
"""

import math

from .cartesian import braking_speed, limit_change, limit_norm
from .chain import forward
from .compile import kernel, mat3, mat6, mat7, per_row, rows7, vec3, vec6, vec7
from .quadratic import minimise
from .records import Limit
from .inverse import curve_speed
from .singular import damped_inverse, solve
from .spatial import clip, norm
from .variable import speed_factor

JOINT_VELOCITY, JOINT_ACCELERATION = int(Limit.JOINT_VELOCITY), int(Limit.JOINT_ACCELERATION)
JOINT_POSITION, SINGULARITY = int(Limit.JOINT_POSITION), int(Limit.SINGULARITY)
ACCELERATION = (int(Limit.LINEAR_ACCELERATION), int(Limit.ANGULAR_ACCELERATION))
VELOCITY = (int(Limit.LINEAR_VELOCITY), int(Limit.ANGULAR_VELOCITY))
WORKSPACE = int(Limit.WORKSPACE)

ELBOW = 2  # the joint whose zero is the edge of the reach of a UR
BRAKING = 0.9  # fraction of the joint acceleration planned for braking: the rest absorbs the curvature of the path
PLANNED = 0.5  # fraction of all this that an approach counts on
NEAR_RATE = 20.0  # [1/s] close to a wall or a joint limit the speed falls linearly
SPEED = 1e-6  # weight of the speed against the direction
TURNING = 1e-4  # [m2/rad2] weight of the joints' own direction: decides where the tool's leaves it open
ROUNDING = 1e-9  # [m/s, rad/s]
STOP_SLACK = 2e-4  # [m]
CUTS = 4  # rounds in which a norm that is too large gets a row of its own


@kernel
def stopping_time(p, twist, qd):
    """Shortest time in which the whole vector can come to rest within joint and Cartesian limits [s]."""
    longest = 0.0
    for i in range(6):
        longest = max(longest, abs(qd[i]) / (BRAKING * p.joint_acceleration[i]))
    for part in range(2):
        longest = max(longest, norm(twist[3 * part : 3 * part + 3]) / p.max_acceleration[part])
    return longest


@kernel
def approach_speed(room, speed, time, dt):
    """How fast something `room` away may be approached, now approached with `speed`, by a motion that needs `time` to
    stop. Braking all of it together covers  speed time / 2:  the limit is v* = 2 room / time. The geometric mean with
    the present speed goes there without chatter when the time itself changes with the speed."""
    if room <= 0.0:
        return 0.0
    limit = 2.0 * room / (time / PLANNED + 3.0 * dt)
    return min(math.sqrt(max(speed, 0.25 * limit) * limit), NEAR_RATE * room)


@kernel
def joint_bounds(p, s, time, keep, dt, low, high):
    """Speed, acceleration and position limits of the joints as bounds of their speeds; braking stays allowed."""
    for i in range(6):
        present, step = s.qd_command[i], p.joint_acceleration[i] * dt
        up = min(p.joint_velocity[i], approach_speed(p.joint_upper[i] - s.q_command[i], present, time, dt))
        down = min(p.joint_velocity[i], approach_speed(s.q_command[i] - p.joint_lower[i], -present, time, dt))
        high[i] = clip(max(up, keep * present), present - step, present + step)
        low[i] = clip(min(-down, keep * present), present - step, present + step)


@kernel
def wall_bounds(p, J, C, twist, position, measured, time, dt, low, high):
    """How fast the tool may move along each axis of the base: walls with their braking distance, seen from the commanded
    or the measured position, whichever is closer. Deceleration: what tool and joints allow along this axis alone."""
    n, w = vec6(), vec6()
    for i in range(3):
        up = p.workspace_max[i] - max(position[i], measured[i])
        down = min(position[i], measured[i]) - p.workspace_min[i]
        high[i], low[i] = math.inf, -math.inf
        if up == math.inf and down == math.inf:
            continue
        for k in range(6):
            n[k] = 1.0 if k == i else 0.0
        damped_inverse(J, C, n, w)
        a = p.max_acceleration[0]
        for k in range(6):
            if w[k] != 0.0:
                a = min(a, BRAKING * p.joint_acceleration[k] / abs(w[k]))
        if time > 0.0:  # all that moves, braked together
            a = min(max(a, abs(twist[i]) / time), p.max_acceleration[0])
        high[i] = max(min(braking_speed(up, PLANNED * a, dt), NEAR_RATE * max(up, 0.0)), twist[i] - a * dt)
        low[i] = min(-min(braking_speed(down, PLANNED * a, dt), NEAR_RATE * max(down, 0.0)), twist[i] + a * dt)


@kernel
def shape(p, s, J, C, V, now, measured, low, high, elbow, dt):
    """What is wanted, within the norms, along walls and along the edge of the reach: the direction to be kept."""
    flags = 0
    urgent = vec3()
    for part in range(2):
        v, v_prev = V[3 * part : 3 * part + 3], s.twist[3 * part : 3 * part + 3]
        a_dt = p.max_acceleration[part] * dt
        for i in range(3):
            urgent[i] = 0.0
        if limit_change(v, v_prev, a_dt, urgent):
            flags |= ACCELERATION[part]
        if part == 0:
            for i in range(3):
                if v[i] > high[i] or v[i] < low[i]:
                    v[i] = clip(v[i], low[i], high[i])
                    urgent[i] = 1.0
                    flags |= WORKSPACE
        cap = p.max_velocity[part] * (speed_factor(p, measured) if part == 0 else 1.0)
        if limit_norm(v, v_prev, cap, a_dt):
            flags |= VELOCITY[part]
        limit_change(v, v_prev, a_dt, urgent)
    if elbow < math.inf:
        g = vec6()
        solve(C, J[:, ELBOW], g)
        speed, square = 0.0, 0.0
        for i in range(6):
            speed += g[i] * V[i]
            square += g[i] * g[i]
        side = 1.0 if s.q_command[ELBOW] > 0.0 else -1.0
        if -side * speed > elbow and square > 0.0:
            excess = (speed + side * elbow) / square
            for i in range(6):
                V[i] -= g[i] * excess
            flags |= SINGULARITY
    return flags


@kernel
def elbow_bound(p, s, time, keep, dt):
    """How fast the elbow may straighten; a straight one could fold to either side."""
    if p.elbow_margin <= 0.0:
        return math.inf
    bend = s.q_command[ELBOW]
    speed = -s.qd_command[ELBOW] if bend > 0.0 else s.qd_command[ELBOW]
    return max(approach_speed(abs(bend) - p.elbow_margin, speed, time, dt), keep * speed)


@kernel
def within(J, qd, twist, low, high, wall_low, wall_high, elbow, side):
    """Whether joint speeds and the twist they produce keep all rows."""
    ok = -side * qd[ELBOW] <= elbow + ROUNDING
    for i in range(6):
        ok &= low[i] - ROUNDING <= qd[i] <= high[i] + ROUNDING
    for i in range(3):
        ok &= wall_low[i] - ROUNDING <= twist[i] <= wall_high[i] + ROUNDING
    return ok


@kernel
def norms_kept(twist, prev, most, caps):
    for part in range(2):
        speed, change = 0.0, 0.0
        for i in range(3 * part, 3 * part + 3):
            speed += twist[i] * twist[i]
            change += (twist[i] - prev[i]) ** 2
        if speed > caps[part] ** 2 * 1.000001 or change > most[part] ** 2 * 1.000001:
            return False
    return True


@kernel
def put_row(A, b, flags, n, J, a, sign, bound, flag):
    """Row n: sign (J' a) . qd <= bound, of length one; a (6,): direction in twist space."""
    square = 0.0
    for k in range(6):
        total = 0.0
        for i in range(6):
            total += J[i, k] * a[i]
        A[n, k] = sign * total
        square += total * total
    A[n, 6] = 0.0
    length = math.sqrt(square)
    if length < 1e-12:
        return n
    for k in range(6):
        A[n, k] /= length
    b[n] = bound / length
    flags[n] = flag
    return n + 1


@kernel
def put_joint(A, b, flags, n, joint, sign, bound, flag):
    for k in range(7):
        A[n, k] = 0.0
    A[n, joint] = sign
    b[n] = bound
    flags[n] = flag
    return n + 1


@kernel
def twist_of(J, qd, twist):
    for i in range(6):
        total = 0.0
        for k in range(6):
            total += J[i, k] * qd[k]
        twist[i] = total


@kernel
def constrained(p, s, J, low, high, wall_low, wall_high, elbow, side, most, caps, brake, hold, qd, realised):
    """The problem with its rows; norms get rows where they turn out too large. Returns Limit flags."""
    A, b, flag = rows7(), per_row(), per_row()
    H, g, x, u, active = mat7(), vec7(), vec7(), vec7(), vec7()
    for i in range(6):
        for j in range(i + 1):
            total = 0.0
            for k in range(6):
                total += J[k, i] * J[k, j]
            H[i, j] = total
            H[j, i] = total
        H[i, i] += TURNING
    size, along = 0.0, 0.0
    for i in range(6):
        total, still = 0.0, 0.0
        for k in range(6):
            total += H[i, k] * (qd[k] - hold[k])
            still += H[i, k] * hold[k]
        H[i, 6] = -total
        H[6, i] = -total
        size += total * (qd[i] - hold[i])
        along += total * hold[i]
        g[i] = -still
    H[6, 6] = (1.0 + SPEED) * size
    g[6] = along - SPEED * size
    if size < 1e-16:  # nothing else is wanted
        H[6, 6], g[6] = 1.0, -1.0
        for i in range(6):
            H[i, 6] = H[6, i] = 0.0
    n = 0
    for i in range(6):
        n = put_joint(A, b, flag, n, i, 1.0, high[i], JOINT_ACCELERATION)
        n = put_joint(A, b, flag, n, i, -1.0, -low[i], JOINT_ACCELERATION)
    if elbow < math.inf:
        n = put_joint(A, b, flag, n, ELBOW, -side, elbow, SINGULARITY)
    a = vec6()
    for i in range(3):
        for k in range(6):
            a[k] = 1.0 if k == i else 0.0
        if wall_high[i] < 1e3:
            n = put_row(A, b, flag, n, J, a, 1.0, wall_high[i], WORKSPACE)
        if wall_low[i] > -1e3:
            n = put_row(A, b, flag, n, J, a, -1.0, -wall_low[i], WORKSPACE)
    flags = 0
    for _ in range(CUTS):
        count = minimise(H, g, A, b, n, x, active, u)
        if count == -1:  # bounds contradict each other: braking is always allowed
            for k in range(n):
                total = 0.0
                for i in range(6):
                    total += A[k, i] * brake[i]
                b[k] = max(b[k], total + 1e-12)
            count = minimise(H, g, A, b, n, x, active, u)
        if count < 0:
            for i in range(6):
                qd[i] = brake[i]
            twist_of(J, qd, realised)
            return JOINT_ACCELERATION
        for i in range(6):
            qd[i] = x[i]
        flags = 0
        for i in range(count):
            flags |= int(flag[int(active[i])])
        twist_of(J, qd, realised)
        if norms_kept(realised, s.twist, most, caps):
            break
        for part in range(2):
            speed2, change2 = 0.0, 0.0
            for i in range(3 * part, 3 * part + 3):
                speed2 += realised[i] ** 2
                change2 += (realised[i] - s.twist[i]) ** 2
            if speed2 > caps[part] ** 2:
                length = math.sqrt(speed2)
                for k in range(6):
                    a[k] = realised[k] / length if 3 * part <= k < 3 * part + 3 else 0.0
                n = put_row(A, b, flag, n, J, a, 1.0, caps[part], VELOCITY[part])
            if change2 > most[part] ** 2:
                length = math.sqrt(change2)
                start = 0.0
                for k in range(6):
                    a[k] = (realised[k] - s.twist[k]) / length if 3 * part <= k < 3 * part + 3 else 0.0
                    start += a[k] * s.twist[k]
                n = put_row(A, b, flag, n, J, a, 1.0, start + most[part], ACCELERATION[part])
    return flags


@kernel
def towards(p, s, J, brake, most, caps, qd, realised):
    """qd := brake + t (qd - brake) with the largest t up to 1 at which the norms hold: braking holds them."""
    base = vec6()
    twist_of(J, brake, base)
    t = 1.0
    for part in range(2):
        for which in range(2):
            bb, bc, cc = 0.0, 0.0, 0.0
            for i in range(3 * part, 3 * part + 3):
                b = base[i] - (s.twist[i] if which == 1 else 0.0)
                c = realised[i] - base[i]
                bb, bc, cc = bb + b * b, bc + b * c, cc + c * c
            largest = most[part] if which == 1 else caps[part]
            room = max(largest * largest - bb, 0.0)
            if cc * t * t + 2.0 * bc * t > room:
                t = max(0.0, (math.sqrt(bc * bc + cc * room) - bc) / cc)
    if t < 1.0:
        for i in range(6):
            qd[i] = brake[i] + t * (qd[i] - brake[i])
        twist_of(J, qd, realised)


@kernel
def outside(p, position):
    """How far a position is outside the walls [m]; negative: inside."""
    worst = -math.inf
    for i in range(3):
        worst = max(worst, max(position[i] - p.workspace_max[i], p.workspace_min[i] - position[i]))
    return worst


@kernel
def leaves(p, s, qd, twist, allowed, dt):
    """Whether the tool would leave the walls by more than `allowed` if all joints braked together from the next tick on:
    they stay on a straight line of joint angles, looked at in its middle and at its end."""
    q, place, R, J = vec6(), vec3(), mat3(), mat6()
    way = dt + 0.5 * stopping_time(p, twist, qd)
    for share in (0.5, 1.0):
        for i in range(6):
            q[i] = s.q_command[i] + share * way * qd[i]
        forward(p.chain_rotation, p.chain_position, q, R, place, J)
        if outside(p, place) > allowed:
            return True
    return False


@kernel
def can_stop(p, s, J, brake, position, qd, realised, dt):
    """qd := as much of it, the rest braking, that the tool can always stop between the walls. Returns whether it acted."""
    out = outside(p, position)
    if out == -math.inf:
        return False
    reach = 0.0
    for k in range(6):
        reach += abs(qd[k]) * math.sqrt(J[0, k] ** 2 + J[1, k] ** 2 + J[2, k] ** 2)
    if out + 1.2 * reach * (dt + 0.5 * stopping_time(p, realised, qd)) < 0.0:
        return False
    allowed = max(out, 0.0) + STOP_SLACK
    if not leaves(p, s, qd, realised, allowed, dt):
        return False
    least, most = 0.0, 1.0
    trial, twist = vec6(), vec6()
    for _ in range(4):
        t = 0.5 * (least + most)
        for i in range(6):
            trial[i] = brake[i] + t * (qd[i] - brake[i])
        twist_of(J, trial, twist)
        if leaves(p, s, trial, twist, allowed, dt):
            most = t
        else:
            least = t
    for i in range(6):
        qd[i] = brake[i] + least * (qd[i] - brake[i])
    twist_of(J, qd, realised)
    return True


@kernel
def choose(p, s, J, C, V, sigma, q_middle, position, measured, qd, realised, dt):
    """V: what is wanted; out: qd and its twist `realised`. Returns (fraction of what is wanted, Limit flags)."""
    now, base, brake = vec6(), vec6(), vec6()
    low, high, wall_low, wall_high = vec6(), vec6(), vec3(), vec3()
    most, caps = vec3(), vec3()
    twist_of(J, s.qd_command, now)
    time = stopping_time(p, now, s.qd_command)
    keep = max(0.0, 1.0 - dt / time) if time > 0.0 else 0.0
    for i in range(6):
        brake[i] = keep * s.qd_command[i]
        base[i] = keep * now[i]
    joint_bounds(p, s, time, keep, dt, low, high)
    wall_bounds(p, J, C, now, position, measured, time, dt, wall_low, wall_high)
    elbow = elbow_bound(p, s, time, keep, dt)
    side = 1.0 if s.q_command[ELBOW] > 0.0 else -1.0
    flags = shape(p, s, J, C, V, now, measured, wall_low, wall_high, elbow, dt)
    damped_inverse(J, C, V, qd)
    curve = curve_speed(p, q_middle, s.singular_vectors, V, qd, sigma)
    if curve < 1.0:
        flags |= JOINT_ACCELERATION
        calm = vec3()
        for i in range(3):
            calm[i] = 0.0
        for i in range(6):
            V[i] *= curve
        for part in range(2):
            limit_change(V[3 * part : 3 * part + 3], s.twist[3 * part : 3 * part + 3], p.max_acceleration[part] * dt, calm)
        damped_inverse(J, C, V, qd)
    twist_of(J, qd, realised)
    for part in range(2):
        cap = p.max_velocity[part] * (speed_factor(p, measured) if part == 0 else 1.0)
        change = 0.0
        for i in range(3 * part, 3 * part + 3):
            change += (base[i] - s.twist[i]) ** 2
        caps[part] = max(cap, norm(base[3 * part : 3 * part + 3]))
        most[part] = max(p.max_acceleration[part] * dt, math.sqrt(change))
    if within(J, qd, realised, low, high, wall_low, wall_high, elbow, side) and norms_kept(realised, s.twist, most, caps):
        if not can_stop(p, s, J, brake, position, qd, realised, dt):
            return 1.0, flags
        return 0.5, flags | WORKSPACE
    hold = vec6()
    for i in range(6):
        now[i] = keep * s.twist[i]
    damped_inverse(J, C, now, hold)
    flags |= constrained(p, s, J, low, high, wall_low, wall_high, elbow, side, most, caps, brake, hold, qd, realised)
    towards(p, s, J, brake, most, caps, qd, realised)
    if can_stop(p, s, J, brake, position, qd, realised, dt):
        flags |= WORKSPACE
    along, size = 0.0, 0.0
    for i in range(6):
        along += V[i] * realised[i]
        size += V[i] * V[i]
    return clip(along / size, 0.0, 1.0) if size > 0.0 else 1.0, flags
