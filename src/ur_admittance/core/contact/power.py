"""2.3.1  Power at the tool: an arm that hands out energy gets more damping until it does not.

What touches the tool does work on the arm with the power  P = f . v,  f: measured wrench, v: measured twist. A law that
is obeyed late takes energy up to a few hertz and hands it out above, to a wall and to a hand alike: no bounce lives
without it. So it is the energy that is watched, not who is there. Three things make it an honest measure:

- Time. The velocity is made as late as the force: it passes the wrench filter and the delay of the sensor.
- The band. A hand that brakes the tool takes back what it gave. That is slow: power counts only where the part above
  2 Hz and the whole are both negative.
- All axes together. The arm bends sideways when it is pushed: one axis takes what another one hands out.

It is watched twice. Much that leaves within half a second is a bounce, unless it is a small part of what swings to and
fro between hand and arm. Little that leaves for a second or more is one too: the swing has come back by then. How
little depends on the law: the force of a bounce moves twice the mass at half the speed, with a quarter of the power.
"""

from ur_admittance.core.kernel import kernel
from ur_admittance.core.spatial import clip
from ur_admittance.core.wrench.condition import smoothing

SLOW_HZ = 2.0  # below, the arm is passive, and a hand moves it at will
POWER_TIME = 0.2  # [s] of each of two low-passes in a row: most of a period of the slowest bounce
GIVEN = 0.020  # [W] that may be handed out for a moment: what lasts is found below that
GIVEN_HELD = 0.001  # [W] the same in a contact that was recognised
SWING = 0.10  # of the activity: a hand that stops the tool swings with it, half of each swing looks handed out
LASTING_TIME = 1.0  # [s] of a further low-pass
LASTING = 0.25  # [W kg2], over M^2: may be handed out for long (8 kg: 4 mW); weak bounces live on 0.7 and more
CREDIT = 5.0  # times that: no more of what a hand gave is remembered, or a bounce could live on the approach
GROWTH = 0.06  # [s] in which the damping grows by e while more is handed out
FORGET = 3.0  # as the damping grows by e, what was seen with less of it shrinks by e^FORGET
SLOWEST = 1.0  # [1/s] of the law's D / M from which the damping grows: nothing grows from zero
TAKES_PART = 0.2  # share of the busiest axis' activity that makes an axis part of a bounce


@kernel
def watch_power(p, contact, wrench, velocity, law_velocity, driven, mass, dt):
    """Low-passed power of every axis. wrench, velocity (measured), law_velocity (as commanded): control axes.

    driven: the reference moves by itself and works on what it meets. mass: of the law [kg]."""
    o = contact.power
    fresh = smoothing(p.filter_cutoff_hz, dt)
    late = dt / (dt + 0.5 * (p.sensor_delay + 0.5 * dt))  # as below; a reading is the mean of its period
    slow = smoothing(SLOW_HZ, dt)
    recent = min(1.0, dt / POWER_TIME)
    obeys = contact.unlimited_time > 0.0  # at a limit it does not, and half a swing says nothing: all is forgotten
    fast, whole = 0.0, 0.0
    for i in range(6):
        o.filtered[i] += fresh * (velocity[i] - o.filtered[i])
        o.delayed[i] += late * (o.filtered[i] - o.delayed[i])
        v = 2.0 * o.delayed[i] - o.filtered[i]  # (1 - s T/2) / (1 + s T/2): a delay of T, also where T is below dt
        o.slow_velocity[i] += slow * (v - o.slow_velocity[i])
        o.slow_force[i] += slow * (wrench[i] - o.slow_force[i])
        f = wrench[i] - o.slow_force[i]
        o.fast_once[i] += recent * (f * (v - o.slow_velocity[i]) - o.fast_once[i])
        o.fast[i] += recent * (o.fast_once[i] - o.fast[i])
        o.whole_once[i] += recent * (wrench[i] * v - o.whole_once[i])
        o.whole[i] += recent * (o.whole_once[i] - o.whole[i])
        if not obeys:
            o.fast_once[i] = o.fast[i] = o.whole_once[i] = o.whole[i] = 0.0
        o.activity_once[i] += recent * (abs(f * law_velocity[i]) - o.activity_once[i])
        o.activity[i] += recent * (o.activity_once[i] - o.activity[i])
        if p.force_axes[i] == 0.0:
            fast += o.fast[i]
            whole += o.whole[i]
    if driven or not obeys:
        o.lasting_fast = o.lasting_whole = 0.0
    else:
        lasting, most = min(1.0, dt / LASTING_TIME), CREDIT * LASTING / mass**2
        o.lasting_fast = min(o.lasting_fast + lasting * (fast - o.lasting_fast), most)
        o.lasting_whole = min(o.lasting_whole + lasting * (whole - o.lasting_whole), most)


@kernel
def hands_out(contact, mass):
    """Whether the arm hands out more than it may, over one axis or over all. mass: of the law [kg]."""
    o = contact.power
    fast, whole, activity, held = 0.0, 0.0, 0.0, 0.0
    for i in range(6):
        fast += o.fast[i]
        whole += o.whole[i]
        activity += o.activity[i]
        held = max(held, contact.held[i])
        if max(o.fast[i], o.whole[i]) < -allowed(o.activity[i], contact.held[i]):
            return True
    lasts = max(o.lasting_fast, o.lasting_whole) < -LASTING / mass**2
    return lasts or max(fast, whole) < -allowed(activity, held)


@kernel
def allowed(activity, held):
    """Power [W] that may leave."""
    return GIVEN_HELD if held != 0.0 else GIVEN + SWING * activity


@kernel
def damp(p, s, contact, dt):
    """More damping for the axes that take part, and the stiffness that it is enough for: K = r D / (T + M/D)."""
    o = contact.power
    busiest = 0.0
    for i in range(6):
        busiest = max(busiest, o.activity[i] * p.enabled[i])
    share = min(1.0 / FORGET, dt / GROWTH)
    for i in range(6):
        if o.activity[i] >= TAKES_PART * busiest and p.enabled[i] != 0.0:
            damping = max(contact.damping[i], s.damping[i], SLOWEST * s.mass[i])
            most = max(p.max_contact_damping[i // 3], damping)
            contact.damping[i] = clip(damping * (1.0 + share), damping, most)
            enough = p.contact_ratio * contact.damping[i] / (p.loop_delay + s.mass[i] / contact.damping[i])
            contact.withstood[i] = max(contact.withstood[i], enough)
            hold(contact, i)
        o.fast_once[i] *= 1.0 - FORGET * share
        o.fast[i] *= 1.0 - FORGET * share
        o.whole_once[i] *= 1.0 - FORGET * share
        o.whole[i] *= 1.0 - FORGET * share
    o.lasting_fast *= 1.0 - FORGET * share
    o.lasting_whole *= 1.0 - FORGET * share


@kernel
def hold(contact, i):
    """The damping of this axis stays until the tool has left this place."""
    if contact.held[i] == 0.0:
        contact.held[i] = 1.0
        contact.held_time[i] = 0.0
    contact.distance[i] = 0.0
