"""2.3  Contact that does not bounce: what an axis touches, how stiff it is, and the damping that this needs.

On a surface of stiffness K an arm that answers after the time T is stable when about  D >= K T: the loop is
x' = -(K/D) x(t - T - M/D), without overshoot while  r = (T + M/D) K/D  stays below 1/e. The damping for a given r is

    D = a + sqrt(a^2 + K M / r),   a = K T / 2r

K is seen from the command: the surface in series with the arm's own compliance. Three observers estimate it:

- Impact. An arm that moves by itself (force axes, a moving reference) runs into something: K = -df/dx since it touched.
- Oscillation (oscillation.py). The force swings at a steady pace and does not decay: the arm asks whose swing it is. If
  it is its own, K = -mean(x f) / mean(x^2) over the last 0.2 s.
- Hit (hit.py). A hand drives the tool into something: K is the largest force over the largest depth, once the force has
  fallen as the tool came back.

None of them responds to a hand for long: what a hand does is taken back within a period. Damping is only ever raised
above what the user chose, kept until the contact is lost (by hand: until the tool has left the place, as hand and wall
cancel in the sensor), and then returned smoothly.
"""

import math

from ur_admittance.core.contact.contact_record import CONTACT_FLOATS
from ur_admittance.core.contact.hit import WAITS, remember_place, watch_hit
from ur_admittance.core.contact.oscillation import SLOW_HZ, watch
from ur_admittance.core.kernel import from_here, kernel, vec6
from ur_admittance.core.spatial import norm, rotate_back
from ur_admittance.core.wrench.condition import smoothing

# Pairs are [N, Nm], [m, rad] or [m/s, rad/s]: linear axes, angular axes.
LOST = 0.1  # [s] without force before contact is lost
RELEASE_TIME = 0.3  # [s] in which the damping returns to the user's
STIFFEST = 1e5  # [N/m, Nm/rad] no arm holds its tool more stiffly, so nothing it touches appears stiffer

RUNNING = (0.0005, 0.005)  # slower, nothing is run into
IMPACT = 0.1  # [s] after touching in which force over displacement is taken for the stiffness
JOLT = 0.05  # [s] ... in which the mass of the arm makes it look up to three times as stiff: damping for that falls
IMPACT_FORCE = (1.0, 0.1)  # change of force above which that ratio is better than its noise

AWAY = (0.005, 0.05)  # distance after which a contact by hand is over ...
PRESS = (50.0, 5.0)  # [N, Nm] ... beside how far this force would press the tool into it
ASIDE = (0.001, 0.01)  # distance from a wall at which a tool is outside of it, or would have to be inside
SOFTEST = (2e3, 30.0)  # [N/m, Nm/rad] no softer than that: a hand that was damped by mistake is free after 3 cm

APPROACH_MEMORY = 0.2  # [s] of the speed before a hit: longer than any hit takes to reach the force limit


