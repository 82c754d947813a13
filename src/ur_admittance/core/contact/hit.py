"""2.3.2  A tool that a hand guides hits something, or somebody pushes against its motion.

Both begin alike: within milliseconds a force opposes the motion, steeper than shaking the mass of the law could make
it. They end differently. A wall lets go of the tool as it comes back: the force falls with the depth. A hand goes on
pushing. So a steep force is a suspicion. It is confirmed when the tool moves back and the force falls, and dropped when
the tool is back where it began and the force is still there, or when nothing has come of it.

Until then nothing is done, except where waiting could cost a stop by force: then the tool is braked on its way in, not
on its way out. Where it was hit before, within a few millimetres and on the same side, there is no doubt.
"""

import math

from ur_admittance.core.contact.oscillation import heavier, later
from ur_admittance.core.kernel import kernel

# Pairs are [N, Nm], [m, rad] or [m/s, rad/s]: linear axes, angular axes.
HIT_TIME = 0.01  # [s] of the means that force and displacement are taken from
HIT_FORCE = (5.0, 0.5)  # least opposing force, and least change of it, that counts
HIT_SPEED = (0.005, 0.05)  # slower, the arm bends sideways under what another axis hits, or rings as a hand lets go
HAND_STIFFNESS = (2.0 * math.pi * 5.0) ** 2  # [1/s2] stiffness over mass that a hand imitates by shaking at 5 Hz
SOFT = 0.5  # share of that; softer as it goes on: no wall
MOVES_BACK = 0.9  # share of the depth: the tool comes back, by more than the noise of encoders
IS_BACK = 0.1  # share of the depth: it is where it was when the force began
LET_GO = 0.7  # share of the largest force: a wall has less left, what pushes has more
IN_TIME = 0.7  # share of the force limit that may be expected before an answer acts
SAME_PLACE = (0.003, 0.03)  # as far as a hand that holds on lets it wander between two hits
DOUBT = 0.3  # [s] in which a suspicion is confirmed or dropped: longer than half a bounce of the softest wall
WAITS, BRAKES, CERTAIN = 0.0, 1.0, 2.0  # what is done meanwhile


@kernel
def watch_hit(p, s, filtered, v, measured, fresh, i, dt):
    """Stiffness of the wall that was hit, 0: none, or not certain. v: how a free arm would move now.

    Negative: the suspicion is dropped."""
    hit, oscillation = s.contact.hit, s.contact.oscillation
    mass = s.mass[i] * heavier(oscillation, i)
    # Before the filter, which would hide the first half period.
    force = hit.filtered[i] + (filtered - hit.filtered[i]) / fresh
    rate = (force - hit.force[i]) / dt
    hit.filtered[i], hit.force[i] = filtered, force
    steep = slope(hit, force, v, mass, i, dt)
    part = i // 3
    if steep > 0.0 and hit.side[i] == 0.0 and later(oscillation, i) == 0.0:  # a later force opposes motion by itself
        side = 1.0 if force > 0.0 else -1.0
        here = hit.last_side[i] == side and abs(hit.distance[i]) < SAME_PLACE[part]
        here = here and side * s.contact.side[i] >= 0.0  # at a wall, what comes from the other side is the hand
        hit.doing[i] = CERTAIN if here else WAITS
        hit.side[i] = side
        hit.depth[i] = hit.deepest[i] = abs(hit.displacement[i])
        hit.strongest[i] = hit.time[i] = 0.0
    hit.distance[i] += measured * dt
    if hit.side[i] == 0.0:
        return 0.0
    hit.time[i] += dt
    hit.depth[i] -= hit.side[i] * measured * dt
    hit.deepest[i] = max(hit.deepest[i], hit.depth[i])
    hit.strongest[i] = max(hit.strongest[i], hit.side[i] * force)
    if hit.side[i] * (force + rate * p.loop_delay) > IN_TIME * (p.max_force if part == 0 else p.max_torque):
        hit.doing[i] = max(hit.doing[i], BRAKES)
    stiffness = hit.strongest[i] / hit.deepest[i]
    back = hit.depth[i] < MOVES_BACK * hit.deepest[i]
    lets_go = back and hit.side[i] * force < LET_GO * hit.strongest[i]
    soft = stiffness < SOFT * HAND_STIFFNESS * mass
    if soft or hit.time[i] > DOUBT or hit.depth[i] < IS_BACK * hit.deepest[i]:
        remember_place(hit, hit.side[i], -hit.side[i] * hit.depth[i], i)
        hit.side[i] = 0.0
        return stiffness if hit.doing[i] == CERTAIN else -1.0
    if lets_go:
        hit.side[i] = 0.0
        return stiffness
    return max(steep, stiffness) if hit.doing[i] != WAITS else 0.0


@kernel
def remember_place(hit, side, distance, i):
    """Something was here, or not: the next hit on this side will tell. distance: of the tool from it now."""
    hit.last_side[i] = side
    hit.distance[i] = distance


@kernel
def held_back(contact, v, i):
    """Damping of the contact for a tool that moves with v: while a hit is in doubt it only brakes the way in."""
    hit = contact.hit
    if hit.doing[i] == BRAKES and hit.side[i] * v > 0.0:
        return hit.before[i]
    return contact.damping[i]


@kernel
def slope(hit, force, v, mass, i, dt):
    """Opposing force over displacement, both from their means over HIT_TIME, if that is more than a hand can make it by
    shaking the mass of the law. 0: it is not."""
    recent = min(1.0, dt / HIT_TIME)
    x, f = hit.displacement[i] + v * dt, force - hit.mean_force[i]  # from their means
    hit.displacement[i] = (1.0 - recent) * x
    hit.mean_force[i] += recent * f
    part = i // 3
    if abs(v) < HIT_SPEED[part] or abs(force) < HIT_FORCE[part] or abs(f) < HIT_FORCE[part]:
        return 0.0
    if force * v >= 0.0 or f * x >= 0.0:  # a push that ends is steep, too, but does not oppose
        return 0.0
    stiffness = min(abs(f), abs(force)) / abs(x)  # what a hand takes away as it lets go is not the surface's
    return stiffness if stiffness > HAND_STIFFNESS * mass else 0.0
