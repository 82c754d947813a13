"""Back along the way it came: out of a contact that stopped the arm, on request, slowly, until the load is small.

    load = max(force / max_force, torque / max_torque)

The trail is a ring of commanded joint positions. A retreat takes them from the newest to the oldest; it ends when the
load is below RELEASED, stops when the load grows, when the arm does not follow, when a place is no longer allowed, when
the request ends, at the end of the trail or at a fault, and starts only from standstill on a new request.
"""

import math

from ur_admittance.core.chain import forward, twist_of
from ur_admittance.core.checks import is_sane
from ur_admittance.core.kernel import kernel, mat3, mat6, vec3, vec6
from ur_admittance.core.limits.approach import stopping_time
from ur_admittance.core.limits.joints import joint_bounds
from ur_admittance.core.limits.obstacles import nearest_pair
from ur_admittance.core.records import TRAIL, Request, Status
from ur_admittance.core.spatial import clip, norm

RETREAT = int(Request.RETREAT)
OK, OVER_FORCE, OVER_TORQUE = int(Status.OK), int(Status.OVER_FORCE), int(Status.OVER_TORQUE)
RETREATING, RETREATED = int(Status.RETREATING), int(Status.RETREATED)
RETREAT_BLOCKED, RETREAT_ENDED = int(Status.RETREAT_BLOCKED), int(Status.RETREAT_ENDED)
RETREAT_CLOSED, NOT_FOLLOWING = int(Status.RETREAT_CLOSED), int(Status.NOT_FOLLOWING)

SPACING = 0.01  # [rad] between places of the trail, largest of the joints: 32 of them are 200 to 400 mm of the tool
CLOSE = 0.002  # [rad] to a place before the next one is aimed at
JOINT_SPEED = 0.1  # [rad/s]
TOOL_SPEED = (0.02, 0.1)  # [m/s, rad/s]
SHARE = 0.5  # of the acceleration limits: the rest is for the bends of the path
RELEASED = 0.2  # load below which the tool counts as released: far from a stop, above the errors of a tool's weight
GROWTH = 0.05  # by which the load may exceed its lowest value ...
NOISE = 2.0  # [N] ... or by this much: friction turns round on the way back, and sensors are noisy
NEARER = 1e-3  # [m] by which a place may be nearer to a thing, or farther outside a wall, than limits and present place
BODY = 16.0  # evidence of two bodies: first + BODY * second
WALL = -1.0  # evidence of a wall of the workspace
MOST, TINY = 1e6, 1e-9  # a load stays finite with any limits
LOAD_TIME = 0.02  # [s] smoothing of the load


@kernel
def remember_place(s):
    if s.retreating != 0:
        return
    if s.trail_count > 0:
        near = True
        for i in range(6):
            near &= abs(s.q_command[i] - s.trail[s.trail_newest, i]) < SPACING
        if near:
            return
    s.trail_newest = (s.trail_newest + 1) % TRAIL
    s.trail_count = min(s.trail_count + 1, TRAIL)
    s.trail[s.trail_newest, :] = s.q_command


@kernel
def change_retreat(p, s, u, found, load, lead, standing, dt):
    """In a fault: start, go on or stop. load: force and torque on the tool; lead: of the command over the arm."""
    status, value, bound = found
    asked = u.request & RETREAT != 0
    fresh = asked and s.retreat_asked == 0
    s.retreat_asked = 1 if asked else 0
    usable = status == OK or status == OVER_FORCE or status == OVER_TORQUE
    follows = lead <= p.max_following_error
    share = min(max(load[0] / max(p.max_force, TINY), load[1] / max(p.max_torque, TINY)), MOST)
    if s.retreating == 0:
        if not (usable and fresh and standing and follows):
            return
        s.load = s.lowest_load = share
    s.load += (share - s.load) * min(1.0, dt / LOAD_TIME)
    s.lowest_load = min(s.lowest_load, s.load)
    if not usable:
        pass
    elif s.load < RELEASED:
        status, value, bound = RETREATED, s.load, RELEASED
    elif s.load > s.lowest_load + max(GROWTH, NOISE / max(p.max_force, TINY)):
        status, value, bound = RETREAT_BLOCKED, s.load, s.lowest_load
    elif not follows:
        status, value, bound = NOT_FOLLOWING, lead, p.max_following_error
    elif not asked or s.trail_count == 0:
        status, value, bound = RETREAT_ENDED, s.load, RELEASED
    else:
        value, bound = in_the_way(p, s)
        status = RETREAT_CLOSED
        if value < WALL:
            status, value, bound = RETREATING, s.load, RELEASED
    s.status, s.evidence[0], s.evidence[1] = status, value, bound
    s.retreating = 1 if status == RETREATING else 0