@kernel
def observe(p, s, wrench, velocity, R, driven, dt):
    """Contact, stiffness and needed damping of every control axis.

    wrench: about the TCP, control axes, before the deadband. velocity: measured TCP twist, base axes.
    R: R_base_control. driven: the reference moves by itself.
    """
    model_twist, v, measured = vec6(), vec6(), vec6()  # how a free arm would move now, after its response time
    for i in range(6):
        model_twist[i] = s.lag[i] / p.response_time if p.response_time > 0.0 else s.twist[i]
    for a in range(0, 6, 3):
        rotate_back(R, model_twist[a : a + 3], v[a : a + 3])
        rotate_back(R, velocity[a : a + 3], measured[a : a + 3])
    fresh, slow = smoothing(p.filter_cutoff_hz, dt), smoothing(SLOW_HZ, dt)
    contact = s.contact
    contact.speed_lately = max(norm(v[:3]), max(0.0, 1.0 - dt / APPROACH_MEMORY) * contact.speed_lately)
    for i in range(6):
        by_itself = driven or p.force_axes[i] != 0.0
        touch(p, contact, wrench[i], v[i], by_itself, i, dt)
        oscillating = watch(p, s, contact.oscillation, wrench[i], v[i], fresh, slow, i, dt)
        impact = hit = 0.0
        if contact.ran_into[i] != 0.0:
            impact = impact_stiffness(contact.impact, wrench[i], v[i], fresh, i, dt)
        if oscillating > 0.0:
            contact.hit.side[i] = 0.0  # it is a wall: nothing is taken back
        if not by_itself:
            hit = look_for_hit(p, s, wrench[i], v[i], measured[i], fresh, i, dt)
            if contact.unlimited_time < IMPACT:  # at a limit the arm does not obey the force
                hit = 0.0
        stiffness = max(oscillating, max(impact, hit))
        if stiffness > 0.0:
            contact.stiffness[i] = contact.withstood[i] = min(stiffness, STIFFEST)
            if not by_itself and (hit > 0.0 or contact.held[i] == 0.0):
                hold(contact, i)
            late = p.loop_delay + (s.mass[i] / s.damping[i] if oscillating > 0.0 else 0.0)
            stiff = contact.stiffness[i] * late > s.damping[i]
            if p.stabilizer != 0.0 and (stiff or p.force_axes[i] != 0.0):
                a = 0.5 * contact.stiffness[i] * p.loop_delay / p.contact_ratio
                enough = a + math.sqrt(a * a + contact.stiffness[i] * s.mass[i] / p.contact_ratio)
                arriving = contact.ran_into[i] != 0.0 and JOLT < contact.impact.time[i] <= IMPACT
                sinking = wrench[i] * v[i] < 0.0 and abs(v[i]) > RUNNING[i // 3]  # on the way back the ratio is wrong
                least = contact.damping[i] * (max(0.0, 1.0 - dt / JOLT) if arriving and sinking else 1.0)
                contact.damping[i] = max(least, min(enough, p.max_contact_damping[i // 3]))
        leave(p, contact, wrench[i], measured[i], i, dt)
        touching = contact.touching[i] != 0.0 and (contact.ran_into[i] != 0.0 or p.force_axes[i] != 0.0)
        if not touching and contact.held[i] == 0.0 and contact.damping[i] > 0.0:
            contact.damping[i] -= min(1.0, dt / RELEASE_TIME) * contact.damping[i]
            if contact.damping[i] < s.damping[i]:
                contact.damping[i] = 0.0
                contact.stiffness[i] = contact.withstood[i] = 0.0


@kernel
def hold(contact, i):
    """The damping of this axis stays until the tool has left this place."""
    if contact.held[i] == 0.0:
        contact.held[i] = 1.0
        contact.held_time[i] = 0.0
    contact.distance[i] = 0.0


@kernel
def look_for_hit(p, s, force, v, measured, fresh, i, dt):
    """Stiffness of what a hand has driven the tool into, at most 0: nothing. Takes back what a suspicion has done."""
    contact = s.contact
    hit, suspected = contact.hit, contact.hit.side[i]
    if suspected == 0.0:
        hit.before[i] = contact.damping[i] if contact.held[i] != 0.0 else 0.0
    stiffness = watch_hit(p, s, force, v, measured, fresh, i, dt)
    if stiffness > 0.0:
        contact.side[i] = hit.side[i] if suspected == 0.0 else suspected
        contact.depth[i] = hit.deepest[i]
    elif stiffness < 0.0 and hit.doing[i] != WAITS:
        contact.damping[i] = hit.before[i]
        if hit.before[i] == 0.0:
            let_go(contact, i)
    return stiffness


@kernel
def leave(p, contact, force, v, i, dt):
    """A contact by hand is over when the tool has moved further than pressing against it could, or is pushed on where
    no wall would push."""
    if contact.held[i] == 0.0:
        contact.side[i] = 0.0
        return
    contact.held_time[i] += dt
    contact.distance[i] += v * dt
    part = i // 3
    if abs(contact.distance[i]) > AWAY[part] + PRESS[part] / max(contact.withstood[i], SOFTEST[part]):
        contact.held[i] = 0.0
    out, room = contact.side[i] * contact.distance[i], ASIDE[part] + contact.depth[i]
    pushed = out > room and contact.side[i] * force > p.contact_threshold[part]
    if contact.side[i] != 0.0 and (pushed or out < -room):
        remember_place(contact.hit, contact.side[i], contact.distance[i], i)
        let_go(contact, i)


@kernel
def let_go(contact, i):
    """It was no wall: as if nothing had been there."""
    contact.held[i] = contact.damping[i] = contact.stiffness[i] = contact.withstood[i] = 0.0


@kernel
def touch(p, contact, force, v, by_itself, i, dt):
    """Contact with hysteresis: on above the threshold, off after a while below a third of it."""
    threshold = p.contact_threshold[i // 3]
    if abs(force) > threshold:
        contact.touching[i] = 1.0
    if abs(force) > threshold / 3.0:
        if contact.time_without_force[i] > LOST:  # just touched
            contact.ran_into[i] = 1.0 if by_itself and force * v < 0.0 and abs(v) > RUNNING[i // 3] else 0.0
            impact = contact.impact
            impact.time[i] = impact.distance[i] = impact.distance_filtered[i] = 0.0
            impact.first_force[i] = force
        contact.time_without_force[i] = 0.0
    else:
        contact.time_without_force[i] += dt
        if contact.time_without_force[i] > LOST:
            contact.touching[i] = 0.0
            contact.ran_into[i] = 0.0


@kernel
def impact_stiffness(impact, force, v, fresh, i, dt):
    """Stiffness of what the axis has just run into, 0: not known yet, or no longer."""
    impact.time[i] += dt
    impact.distance[i] += v * dt
    impact.distance_filtered[i] += fresh * (impact.distance[i] - impact.distance_filtered[i])  # as late as the force
    change = force - impact.first_force[i]
    if impact.time[i] > IMPACT or abs(change) < IMPACT_FORCE[i // 3] or change * impact.distance_filtered[i] >= 0.0:
        return 0.0
    return -change / impact.distance_filtered[i]


@kernel
def explain_hit(p, s, dt):
    """Evidence of a stop by force that came too early for any command: the speed of the tool [m/s], the stiffness that
    was seen [N/m], and the force K v T [N] that is reached before the first answer acts. Zeros: there was time."""
    contact = s.contact
    for i in range(3):
        known = contact.held_time[i] if contact.held[i] != 0.0 else contact.impact.time[i]
        recognised = contact.held[i] != 0.0 or contact.ran_into[i] != 0.0
        if recognised and known <= p.response_time and contact.stiffness[i] > s.evidence[3]:
            s.evidence[2] = contact.speed_lately
            s.evidence[3] = contact.stiffness[i]
            s.evidence[4] = s.evidence[2] * s.evidence[3] * (p.sensor_delay + p.response_time + dt)


@kernel
def forget_contact(p, contact):
    """At activation: nothing is touched, nothing is known."""
    from_here(contact.touching, CONTACT_FLOATS)[:] = 0.0
    for i in range(3):
        contact.normal[i] = p.R_base_task[i, 2]
