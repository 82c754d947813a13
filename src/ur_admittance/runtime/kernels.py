"""Is what the stages behind the law made of its command fit to be sent? In 2 us, where NumPy took 70."""

from ur_admittance.core.chain import forward, twist_of
from ur_admittance.core.checks import is_sane
from ur_admittance.core.kernel import kernel, mat3, mat6, vec3, vec6
from ur_admittance.core.motion.following import DRIFT
from ur_admittance.core.records import COMMAND, PARAMS, STATE
from ur_admittance.core.spatial import norm

FIT, NOT_FINITE, AWAY, TOO_FAST, TOO_FAR, OUTSIDE, TOOL_TOO_FAST, TOOL_TURNS = range(8)

ROUNDING = 2e-6  # [rad] by which the tick keeps a joint inside its limits (core/tick.py), twice
TOLERANCE = 1.001  # of a joint's speed limit: rounding of a step divided by its time
LEAST = 2e-4  # [rad/s] above a joint's speed limit: the room that Ruckig needs (control/chaining.py), twice
TOOL_TOLERANCE = 1.5  # of the tool's speed limits: joints that catch up one after the other reached 1.26
LATE = 0.25  # [s] for which at least what the law was allowed stays allowed: the stages are late by less
SPEED, TOOL, BEYOND = 0, 6, 8  # in `allowed`: speeds of joints [rad/s], of the tool [m/s, rad/s], angles beyond [rad]
ALLOWED = 14


@kernel(PARAMS, COMMAND, (2, ALLOWED), (1,), float)
def remember(p, c, allowed, age, dt):
    """What the law is allowed and does, and did in the last LATE to 2 LATE seconds: when a limit is lowered the tick
    brakes, and the stages after it. allowed (2, 14): largest values since the last turn, and before; age (1,) of it."""
    age[0] += dt
    if age[0] > LATE:
        age[0] = 0.0
        allowed[1, :] = allowed[0]
        allowed[0, :] = 0.0
    for i in range(6):
        outside = max(p.joint_lower[i] - c.q[i], c.q[i] - p.joint_upper[i])
        allowed[0, SPEED + i] = max(allowed[0, SPEED + i], p.joint_velocity[i], abs(c.qd[i]))
        allowed[0, BEYOND + i] = max(allowed[0, BEYOND + i], outside)
    for part in range(2):
        of_law = norm(c.twist[3 * part : 3 * part + 3])
        allowed[0, TOOL + part] = max(allowed[0, TOOL + part], p.max_velocity[part], of_law)


@kernel(STATE, COMMAND, (6,), returns=bool)
def begins_anew(s, c, last):
    """Whether the law's command did not get where it is by its own speed; last (6,): its last angles, updated."""
    anew = False
    for i in range(6):
        step = c.qd[i] * s.period
        if not abs(c.q[i] - last[i] - step) <= DRIFT * abs(step) + ROUNDING:  # NaN too: in the first cycle
            anew = True
        last[i] = c.q[i]
    return anew


@kernel(PARAMS, STATE, COMMAND, COMMAND, (6,), (2, ALLOWED), (3,), bool, returns=int)
def check_sent(p, s, c, o, last, allowed, evidence, anew):
    """FIT or the first thing that is wrong. c: the law's command, o: the stage's; last (6,): its last angles; evidence:
    joint, value, bound."""
    if not (is_sane(o.q) and is_sane(o.qd)):
        return NOT_FINITE
    moved = vec6()
    for i in range(6):
        moved[i] = o.qd[i] if anew else (o.q[i] - last[i]) / s.period
        evidence[0] = i + 1
        fastest = TOLERANCE * max(allowed[0, SPEED + i], allowed[1, SPEED + i]) + LEAST
        evidence[1], evidence[2] = abs(o.q[i] - c.q[i]), p.max_following_error + p.following_time * s.recent_speed[i]
        if evidence[1] > evidence[2]:
            return AWAY
        evidence[1], evidence[2] = abs(o.qd[i]), fastest
        if evidence[1] > evidence[2]:
            return TOO_FAST
        evidence[1], evidence[2] = abs(moved[i]) * s.period, fastest * s.period + ROUNDING
        if not anew and evidence[1] > evidence[2]:
            return TOO_FAR
        evidence[1] = max(p.joint_lower[i] - o.q[i], o.q[i] - p.joint_upper[i])
        evidence[2] = max(allowed[0, BEYOND + i], allowed[1, BEYOND + i])
        if evidence[1] > evidence[2] + ROUNDING:
            return OUTSIDE
    rotation, position, jacobian, told, done = mat3(), vec3(), mat6(), vec6(), vec6()
    forward(p.chain_rotation, p.chain_position, o.q, rotation, position, jacobian)
    twist_of(jacobian, o.qd, told)
    twist_of(jacobian, moved, done)  # an arm that is sent angles does not look at speeds
    for part in range(2):
        axes = slice(3 * part, 3 * part + 3)
        evidence[1] = max(norm(told[axes]), norm(done[axes]))
        evidence[2] = TOOL_TOLERANCE * max(allowed[0, TOOL + part], allowed[1, TOOL + part])
        if evidence[1] > evidence[2]:
            return TOOL_TOO_FAST + part
    return FIT
