"""Limit of distances: the arm slows down before it hits itself, a box or the table, as it does at a wall.

    -d(distance)/dq . qd <= stoppable_speed(distance - clearance)    for each pair of bodies that is near (capsules.py)

No point moves faster than  sum reach_i |qd_i|,  so a distance that was measured some ticks ago is a bound for the
present one: far from everything, nothing is measured at all.
"""

import math

from ur_admittance.core.chain import twist_of
from ur_admittance.core.kernel import NEAR, ends, kernel, mat6, per_near, vec3, vec6
from ur_admittance.core.limits.approach import NEAR_RATE, PLANNED, stoppable_speed, stopping_time
from ur_admittance.core.limits.capsules import (
    gradient,
    pair_count,
    pair_distance,
    place,
    smallest_distance,
)
from ur_admittance.core.limits.rows import BOUND, FLAG
from ur_admittance.core.records import PARAMS, Limit

EVIDENCE = Limit.COLLISION  # with the nearest two bodies and their distance: STATE near, near_distance
COLLISION = int(Limit.COLLISION)

SHOWN = 0.03  # [m] beyond the clearance: nearer pairs are reported even when they slow nothing down
BEYOND = 0.1  # [m] that is measured beyond what matters now: the next measurement comes after so much motion
STOP_SLACK = 2e-4  # [m] of the clearance that a planned stop may use up: a path between two looks is curved
INSIDE = 1e-6  # [m] by which a pair that is too near already may come nearer: rounding
SMALLEST = 1e-6  # [m/rad] a distance that changes less with the joints is constant
LOOKS = 4  # along a planned stop
HALVINGS = 5  # 3 % of the difference between going on and braking


@kernel
def forget_near(s):
    s.near[0] = s.near[1] = s.near_distance = 0.0


@kernel
def fastest(h, qd):
    """No point of the arm moves faster, relative to any other [m/s]."""
    speed = 0.0
    for k in range(6):
        speed += h.reach[k] * abs(qd[k])
    return speed


@kernel
def known_room(p, s):
    """A lower bound of the smallest distance beyond the clearance, from the last measurement [m]."""
    if p.shapes.on == 0:
        return math.inf
    if s.near_revision != p.revision:
        return -math.inf
    room = s.near_room
    for k in range(6):
        room -= p.shapes.reach[k] * abs(s.q_command[k] - s.near_q[k])
    return room


@kernel
def put_rows(p, s, J, now, time, places, table, n):
    """Rows of the pairs that matter to a motion that needs `time` to stop, the nearest NEAR of them."""
    h, dt = p.shapes, s.period
    forget_near(s)
    if h.on == 0:
        return n
    speed = fastest(h, s.qd_command) + dt * fastest(h, p.joint_acceleration)
    zone = max(SHOWN, speed * max(1.0 / NEAR_RATE, time / PLANNED + 3.0 * dt))
    if known_room(p, s) > zone:
        return n
    P, axes, x, normal, g, rooms = ends(), mat6(), vec3(), vec3(), vec6(), per_near()
    place(p.chain_rotation, p.chain_position, h, s.q_command, P, axes)
    count, smallest = 0, zone + BEYOND
    for index in range(pair_count(h)):
        distance, one, two = pair_distance(h, P, index, h.clearance + zone + BEYOND, x, normal)
        room = distance - h.clearance
        if room < smallest:
            smallest = room
            s.near[0], s.near[1], s.near_distance = one + 1.0, two + 1.0, distance
        if room < zone:
            at = free_row(rooms, count, room)
            gradient(h, axes, one, two, x, normal, g)
            if at >= 0 and put_approach(p, s, g, room, time, table, n + at):
                rooms[at] = room
                count = max(count, at + 1)
    s.near_room, s.near_revision = smallest, p.revision
    s.near_q[:] = s.q_command
    return n + count


@kernel
def free_row(rooms, count, room):
    """Which row a pair with so much room gets: a new one, or that of the farthest pair; -1: none."""
    if count < NEAR:
        return count
    farthest = 0
    for k in range(1, NEAR):
        if rooms[k] > rooms[farthest]:
            farthest = k
    return farthest if room < rooms[farthest] else -1


@kernel
def put_approach(p, s, g, room, time, table, row):
    """One row, of length one; g: gradient of the distance. Returns whether there is anything to bound."""
    closing, square = 0.0, 0.0
    for k in range(6):
        closing -= g[k] * s.qd_command[k]
        square += g[k] * g[k]
    if not square > SMALLEST * SMALLEST:
        return False
    length = math.sqrt(square)
    for k in range(6):
        table[row, k] = -g[k] / length
    table[row, 6] = 0.0
    slowest = closing - p.max_acceleration[0] * s.period  # that can be reached in one tick
    table[row, BOUND] = max(stoppable_speed(room, closing, time, s.period), slowest) / length
    table[row, FLAG] = COLLISION
    return True


@kernel
def hits(p, s, qd, least, way):
    """Whether a pair comes nearer than `least` on the straight line of joint angles q ... q + way qd."""
    h = p.shapes
    P, axes, q = ends(), mat6(), vec6()
    for look in range(1, LOOKS + 1):
        for k in range(6):
            q[k] = s.q_command[k] + look / LOOKS * way * qd[k]
        place(p.chain_rotation, p.chain_position, h, q, P, axes)
        if smallest_distance(h, P, least)[1] >= 0:
            return True
    return False


@kernel
def least_room(p, room):
    return p.shapes.clearance + min(-STOP_SLACK, room - INSIDE)


@kernel
def stops_clear(p, s, room, qd, twist, dt):
    """Whether the arm could stop before it hits anything. Braking all joints together keeps them on a straight line,
    which is looked at."""
    way = dt + 0.5 * stopping_time(p, twist, qd)
    return room > fastest(p.shapes, qd) * way or not hits(p, s, qd, least_room(p, room), way)


@kernel
def slow_until_clear(p, s, J, braking, room, qd, twist, dt):
    """qd := as much of it, the rest braking, that the arm can stop before it hits anything. braking: brake, hold. The
    joints on their line were clear one tick ago, but that bends the path of the tool: it is held on its own line, where
    its norms are kept, unless that hits something."""
    (brake, slower), trial, its = braking, vec6(), vec6()
    twist_of(J, slower, its)
    if not stops_clear(p, s, room, slower, its, dt):
        slower = brake
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        t = 0.5 * (low + high)
        for i in range(6):
            trial[i] = slower[i] + t * (qd[i] - slower[i])
        twist_of(J, trial, its)
        if stops_clear(p, s, room, trial, its, dt):
            low = t
        else:
            high = t
    for i in range(6):
        qd[i] = slower[i] + low * (qd[i] - slower[i])
    twist_of(J, qd, twist)


@kernel
def nearest_pair(p, q, limit):
    """(distance, capsule, body) of the nearest two bodies at the joint angles q; (limit, -1, -1): none is so near."""
    P, axes = ends(), mat6()
    place(p.chain_rotation, p.chain_position, p.shapes, q, P, axes)
    return smallest_distance(p.shapes, P, limit)


@kernel(PARAMS, (6,), returns=float)
def nearest(p, q):
    """Smallest distance of an arm to itself and all things [m], at most 1."""
    return nearest_pair(p, q, 1.0)[0]
