"""3  Bounds on the next joint speeds: speed, acceleration and position of the joints, the elbow, the walls.

A position is kept by its braking distance: whatever the arm approaches, it could stop before it by braking all joints
together, which keeps them on a straight line of joint angles. Braking along the present motion is always allowed: no
bound is tighter than what this needs, so bounds never contradict each other for long.
"""

import math

from ur_admittance.core.chain import forward, twist_of
from ur_admittance.core.compile import kernel, mat3, mat6, vec3, vec6
from ur_admittance.core.limits.rows import put_joint, put_row
from ur_admittance.core.records import Limit
from ur_admittance.core.spatial import clip, norm

JOINT_VELOCITY, JOINT_ACCELERATION = int(Limit.JOINT_VELOCITY), int(Limit.JOINT_ACCELERATION)
JOINT_POSITION, SINGULARITY = int(Limit.JOINT_POSITION), int(Limit.SINGULARITY)
WORKSPACE = int(Limit.WORKSPACE)

ELBOW = 2  # the joint whose zero is the edge of the reach of a UR
BRAKING = 0.9  # fraction of the accelerations planned for braking: the rest absorbs the curvature of the path
PLANNED = 0.5  # fraction of that braking which an approach counts on
FAR = 0.01  # [m] from a wall, an arm at rest need not look at it
NEAR_RATE = 20.0  # [1/s] close to a limit the speed falls linearly: braking along sqrt(2 a d) would chatter there


@kernel
def stopping_time(p, twist, qd):
    """Time in which the whole motion comes to rest within joint and tool accelerations [s]."""
    longest = 0.0
    for i in range(6):
        longest = max(longest, abs(qd[i]) / p.joint_acceleration[i])
    for part in range(2):
        longest = max(longest, norm(twist[3 * part : 3 * part + 3]) / p.max_acceleration[part])
    return longest / BRAKING


@kernel
def stoppable_speed(room, speed, time, dt):
    """How fast something `room` away may be approached, now approached with `speed`, by a motion that needs `time` to
    stop. Braking all of it together covers  speed time / 2, so the limit is 2 room / time. The time itself shrinks with
    the speed: the geometric mean with the present speed goes to where they agree without chatter."""
    if room <= 0.0:
        return 0.0
    limit = 2.0 * room / (time / PLANNED + 3.0 * dt)
    return min(math.sqrt(max(speed, 0.25 * limit) * limit), NEAR_RATE * room)


@kernel
def top_speed(p, s, i, direction):
    """Speed limit of joint i in this direction (1 or -1) [rad/s]: less where the command already leads the arm."""
    ahead = direction * s.unexplained[i]
    if ahead <= p.max_following_error:
        return p.joint_velocity[i]
    return min(p.joint_velocity[i], s.recent_speed[i]) * clip(2.0 - ahead / p.max_following_error, 0.0, 1.0)


@kernel
def joint_bounds(p, s, time, dt, low, high, why_low, why_high):
    """Bounds of each joint speed, and the Limit that each is due to. Returns how fast the elbow may straighten."""
    straighten = math.inf
    for i in range(6):
        present, step = s.qd_command[i], p.joint_acceleration[i] * dt
        up = stoppable_speed(p.joint_upper[i] - s.q_command[i], present, time, dt)
        down = stoppable_speed(s.q_command[i] - p.joint_lower[i], -present, time, dt)
        top_up, top_down = top_speed(p, s, i, 1.0), top_speed(p, s, i, -1.0)
        why_high[i] = JOINT_POSITION if up < top_up else JOINT_VELOCITY
        why_low[i] = JOINT_POSITION if down < top_down else JOINT_VELOCITY
        up, down = min(up, top_up), min(down, top_down)
        if i == ELBOW and p.elbow_margin > 0.0:  # straight, it could fold to either side
            bend = s.q_command[i]
            straighten = stoppable_speed(abs(bend) - p.elbow_margin, -present if bend > 0.0 else present, time, dt)
            if bend > 0.0 and straighten < down:
                down, why_low[i] = straighten, SINGULARITY
            elif bend <= 0.0 and straighten < up:
                up, why_high[i] = straighten, SINGULARITY
        high[i] = clip(up, present - step, present + step)
        low[i] = clip(-down, present - step, present + step)
        if high[i] != up:
            why_high[i] = JOINT_ACCELERATION
        if low[i] != -down:
            why_low[i] = JOINT_ACCELERATION
    return straighten


@kernel
def far_from_walls(p, s, J, time, position, measured):
    """Whether the tool stays clear of all walls wherever the present motion could lead while it stops."""
    room = math.inf
    for i in range(3):
        room = min(room, p.workspace_max[i] - max(position[i], measured[i]))
        room = min(room, min(position[i], measured[i]) - p.workspace_min[i])
    speed = 0.0
    for k in range(6):
        speed += abs(s.qd_command[k]) * math.sqrt(J[0, k] ** 2 + J[1, k] ** 2 + J[2, k] ** 2)
    return room > FAR + 2.0 * speed * (time / PLANNED + 1.0 / NEAR_RATE)


@kernel
def towards_wall(room, now, mean, a_dt, time, dt):
    """Largest speed towards a wall. now: the present one; mean: its mean until the motion would stop, which differs
    because the straight line of the joints is a curve of the tool. Outside, the tool need not come back by itself."""
    curved = max(stoppable_speed(room, mean, time, dt) - (mean - now), -NEAR_RATE * max(room, 0.0))
    return max(min(stoppable_speed(room, now, time, dt), curved), now - a_dt)


@kernel
def put_elbow(p, s, straighten, A, b, flags, dt):
    """Row of the edge of the reach, also while the elbow cannot get that slow in one tick: a row that came and went
    would make it chatter. Returns the number of rows."""
    if straighten >= p.joint_velocity[ELBOW]:
        return 0
    side = -1.0 if s.q_command[ELBOW] > 0.0 else 1.0
    slowest = side * s.qd_command[ELBOW] - p.joint_acceleration[ELBOW] * dt
    return put_joint(A, b, flags, 0, ELBOW, side, max(straighten, slowest), SINGULARITY)


@kernel
def gates(p, s, J, now, time, straighten, position, measured, A, b, flags, dt):
    """Rows of the edge of the reach and of the walls, these seen from the commanded or the measured position, whichever
    is closer. now: the present twist. Returns their number."""
    n = put_elbow(p, s, straighten, A, b, flags, dt)
    if far_from_walls(p, s, J, time, position, measured):
        return n
    q, R, middle, J_middle, mean, axis = vec6(), mat3(), vec3(), mat6(), vec6(), vec6()
    for i in range(6):
        q[i] = s.q_command[i] + 0.5 * (0.5 * time / PLANNED + dt) * s.qd_command[i]
        axis[i] = 0.0
    forward(p.chain_rotation, p.chain_position, q, R, middle, J_middle)
    twist_of(J_middle, s.qd_command, mean)
    a_dt = p.max_acceleration[0] * dt
    for i in range(3):
        up = p.workspace_max[i] - max(position[i], measured[i])
        down = min(position[i], measured[i]) - p.workspace_min[i]
        axis[i] = 1.0
        n = put_row(A, b, flags, n, J, axis, towards_wall(up, now[i], mean[i], a_dt, time, dt), WORKSPACE)
        axis[i] = -1.0
        n = put_row(A, b, flags, n, J, axis, towards_wall(down, -now[i], -mean[i], a_dt, time, dt), WORKSPACE)
        axis[i] = 0.0
    return n
