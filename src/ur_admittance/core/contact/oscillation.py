"""2.3.1  Whose oscillation is it?

A steady oscillation says nothing about who keeps it up. Force and motion of the tool go together as the law makes them,
v = Y(s) f, whether a hand drives them or a wall lets them live: ratio, phase and power are those of Y in both cases. So
the arm asks. While the force swings at a steady pace, the law is HEAVIER for some half cycles: a hand or a machine that
drives the oscillation keeps its pace and its force, an oscillation that lives on the arm's own delay becomes slower (a
heavier law turns earlier into the phase at which it is unstable) or dies down. Nothing of it is felt while the tool
hardly moves, and the answer is there within three periods. What swings on, as friction does at any mass, is asked again
after a while, and then the law also obeys the force later.

Only where an arm can be the cause it asks at all: while  atan(w M / D) + w T < pi / 2  a law that answers after T is
passive, and passive surroundings, walls and hands, cannot make it oscillate [Colgate and Hogan 1988].
"""

import math

from ur_admittance.core.kernel import kernel

# Pairs are [N, Nm] or [m, rad]: linear axes, angular axes.
SLOW_HZ = 2.0  # force and displacement count above it
MEMORY = 0.2  # [s] of variance and covariance
SMALLEST_PEAK = (1.0, 0.1)  # force of an oscillation that counts: less is neither felt nor does it harm
LONGEST = 0.5  # [s] half a cycle
SHORTEST = 2.5  # cycles of the loop in half a cycle: up to a fifth of the rate
TURNED = 0.2  # share of the peak on the other side that ends a half cycle: noise does not
SUSTAINED = 0.7  # each peak at least this share of the last one on its side: it does not die out by itself
HALF_CYCLES = 4  # that a pace is taken from: both sides equally
HEAVIER = 3.0  # times the mass: what lives on a delay is slower by sqrt(3) on soft, by 1.3 on the stiffest surfaces
QUIET = 0.2  # share of the force limit up to which the force is heard later, too: a hand that goes on pulls harder
SETTLING = 2  # half cycles until it is
SLOWER = 1.2  # times as long: between no change and the least that is expected
SMALLER = 0.6  # times the peak
DIED = 0.5  # times the peak, in one half cycle: it dies while it is asked ...
RETURN = 1.0  # [s] ... and if it comes back within this time, with the law as light as before, it is the arm's,
STAYS = (0.01, 0.1)  # in the same place: a hand that guides goes on
LOUDER = 1.3  # times the peak that was not ours: asked again; so after two seconds, as that is forgotten
AGAIN = 8.0  # [s] time constant of the forgetting
LATER = 1.2  # times the delay that is known: it is known to 20 %
SLOWEST = 1.0  # [1/s] of the law's D / M
MORE = 1.5  # times the stiffness, for each HALF_CYCLES that it goes on


