"""0  May the arm comply? A force at rest that nothing explains would move it although nobody pushes it."""

import math

from ur_admittance.core.kernel import kernel, vec6
from ur_admittance.core.memory import stands_still
from ur_admittance.core.records import Mode, Request, Status
from ur_admittance.core.spatial import norm

OK, ACTIVE, FORGET_REST = int(Status.OK), int(Mode.ACTIVE), int(Request.FORGET_REST)
UNEXPLAINED_FORCE, UNEXPLAINED_TORQUE = int(Status.UNEXPLAINED_FORCE), int(Status.UNEXPLAINED_TORQUE)
SEEN = 0.5  # [s] at rest before an arm that nobody has watched complies, and before a doubt is reported unasked
REST_TIME = 0.25  # [s] over which the reading is averaged: its noise is a tenth then
LEAP_FORCE, LEAP_TORQUE = 5.0, 0.5  # [N], [Nm] beyond any noise: something was taken away or came
LEAST_FORCE, LEAST_TORQUE = 0.5, 0.05  # [N], [Nm] allowed where there is no deadband: more than sensors vary by


@kernel
def not_felt(deadband, force_axes, enabled, least):
    """Largest force or torque at rest that leaves the arm where it is: the deadband, which force axes do not have."""
    allowed = math.inf
    for i in range(3):
        if enabled[i] != 0.0:
            allowed = min(allowed, least if force_axes[i] != 0.0 else max(deadband, least))
    return allowed


@kernel
def unexplained(p, s):
    """(Status, value, bound): what the arm would yield to if it complied now; OK: nothing."""
    force, torque = norm(s.rest_wrench[:3]), norm(s.rest_wrench[3:])
    allowed = not_felt(p.deadband_force, p.force_axes[:3], p.enabled[:3], LEAST_FORCE)
    if force > allowed:
        return UNEXPLAINED_FORCE, force, allowed
    allowed = not_felt(p.deadband_torque, p.force_axes[3:], p.enabled[3:], LEAST_TORQUE)
    if torque > allowed:
        return UNEXPLAINED_TORQUE, torque, allowed
    return OK, 0.0, 0.0


@kernel
def observe_rest(p, s, u, wrench, dt):
    """Mean reading of an arm that stands and does not comply, since the last leap of it or change of parameters, and
    whether it is in doubt. wrench: about the TCP, base axes (6,) [N, Nm]."""
    s.rest_doubt = OK
    if u.request & FORGET_REST or s.rest_revision != p.revision:
        s.rest_time = 0.0
    s.rest_revision = p.revision
    if s.mode == ACTIVE or not stands_still(s):
        s.rest_time = 0.0
        return
    change = vec6()
    for i in range(6):
        change[i] = wrench[i] - s.rest_wrench[i]
    if norm(change[:3]) > LEAP_FORCE or norm(change[3:]) > LEAP_TORQUE:
        s.rest_time = 0.0
    s.rest_time = min(s.rest_time + dt, 1.0)
    share = dt / min(s.rest_time, REST_TIME) if s.rest_time > dt else 1.0
    for i in range(6):
        s.rest_wrench[i] += share * change[i]
    s.rest_doubt, s.rest_evidence[0], s.rest_evidence[1] = unexplained(p, s)
