"""0  The reading of this cycle, STATE["reading"]: of one force sensor as it is, or of two.

Both readings without bias and weight, in the axes of the first sensor and about its origin: e1, e2.

    both        y = e1 + share c,  c: low-pass of d = e2 - e1, where e1 is taken as late as the second sensor is
    doubt       y = what both feel: of each axis the smaller one, 0 where they point in opposite directions
    only one    y = e1 or e2
    output      y + gap: steps of the rule, and in doubt all changes, go into the gap, which shrinks at a limited rate

The first sensor leads: the sum is as fast as it is, whatever the second one's filter. Only slow differences are shared
out, in proportion to noise. So no fault of a sensor steps the output by more than its tolerance, and none that is
noticed (beyond the tolerance, silent, not a number) steps it at all.
"""

import math

from ur_admittance.core.chain import forward, twist_of
from ur_admittance.core.checks import is_sane
from ur_admittance.core.kernel import kernel, mat3, mat6, vec3, vec6
from ur_admittance.core.records import Status
from ur_admittance.core.spatial import clip, cross, multiply, norm, rotate, rotate_back, wrench_to_point
from ur_admittance.core.wrench.condition import load_of, without
from ur_admittance.core.wrench.fusion_record import (
    BOTH,
    DOUBT,
    DRIFTED,
    FIRST,
    JUMPED,
    NOISY,
    NOT_FINITE,
    NOTHING,
    ONLY_FIRST,
    ONLY_SECOND,
    OTHER,
    SILENT,
    STUCK,
    TOO_LARGE,
    UNDECIDED,
)

OK, DISAGREE = int(Status.OK), int(Status.SENSORS_DISAGREE)

CROSSOVER_HZ = 1.0  # below it the sensors share; a second one of 10 Hz then alters the sum by less than 5 % anywhere
RETURN_TIME = 1.0  # [s] of agreement before a sensor is used again
HAND_RATE = 2500.0  # [N/s] a firm tap by hand, 50 N in 20 ms, assumed; what rises faster on an arm at rest is no hand
STIFFEST = 80e3  # [N/m] of any UR at its tool, assumed: a hit grows no faster than this times the speed of the tool
LEVER = 0.3  # [m] from a sensor to where the tool is touched: turns the rates above into those of torques
UNTIL_LATE = 5.0  # lags after which all of a step has come through the low-pass
FAST_TIME, USUAL_TIME = 0.05, 5.0  # [s] over which the roughness of a reading is averaged, now and as usual
ROUGH = 5.0  # times the usual roughness is a fault
QUIET = 0.02  # [N] least roughness that counts as usual: a sensor without noise
LIVELY_TIME, LIVELY = 1.0, 0.02  # [s], share of cycles with another reading: less is too little to be stuck later
SLOWLY = 1.5  # [s] in which a difference grows from half the tolerance to all of it when a sensor drifts
SLOW = 0.05  # [m/s] a tool that is no faster hits nothing hard; one that creeps after a drift is slower
BEYOND = 1000.0  # [N] more than any UR can push: the sensor is saturated, or sends garbage
NEVER = 1e9  # [s] ago
MEAN_TIME = 0.1  # [s] over which a zero is averaged
LONGEST = 0.1  # [s] of a cycle


@kernel
def to_first(f, own, out):
    """A wrench of the second sensor in the axes of the first one, about its origin."""
    moment = vec3()
    rotate(f.R_first_second, own[:3], out[:3])
    rotate(f.R_first_second, own[3:], out[3:])
    cross(f.p_first_second, out[:3], moment)
    for i in range(3):
        out[3 + i] += moment[i]


@kernel
def watch(f, s, k, raw, e, own, speed, dt):
    """A usable reading of sensor k: whether it has changed, how much, how suddenly."""
    s.same_time[k] += dt
    s.jump_age[k] += dt
    changed = False
    for i in range(6):
        changed |= raw[i] != s.raw[k, i]
    if changed:
        interval = min(max(s.same_time[k], dt), LONGEST)
        step = vec6()
        possible = (HAND_RATE + STIFFEST * speed) * interval
        for i in range(6):
            step[i] = e[i] - s.e[k, i]
            if abs(step[i]) > max(f.tolerance[i], possible if i < 3 else LEVER * possible):
                s.jump_age[k] = 0.0
        s.rough[k] += min(1.0, interval / FAST_TIME) * (norm(step[:3]) - s.rough[k])
        s.same_time[k] = 0.0
    for i in range(6):
        s.raw[k, i], s.e[k, i], s.own[k, i] = raw[i], e[i], own[i]
        s.average[k, i] += min(1.0, dt / MEAN_TIME) * (own[i] - s.average[k, i])


