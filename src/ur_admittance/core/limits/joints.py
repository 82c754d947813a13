"""Limit of the joints: position, speed and acceleration of each; all of them slow the whole motion down."""

from ur_admittance.core.kernel import kernel
from ur_admittance.core.limits.approach import stoppable_speed
from ur_admittance.core.limits.reach import ELBOW, SINGULARITY, straightening
from ur_admittance.core.limits.rows import KEPT, put_joint
from ur_admittance.core.records import Limit
from ur_admittance.core.spatial import clip

EVIDENCE = Limit.JOINT_VELOCITY | Limit.JOINT_ACCELERATION | Limit.JOINT_POSITION
JOINT_VELOCITY, JOINT_ACCELERATION = int(Limit.JOINT_VELOCITY), int(Limit.JOINT_ACCELERATION)
JOINT_POSITION = int(Limit.JOINT_POSITION)


@kernel
def top_speed(p, s, i, direction):
    """Speed limit of joint i in this direction (1 or -1) [rad/s]: less where the command already leads the arm."""
    ahead = direction * s.unexplained[i]
    if ahead <= p.max_following_error:
        return p.joint_velocity[i]
    return min(p.joint_velocity[i], s.recent_speed[i]) * clip(2.0 - ahead / p.max_following_error, 0.0, 1.0)


@kernel
def joint_bounds(p, s, time, dt, low, high, why_low, why_high):
    """Bounds of each joint speed, and the Limit that each is due to."""
    for i in range(6):
        present, step = s.qd_command[i], p.joint_acceleration[i] * dt
        up = stoppable_speed(p.joint_upper[i] - s.q_command[i], present, time, dt)
        down = stoppable_speed(s.q_command[i] - p.joint_lower[i], -present, time, dt)
        top_up, top_down = top_speed(p, s, i, 1.0), top_speed(p, s, i, -1.0)
        why_high[i] = JOINT_POSITION if up < top_up else JOINT_VELOCITY
        why_low[i] = JOINT_POSITION if down < top_down else JOINT_VELOCITY
        up, down = min(up, top_up), min(down, top_down)
        if i == ELBOW:
            straighten, bend = straightening(p, s, time, dt), s.q_command[i]
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


@kernel
def joints_kept(low, high, qd):
    for i in range(6):
        if not low[i] - KEPT <= qd[i] <= high[i] + KEPT:
            return False
    return True


@kernel
def put_joints(low, high, why_low, why_high, table, n):
    """Both rows of each joint. Returns the number of rows."""
    for i in range(6):
        n = put_joint(table, n, i, 1.0, high[i], why_high[i])
        n = put_joint(table, n, i, -1.0, -low[i], why_low[i])
    return n
