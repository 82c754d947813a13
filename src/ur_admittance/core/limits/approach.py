"""Braking distance: how every limit on a position is kept.

Whatever the arm approaches, it could stop before it by braking all joints together, which keeps them on a straight line
of joint angles. Braking along the present motion is always allowed: no bound is tighter than what this needs, so bounds
never contradict each other for long.
"""

import math

from ur_admittance.core.kernel import kernel
from ur_admittance.core.spatial import norm

BRAKING = 0.9  # fraction of the accelerations planned for braking: the rest absorbs the curvature of the path
PLANNED = 0.5  # fraction of that braking which an approach counts on
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
