"""Limit of the edge of the reach: the elbow of a UR stays bent. Straight, it could fold to either side."""

import math

from ur_admittance.core.kernel import kernel
from ur_admittance.core.limits.approach import stoppable_speed
from ur_admittance.core.limits.rows import put_joint
from ur_admittance.core.records import Limit

EVIDENCE = Limit.SINGULARITY
SINGULARITY = int(Limit.SINGULARITY)
ELBOW = 2  # the joint whose zero is the edge of the reach of a UR


@kernel
def straightening(p, s, time, dt):
    """How fast the elbow may straighten [rad/s], inf: an arm without this edge."""
    if not p.elbow_margin > 0.0:
        return math.inf
    bend, present = s.q_command[ELBOW], s.qd_command[ELBOW]
    return stoppable_speed(abs(bend) - p.elbow_margin, -present if bend > 0.0 else present, time, dt)


@kernel
def put_rows(p, s, J, now, time, places, table, n):
    """The row also while the elbow cannot get that slow in one tick: a row that came and went would make it chatter."""
    straighten = straightening(p, s, time, s.period)
    if straighten >= p.joint_velocity[ELBOW]:
        return n
    side = -1.0 if s.q_command[ELBOW] > 0.0 else 1.0
    slowest = side * s.qd_command[ELBOW] - p.joint_acceleration[ELBOW] * s.period
    return put_joint(table, n, ELBOW, side, max(straighten, slowest), SINGULARITY)