@kernel
def blame(f, s, k, speed):
    """What speaks against sensor k after a lasting disagreement: bits, one for each kind of evidence."""
    found = 0
    if s.same_time[k] >= f.patience and s.lively[k] > LIVELY:
        found |= 1 << STUCK
    if norm(s.e[k, :3]) > BEYOND:
        found |= 1 << TOO_LARGE
    if s.rough[k] > ROUGH * max(s.usual[k], QUIET):
        found |= 1 << NOISY
    if s.jump_age[k] <= s.doubt_time + FAST_TIME:
        found |= 1 << JUMPED
    if s.apart_time - s.doubt_time > SLOWLY and speed < SLOW:
        for i in range(6):
            if abs(s.e[k, i]) > 0.5 * f.tolerance[i]:  # the other one reads what nothing but the tool's weight gives
                found |= 1 << DRIFTED
    return found


@kernel
def decide(f, s, speed):
    """(rule, why): the first kind of evidence that speaks against one sensor only."""
    first, second = blame(f, s, FIRST, speed), blame(f, s, OTHER, speed)
    for why in range(STUCK, UNDECIDED):
        bit = 1 << why
        if (first & bit) != (second & bit):
            if why == STUCK and ((second if first & bit else first) & (1 << JUMPED)):
                break  # or one has jumped, and the other is quiet
            return (ONLY_SECOND if first & bit else ONLY_FIRST), why
    return DOUBT, UNDECIDED


@kernel
def compare(f, s, dt):
    """How the readings differ: within half the tolerance, within it, beyond it (0, 1, 2)."""
    weight = -math.expm1(-dt / f.lag) if f.lag > 0.0 else 1.0
    worst, slow = 0.0, 0.0
    jumped = s.jump_age[FIRST] < UNTIL_LATE * f.lag  # which the late one does not show yet
    for i in range(6):
        s.late[i] += weight * (s.e[FIRST, i] - s.late[i])
        s.difference[i] = s.e[OTHER, i] - s.late[i]
        worst = max(worst, abs(s.difference[i]) / f.tolerance[i])
        slow = max(slow, abs(s.shared[i]) / f.tolerance[i])
        if jumped:
            worst = max(worst, abs(s.e[OTHER, i] - s.e[FIRST, i]) / f.tolerance[i])
    s.apart_time = 0.0 if slow <= 0.5 else s.apart_time + dt
    return 0 if worst <= 0.5 else 1 if worst <= 1.0 else 2


@kernel
def next_rule(f, s, usable, apart, speed, dt):
    """(rule, why) from now on. usable: 0, or why a sensor is not."""
    if s.rule == BOTH or s.rule == DOUBT:
        s.good_time = 0.0
        if usable[FIRST] != NOTHING and usable[OTHER] != NOTHING:
            return s.rule, s.why
        for k in range(2):
            if usable[k] != NOTHING:
                return (ONLY_SECOND if k == FIRST else ONLY_FIRST), int(usable[k])
        s.doubt_time = s.doubt_time + dt if apart == 2 else max(0.0, s.doubt_time - dt)
        if s.why == UNDECIDED and s.doubt_time > 0.0:
            s.doubt_time = min(s.doubt_time, f.patience)
            return DOUBT, UNDECIDED
        if s.doubt_time >= f.patience:
            return decide(f, s, speed)
        return (DOUBT if apart == 2 else BOTH), NOTHING
    leader, other = (FIRST, OTHER) if s.rule == ONLY_FIRST else (OTHER, FIRST)
    s.doubt_time = 0.0
    alive = usable[other] == NOTHING and s.same_time[other] < f.patience
    leads = usable[leader] == NOTHING
    if not alive or (leads and apart == 2):
        s.good_time = 0.0
    elif apart == 0 or not leads:
        s.good_time += dt
    if s.good_time < RETURN_TIME:
        return s.rule, s.why
    if leads:
        return BOTH, NOTHING
    return (ONLY_SECOND if leader == FIRST else ONLY_FIRST), int(usable[leader])


@kernel
def by_rule(f, s, dt, y):
    """y (6,) by the rule in force, without the gap."""
    weight = -math.expm1(-2.0 * math.pi * CROSSOVER_HZ * dt)
    for i in range(6):
        first, second = s.e[FIRST, i], s.e[OTHER, i]
        if s.rule == BOTH:
            difference = clip(s.difference[i], -f.tolerance[i], f.tolerance[i])
            s.shared[i] += weight * (difference - s.shared[i])
            y[i] = first + f.share[i] * s.shared[i]
        elif s.rule == DOUBT:
            y[i] = 0.0 if first * second <= 0.0 else first if abs(first) < abs(second) else second
        else:
            y[i] = first if s.rule == ONLY_FIRST else second


@kernel
def over_limits(p, w):
    """Whether a wrench at the first sensor is above the largest force, or torque about the TCP."""
    lever, torque = vec3(), vec3()
    rotate_back(p.R_tcp_sensor, p.p_tcp_sensor, lever)
    wrench_to_point(w[:3], w[3:], lever, torque)
    return norm(w[:3]) > p.max_force or norm(torque) > p.max_torque


