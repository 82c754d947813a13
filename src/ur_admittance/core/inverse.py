"""4  Twist -> joint velocities inside their bounds, direction preserved.

singular.py computes the joint velocities for a twist. Bounds then slow the whole vector down (speed, position) or let
it turn more slowly (acceleration): a joint at its limit does not bend the path of the tool.
"""

import math

from .chain import forward
from .compile import kernel, mat3, mat6, vec3, vec6
from .records import Limit
from .singular import damped_factor, damped_inverse
from .spatial import norm

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
def twist_of(J, qd, twist):
    for i in range(6):
        total = 0.0
        for k in range(6):
            total += J[i, k] * qd[k]
        twist[i] = total
