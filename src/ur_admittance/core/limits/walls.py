"""Limit of the workspace: six walls, seen from the commanded or the measured position, whichever is closer."""

import math

from ur_admittance.core.chain import forward, twist_of
from ur_admittance.core.kernel import kernel, mat3, mat6, vec3, vec6
from ur_admittance.core.limits.approach import NEAR_RATE, PLANNED, stoppable_speed
from ur_admittance.core.limits.rows import put_row
from ur_admittance.core.records import Limit

EVIDENCE = Limit.WORKSPACE
WORKSPACE = int(Limit.WORKSPACE)
FAR = 0.01  # [m] from a wall, an arm at rest need not look at it


@kernel
def far_from_walls(p, s, J, time, places):
    """Whether the tool stays clear of all walls wherever the present motion could lead while it stops."""
    room = math.inf
    for i in range(3):
        room = min(room, p.workspace_max[i] - max(places[0, i], places[1, i]))
        room = min(room, min(places[0, i], places[1, i]) - p.workspace_min[i])
    speed = 0.0
    for k in range(6):
        speed += abs(s.qd_command[k]) * math.sqrt(J[0, k] ** 2 + J[1, k] ** 2 + J[2, k] ** 2)
    return room > FAR + 2.0 * speed * (time / PLANNED + 1.0 / NEAR_RATE)


@kernel
def towards_wall(room, now, mean, least, time, dt):
    """Largest speed towards a wall. now: the present one; mean: its mean until the motion would stop, which differs
    because the straight line of the joints is a curve of the tool; least: what can be reached in one tick. Outside, the
    tool need not come back by itself."""
    curved = max(stoppable_speed(room, mean, time, dt) - (mean - now), -NEAR_RATE * max(room, 0.0))
    return max(min(stoppable_speed(room, now, time, dt), curved), least)


@kernel
def put_rows(p, s, J, now, time, places, table, n):
    """A row for each wall; none far from all of them."""
    if far_from_walls(p, s, J, time, places):
        return n
    dt = s.period
    q, R, middle, J_middle, mean, axis = vec6(), mat3(), vec3(), mat6(), vec6(), vec6()
    for i in range(6):
        q[i] = s.q_command[i] + 0.5 * (0.5 * time / PLANNED + dt) * s.qd_command[i]
        axis[i] = 0.0
    forward(p.chain_rotation, p.chain_position, q, R, middle, J_middle)
    twist_of(J_middle, s.qd_command, mean)
    a_dt = p.max_acceleration[0] * dt  # from the last twist: joints that turn the tool fast would carry it on faster
    for i in range(3):
        up = p.workspace_max[i] - max(places[0, i], places[1, i])
        down = min(places[0, i], places[1, i]) - p.workspace_min[i]
        axis[i] = 1.0
        least = min(now[i], s.twist[i]) - a_dt
        n = put_row(table, n, J, axis, towards_wall(up, now[i], mean[i], least, time, dt), WORKSPACE)
        axis[i] = -1.0
        least = min(-now[i], -s.twist[i]) - a_dt
        n = put_row(table, n, J, axis, towards_wall(down, -now[i], -mean[i], least, time, dt), WORKSPACE)
        axis[i] = 0.0
    return n