@kernel
def start(s, f):
    """The memory begins with the present readings; which sensors are used stays."""
    s.revision = f.revision
    s.late[:] = s.e[FIRST]
    s.average[:, :] = s.own
    s.shared[:], s.gap[:] = 0.0, 0.0
    s.rough[:], s.usual[:], s.lively[:] = 0.0, 0.0, 0.0
    s.jump_age[:] = NEVER
    s.known_time = 0.0


@kernel
def take_readings(p, f, s, u, usable, load, dt):
    """Both readings without bias and weight; fills usable, and load of the first. Returns the tool's speed [m/s]."""
    R_tcp, position, J, R1, R2 = mat3(), vec3(), mat6(), mat3(), mat3()
    forward(p.chain_rotation, p.chain_position, u.q, R_tcp, position, J)
    multiply(R_tcp, p.R_tcp_sensor, R1)
    multiply(R1, f.R_first_second, R2)
    twist, own, e = vec6(), vec6(), vec6()
    twist_of(J, u.qd, twist)
    speed = norm(twist[:3])
    usable[FIRST] = SILENT if not u.wrench_age <= p.wrench_timeout else NOTHING if is_sane(u.wrench) else NOT_FINITE
    usable[OTHER] = (
        SILENT if not u.second_age <= p.wrench_timeout else NOTHING if is_sane(u.second_wrench) else NOT_FINITE
    )
    if usable[OTHER] == NOTHING:
        load_of(f.bias, f.weight_base, f.com, R2, load)
        without(load, f.sign, u.second_wrench, own)
        to_first(f, own, e)
        watch(f, s, OTHER, u.second_wrench, e, own, speed, dt)
    load_of(p.sensor_bias, p.tool_weight_base, p.tool_com, R1, load)
    if usable[FIRST] == NOTHING:
        without(load, p.sensor_sign, u.wrench, own)
        watch(f, s, FIRST, u.wrench, own, own, speed, dt)
    return speed


@kernel
def move_output(f, s, y, stepped, dt):
    """s.out towards y, never harder nor in another direction than it was or y is. stepped: the step goes to the gap."""
    for i in range(6):
        if stepped:
            s.gap[i] = s.out[i] - y[i]
        s.gap[i] -= clip(s.gap[i], -f.rate[i] * dt, f.rate[i] * dt)
        s.out[i] = clip(y[i] + s.gap[i], min(s.out[i], y[i], 0.0), max(s.out[i], y[i], 0.0))
        s.gap[i] = s.out[i] - y[i]


@kernel
def fuse(p, f, s, u, reading):
    """One cycle: reading, of the first sensor so far, becomes that of both. Returns its age [s]."""
    age = u.wrench_age
    if not (is_sane(u.q) and is_sane(u.qd)):
        return age
    dt = min(u.dt, LONGEST) if u.dt > 0.0 else 0.0
    usable, y, load = vec3(), vec6(), vec6()
    speed = take_readings(p, f, s, u, usable, load, dt)
    new = s.revision != f.revision
    if new:
        start(s, f)
    apart = compare(f, s, dt)
    rule, why = next_rule(f, s, usable, apart, speed, dt)
    changed = rule != s.rule
    if why != s.why or (changed and max(rule, s.rule) > DOUBT):
        s.news += 1
        s.shared[:] = 0.0
    s.rule, s.why = rule, why
    if rule == BOTH and apart == 0 and dt > 0.0:
        s.known_time = min(s.known_time + dt, USUAL_TIME)
        for k in range(2):
            s.usual[k] += dt / s.known_time * (s.rough[k] - s.usual[k])
            s.lively[k] += min(1.0, dt / LIVELY_TIME) * ((1.0 if s.same_time[k] == 0.0 else 0.0) - s.lively[k])
    leader = OTHER if rule == ONLY_SECOND else FIRST
    if usable[leader] == NOTHING and over_limits(p, s.e[leader]):  # a hit stops the arm at once, doubt or not
        s.gap[:] = 0.0
        s.out[:] = s.e[leader]
    else:
        by_rule(f, s, dt, y)
        move_output(f, s, y, (changed or rule == DOUBT) and not new, dt)
    if leader == OTHER:
        age = u.second_age if usable[OTHER] != NOT_FINITE else math.inf
    if usable[leader] == NOTHING or leader == OTHER:
        for i in range(6):
            reading[i] = p.sensor_sign * (s.out[i] + load[i])
    return age


@kernel
def take_reading(p, s, u):
    """Fills s.reading and s.reading_age. Returns the Status of what two sensors say about each other."""
    s.reading[:] = u.wrench
    s.reading_age = u.wrench_age
    if p.second.on == 0 or u.second_read == 0:
        return OK
    s.reading_age = fuse(p, p.second, s.fusion, u, s.reading)
    return DISAGREE if s.fusion.why == UNDECIDED else OK