@kernel
def in_the_way(p, s):
    """The arm has been at the next place, but walls and boxes may have changed since. Returns what is there now, as
    evidence (below WALL: nothing), and its distance [m]."""
    place = s.trail[s.trail_newest]
    if not is_sane(place):
        return WALL - 1.0, 0.0
    R, J, here, there = mat3(), mat6(), vec3(), vec3()
    forward(p.chain_rotation, p.chain_position, s.q_command, R, here, J)
    forward(p.chain_rotation, p.chain_position, place, R, there, J)
    for i in range(3):
        inside = min(there[i] - p.workspace_min[i], p.workspace_max[i] - there[i])
        if inside < min(0.0, min(here[i] - p.workspace_min[i], p.workspace_max[i] - here[i])) - NEARER:
            return WALL, inside
    if p.shapes.on != 0:
        now = nearest_pair(p, s.q_command, p.shapes.clearance)[0]
        distance, one, two = nearest_pair(p, place, now - NEARER)
        if one >= 0:
            return one + BODY * two, distance
    return WALL - 1.0, 0.0


@kernel
def go_back(p, s, J, dt, qd):
    """Joint speeds towards the newest place of the trail, which is left behind when it is reached. False: no place."""
    distance = 0.0
    while s.trail_count > 0:
        place = s.trail[s.trail_newest]
        if is_sane(place):
            distance = 0.0
            for i in range(6):
                distance = max(distance, abs(place[i] - s.q_command[i]))
            if distance > CLOSE:
                break
        s.trail_count -= 1
        s.trail_newest = (s.trail_newest - 1) % TRAIL
    if s.trail_count == 0:
        return False
    R, position, way, twist = mat3(), vec3(), vec6(), vec6()
    forward(p.chain_rotation, p.chain_position, s.q_command, R, position, J)
    for i in range(6):
        way[i] = s.trail[s.trail_newest, i] - s.q_command[i]
    twist_of(J, way, twist)
    rate = math.inf  # of the way per second
    for i in range(6):
        if way[i] != 0.0:
            turn = math.sqrt(SHARE * p.joint_acceleration[i] * CLOSE)  # slow enough to take a bend within CLOSE
            rate = min(rate, min(min(JOINT_SPEED, turn), p.joint_velocity[i]) / abs(way[i]))
    for part in range(2):
        size = norm(twist[3 * part : 3 * part + 3])
        if size > 0.0:
            rate = min(rate, min(TOOL_SPEED[part], p.max_velocity[part]) / size)
    change, low, high, why = vec6(), vec6(), vec6(), vec6()
    share = 1.0
    for i in range(6):
        change[i] = rate * way[i] - s.qd_command[i]
        if change[i] != 0.0:
            share = min(share, SHARE * p.joint_acceleration[i] * dt / abs(change[i]))
    twist_of(J, change, twist)
    for part in range(2):
        size = norm(twist[3 * part : 3 * part + 3])
        if size > 0.0:
            share = min(share, SHARE * p.max_acceleration[part] * dt / size)
    joint_bounds(p, s, stopping_time(p, s.twist, s.qd_command), dt, low, high, why, why)
    for i in range(6):
        qd[i] = clip(s.qd_command[i] + share * change[i], low[i], high[i])
    return is_sane(qd)