@kernel
def watch(p, s, o, force, v, fresh, slow, i, dt):
    """Stiffness that the damping has to hold, when an oscillation that is the arm's own has lasted for HALF_CYCLES
    once more; 0: nothing new."""
    o.displacement[i] += v * dt - slow * o.displacement[i]
    o.displacement_filtered[i] += fresh * (o.displacement[i] - o.displacement_filtered[i])
    o.slow_force[i] += slow * (force - o.slow_force[i])
    x, f = o.displacement_filtered[i], force - o.slow_force[i]
    recent = min(1.0, dt / MEMORY)
    o.variance[i] += recent * (x * x - o.variance[i])
    o.covariance[i] += recent * (x * f - o.covariance[i])

    found = 0.0
    o.moved[i] += v * dt
    o.died[i] -= min(o.died[i], dt)
    if abs(o.moved[i] - o.displacement[i]) > STAYS[i // 3]:  # without what swings
        o.died[i] = 0.0
    o.theirs[i] -= min(1.0, dt / AGAIN) * o.theirs[i]
    o.time[i] += dt
    if f * o.sign[i] >= -TURNED * o.peak[i] and o.sign[i] != 0.0:  # still the same half of the cycle
        o.peak[i] = max(o.peak[i], f * o.sign[i])
    else:
        found = end_half_cycle(p, s, o, i, dt)
        o.sign[i] = 1.0 if f > 0.0 else -1.0
        o.peak[i] = abs(f)
    if o.time[i] > LONGEST:
        if o.asked[i] != 0.0:
            die(o, i)
        begin(o, i)
        o.theirs[i] = o.last_peak[i] = 0.0
        o.peak[i] = abs(f)
    return found


@kernel
def end_half_cycle(p, s, o, i, dt):
    found = 0.0
    least = SMALLEST_PEAK[i // 3] if o.asked[i] == 0.0 else DIED * o.peak_before[i]
    strong = o.peak[i] > least and SHORTEST * dt < o.time[i]
    if o.asked[i] != 0.0 and not strong:  # it dies while it is asked: if it comes back, it is ours
        begin(o, i)
        die(o, i)
    elif strong and (o.asked[i] != 0.0 or o.peak[i] > SUSTAINED * o.older_peak[i]):
        o.half_cycles[i] += 1.0
        if o.asked[i] == 0.0 and o.ours[i] == 0.0 and heavier(o, i) > 1.0:  # another axis of its part is asked:
            o.half_cycles[i], o.time_sum[i], o.peak_sum[i] = -SETTLING, 0.0, 0.0  # no pace of the law as it is
        if o.half_cycles[i] > 0.0:
            o.time_sum[i] += o.time[i]
            o.peak_sum[i] += o.peak[i]
        if o.half_cycles[i] >= HALF_CYCLES:
            found = judge(p, s, o, i)
    else:
        begin(o, i)
    o.older_peak[i] = o.last_peak[i]
    o.last_peak[i] = o.peak[i]
    o.time[i] = 0.0
    return found


@kernel
def die(o, i):
    """It is silent while it is asked. Under a later force that says nothing: a heavy hand feels the difference."""
    if o.late[i] == 0.0:
        o.died[i], o.moved[i] = RETURN, o.displacement[i]
    else:
        o.theirs[i] = o.peak_before[i]


@kernel
def begin(o, i):
    o.half_cycles[i] = o.time_sum[i] = o.peak_sum[i] = 0.0
    o.asked[i] = o.ours[i] = 0.0


@kernel
def judge(p, s, o, i):
    """After HALF_CYCLES in a row: ask, or hear the answer. The stiffness to hold, 0: it is not ours."""
    time, peak = o.time_sum[i] / HALF_CYCLES, o.peak_sum[i] / HALF_CYCLES
    if o.asked[i] != 0.0:
        o.asked[i] = 0.0
        smaller = o.late[i] == 0.0 and peak < SMALLER * o.peak_before[i]
        if time > SLOWER * o.time_before[i] or smaller:
            o.ours[i] = 1.0
        else:
            o.theirs[i] = peak
    elif o.ours[i] == 0.0 and (o.died[i] > 0.0 or s.contact.held[i] != 0.0):
        o.ours[i] = 1.0  # the answer came by itself, or was given before in this place
    elif o.ours[i] == 0.0 and may_be_ours(p, s, o, time, peak, i):
        o.asked[i] = HEAVIER * max(1.0, peak / (s.mass[i] * p.max_acceleration[i // 3]))  # a law at a limit is no law
        o.time_before[i], o.peak_before[i] = time, peak
        quiet = peak < QUIET * (p.max_force if i < 3 else p.max_torque)
        o.late[i] = time / math.pi if o.theirs[i] > 0.0 and quiet else 0.0
    o.time_sum[i] = o.peak_sum[i] = 0.0
    o.half_cycles[i] = -SETTLING if o.asked[i] != 0.0 else 0.0
    if o.ours[i] == 0.0:
        return 0.0
    damping = damping_now(s, i)
    held = p.contact_ratio * damping / (p.loop_delay + s.mass[i] / damping)
    seen = -o.covariance[i] / o.variance[i] if o.variance[i] > 0.0 else 0.0
    return max(seen, MORE * held)


@kernel
def may_be_ours(p, s, o, time, peak, i):
    """Whether to ask: the law is not passive at this pace, the answer is not known, and no other axis leads."""
    if p.stabilizer == 0.0 or p.enabled[i] == 0.0 or peak < LOUDER * o.theirs[i]:
        return False
    w = math.pi / time
    mass = max(s.mass[i], peak / p.max_acceleration[i // 3])  # at its limit the arm is as slow as with that
    if math.atan(w * mass / damping_now(s, i)) + LATER * w * p.loop_delay < 0.5 * math.pi:
        return False
    first = 3 * (i // 3)
    for j in range(first, first + 3):
        if o.asked[j] != 0.0 or swing(s, o, j) > swing(s, o, i):
            return False
    return True


@kernel
def damping_now(s, i):
    return max(max(s.damping[i], s.contact.damping[i]), SLOWEST * s.mass[i])


@kernel
def swing(s, o, i):
    """Speed that the law makes of the force in a half cycle, without its mass [m/s, rad/s]."""
    return max(o.peak[i], o.last_peak[i]) / damping_now(s, i)


@kernel
def heavier(o, i):
    """Times the mass of the law on this axis now; the same for all axes of its part, as a tool swings along none."""
    first = 3 * (i // 3)
    return max(1.0, max(o.asked[first], max(o.asked[first + 1], o.asked[first + 2])))


@kernel
def later(o, i):
    """How much later this part obeys its force now [s]."""
    first = 3 * (i // 3)
    late = 0.0
    for j in range(first, first + 3):
        if o.asked[j] != 0.0:
            late = o.late[j]
    return late


@kernel
def heard(o, force, i, dt):
    """The force that the law obeys: while its part is asked again, 45 degrees later at the pace it asks about."""
    late = later(o, i)
    o.heard[i] = force if late == 0.0 else o.heard[i] - math.expm1(-dt / late) * (force - o.heard[i])
    return o.heard[i]
