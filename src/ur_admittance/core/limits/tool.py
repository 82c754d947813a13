"""Limit of the tool: norms of its speed and of its acceleration, linear and angular; both slow all of it down."""

import math

from ur_admittance.core.chain import twist_of
from ur_admittance.core.kernel import kernel, vec6
from ur_admittance.core.limits.rows import put_row
from ur_admittance.core.records import Limit
from ur_admittance.core.spatial import clip, dot, norm

EVIDENCE = Limit.LINEAR_ACCELERATION | Limit.ANGULAR_ACCELERATION | Limit.LINEAR_VELOCITY | Limit.ANGULAR_VELOCITY
ACCELERATION = (int(Limit.LINEAR_ACCELERATION), int(Limit.ANGULAR_ACCELERATION))
VELOCITY = (int(Limit.LINEAR_VELOCITY), int(Limit.ANGULAR_VELOCITY))
NORM_KEPT = 1.000001  # by which the square of a norm may be exceeded


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
    """What is wanted, within the norms of the tool's acceleration (from the last twist towards it) and speed (along
    it). Returns Limit flags."""
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
def norm_bounds(p, s, keep, caps, most, dt):
    """Largest norms of the tool's speed and of its change, linear and angular. A cap that shrank is reached by
    braking."""
    for part in range(2):
        caps[part] = max(caps[part], keep * norm(s.twist[3 * part : 3 * part + 3]))
        most[part] = p.max_acceleration[part] * dt


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
def put_norms(table, n, J, twist, prev, most, caps):
    """A row for each norm that is too large, along the vector that is. Returns the number of rows."""
    a = vec6()
    for part in range(2):
        speed, change = 0.0, 0.0
        for i in range(3 * part, 3 * part + 3):
            speed += twist[i] ** 2
            change += (twist[i] - prev[i]) ** 2
        speed, change = math.sqrt(speed), math.sqrt(change)
        for i in range(6):
            a[i] = 0.0
        if speed > caps[part]:
            for i in range(3 * part, 3 * part + 3):
                a[i] = twist[i] / speed
            n = put_row(table, n, J, a, caps[part], VELOCITY[part])
        if change > most[part]:
            start = 0.0
            for i in range(3 * part, 3 * part + 3):
                a[i] = (twist[i] - prev[i]) / change
                start += a[i] * prev[i]
            n = put_row(table, n, J, a, start + most[part], ACCELERATION[part])
    return n


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
