"""Is what the stages behind the law made of its command fit to be sent? In 2 us, where NumPy took 70."""

from ur_admittance.core.chain import forward, twist_of
from ur_admittance.core.checks import is_sane
from ur_admittance.core.compile import kernel, mat3, mat6, vec3, vec6
from ur_admittance.core.following import DRIFT
from ur_admittance.core.spatial import norm

FIT, NOT_FINITE, AWAY, TOO_FAST, TOO_FAR, OUTSIDE, TOOL_TOO_FAST, TOOL_TURNS = range(8)

ROUNDING = 2e-6  # [rad] by which the tick keeps a joint inside its limits (core/tick.py), twice
TOLERANCE = 1.001  # of a joint's speed limit: rounding of a step divided by its time
TOOL_TOLERANCE = 1.5  # of the tool's speed limits: joints that catch up one after the other reached 1.26


@kernel
def begins_anew(state, law, last):
    """Whether the law's command did not get where it is by its own speed; last (6,): its last angles, updated."""
    s, c = state[0], law[0]
    anew = False
    for i in range(6):
        step = c.qd[i] * s.period
        if not abs(c.q[i] - last[i] - step) <= DRIFT * abs(step) + ROUNDING:  # NaN too: in the first cycle
            anew = True
        last[i] = c.q[i]
    return anew


@kernel
def check_sent(params, state, law, sent, last, anew, evidence):
    """FIT or the first thing that is wrong; last (6,): the angles sent last; evidence: joint, value, bound."""
    p, s, c, o = params[0], state[0], law[0], sent[0]
    if not (is_sane(o.q) and is_sane(o.qd)):
        return NOT_FINITE
    for i in range(6):
        evidence[0] = i + 1
        # a limit that has just been lowered: the tick brakes
        fastest = TOLERANCE * max(p.joint_velocity[i], s.recent_speed[i])
        evidence[1], evidence[2] = abs(o.q[i] - c.q[i]), p.max_following_error + p.following_time * s.recent_speed[i]
        if evidence[1] > evidence[2]:
            return AWAY
        evidence[1], evidence[2] = abs(o.qd[i]), fastest
        if evidence[1] > evidence[2]:
            return TOO_FAST
        evidence[1], evidence[2] = abs(o.q[i] - last[i]), fastest * s.period + ROUNDING
        if not anew and evidence[1] > evidence[2]:
            return TOO_FAR
        law_outside = max(p.joint_lower[i] - c.q[i], c.q[i] - p.joint_upper[i])
        evidence[1], evidence[2] = max(p.joint_lower[i] - o.q[i], o.q[i] - p.joint_upper[i]), max(law_outside, 0.0)
        if evidence[1] > evidence[2] + ROUNDING:
            return OUTSIDE
    rotation, position, jacobian, twist = mat3(), vec3(), mat6(), vec6()
    forward(p.chain_rotation, p.chain_position, o.q, rotation, position, jacobian)
    twist_of(jacobian, o.qd, twist)
    for part in range(2):
        speed, of_law = norm(twist[3 * part : 3 * part + 3]), norm(c.twist[3 * part : 3 * part + 3])
        evidence[1], evidence[2] = speed, TOOL_TOLERANCE * max(p.max_velocity[part], of_law)
        if evidence[1] > evidence[2]:
            return TOOL_TOO_FAST + part
    return FIT
