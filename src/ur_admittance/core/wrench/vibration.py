"""1  A tool that vibrates: its tone is taken out of the reading that the law and the contact observers see.

A spindle shakes the sensor at its own frequency f, often harder than it presses. No motion of the arm can answer that,
but a filter that is slow enough to hide it delays the law, and the observers of contact take it for a bounce. So only
this frequency goes, by a notch. A pointer (a, b) that turns by w dt in every tick, w = 2 pi f, is drawn to the reading:

    a' = a cos(w dt) - b sin(w dt)     e = reading - a'     a := a' + g e
    b' = a sin(w dt) + b cos(w dt)                          b := b'
    tone = a' + g e / 2                g = 2 k / (1 + k),   k = zeta sin(w dt)

reading - tone is (s^2 + w^2) / (s^2 + 2 zeta w s + w^2) at the rate of the loop, by the bilinear transform with w in
its place: nothing of f is left whatever dt is, and the gain is one at zero and at half the rate. At low frequencies it
is a delay of 2 zeta / w (`notch_delay`), which sensor_delay and loop_delay of PARAMS have in them.

The frequency is given (sensor.vibration_hz) or found (sensor.find_vibration): only while the arm stands and does not
comply, and then it is kept. A tone in the force of an arm in contact may be its own loop ringing, and to hide that from
the law would be wrong; an arm that holds still has no loop through the law, and no hand shakes at 20 Hz and more.

Nothing jumps: the notch begins with the pointer at rest, fades in and out, and slides from one frequency to another.
"""

import math

from ur_admittance.core.kernel import kernel
from ur_admittance.core.memory import stands_still
from ur_admittance.core.records import Mode
from ur_admittance.core.spatial import clip

INACTIVE = int(Mode.INACTIVE)

ZETA = 0.3  # a frequency that is off by 5 % is damped to a sixth, and a notch at 50 Hz costs 1.9 ms
FADE_TIME = 0.2  # [s]
SLIDE = 100.0  # [Hz/s] of the notch to another frequency
FLAT = 1e-3  # least 1 - cos(w dt), below that of 15 Hz at 1000 Hz: a cycle that lasted whole turns divides by nothing

LOWEST_HZ, HIGHEST_HZ = 19.0, 210.0  # bounds of the search, not found themselves; below, contacts and hands oscillate
HIGHEST_SHARE = 0.45  # of the rate: closer to its half, a tone is not told from its alias
SEARCH_LOW_HZ = 10.0  # what is slower is weight, a hand, a ramp
SEARCH_ZETA = 0.5  # wide, so that it is drawn from any frequency to any other
SEARCH_RATE = 5.0  # [1/s] relative change of frequency at most: ten times as high in half a second
MEAN_TIME = 0.3  # [s] of the mean squares
LEAST_TONE = 1.0  # [N] amplitude
CLEAR = 0.5  # of the tone's mean square: a sine that explains less of the force is no tone
STEADY = 0.02  # relative change of frequency ...
STEADY_TIME = 0.5  # [s] ... in this time, with which it counts as found


@kernel
def notch_gain(hz, dt, zeta):
    """g: the share of the innovation that the pointer takes."""
    k = zeta * abs(math.sin(2.0 * math.pi * hz * dt))  # a late tick may be longer than half a turn
    return 2.0 * k / (1.0 + k)


@kernel
def notch_delay(hz, dt):
    """Delay [s] of the notch at low frequencies, near 2 zeta / w; 0: no notch.

    The notch is (1 - g/2) (z^2 - 2 c z + 1) / (z^2 - (2 - g) c z + 1 - g), c = cos(w dt); its delay at z = 1 is
    zeta / tan(w dt / 2) periods."""
    return ZETA * dt / math.tan(math.pi * hz * dt) if hz > 0.0 else 0.0


@kernel
def observe_vibration(p, s, dt):
    """Fills s.vibration.tone, raw, sensor axes. Call once in each tick with a reading, before anything uses it."""
    o = s.vibration
    if p.find_vibration != 0.0:
        if s.mode == INACTIVE and stands_still(s):
            search(s, dt)
        else:
            o.search.steady_time = 0.0
    else:
        o.found = 0.0
    hz = o.found if o.found > 0.0 else p.vibration_hz
    if hz <= 0.0:
        o.level = max(0.0, o.level - dt / FADE_TIME)
    if hz <= 0.0 and o.level == 0.0:
        o.tone[:] = 0.0
        return
    starts = s.filter_ready == 0 or o.level == 0.0
    if hz > 0.0:
        o.level = 1.0 if s.filter_ready == 0 else min(1.0, o.level + dt / FADE_TIME)
        o.hz = hz if starts else clip(hz, o.hz - SLIDE * dt, o.hz + SLIDE * dt)
    turn, g = 2.0 * math.pi * o.hz * dt, notch_gain(o.hz, dt, ZETA)
    cosine, sine = math.cos(turn), math.sin(turn)
    for i in range(6):
        if starts:  # as after this reading for ever: no tone in it
            o.pointer[i] = g / (2.0 - g) * s.reading[i]
            o.quadrature[i] = o.pointer[i] * sine / max(1.0 - cosine, FLAT)
        a = o.pointer[i] * cosine - o.quadrature[i] * sine
        o.quadrature[i] = o.pointer[i] * sine + o.quadrature[i] * cosine
        e = s.reading[i] - a
        o.pointer[i] = a + g * e
        o.tone[i] = o.level * (a + 0.5 * g * e)


@kernel
def search(s, dt):
    """One step towards the frequency of a tone in the force: a pointer that turns too slowly falls behind, and what it
    leaves over then points against its quadrature."""
    o = s.vibration.search
    highest = min(HIGHEST_HZ, HIGHEST_SHARE / dt)
    if o.hz == 0.0:
        o.slow[:] = s.reading[:3]
        o.hz = math.sqrt(LOWEST_HZ * highest)
    turn, g = 2.0 * math.pi * o.hz * dt, notch_gain(o.hz, dt, SEARCH_ZETA)
    cosine, sine = math.cos(turn), math.sin(turn)
    slow, recent = min(1.0, 2.0 * math.pi * SEARCH_LOW_HZ * dt), min(1.0, dt / MEAN_TIME)
    ahead, square, rest = 0.0, 0.0, 0.0
    for i in range(3):
        high = s.reading[i] - o.slow[i]
        o.slow[i] += slow * high
        a = o.tone[i] * cosine - o.quadrature[i] * sine
        o.quadrature[i] = o.tone[i] * sine + o.quadrature[i] * cosine
        e = high - a
        o.tone[i] = a + g * e
        ahead -= e * o.quadrature[i]
        square += o.tone[i] ** 2 + o.quadrature[i] ** 2
        rest += e * e
    o.power += recent * (square - o.power)
    o.rest += recent * (rest - o.rest)
    if square == 0.0:
        return
    o.hz = clip(o.hz * (1.0 + SEARCH_RATE * dt * clip(ahead / square, -1.0, 1.0)), LOWEST_HZ, highest)
    clear = o.power > LEAST_TONE**2 and o.rest < CLEAR * o.power and LOWEST_HZ < o.hz < highest
    if not clear or abs(o.hz - o.steady_hz) > STEADY * o.hz:
        o.steady_hz, o.steady_time = o.hz, 0.0
        return
    o.steady_time = min(o.steady_time + dt, STEADY_TIME)
    if o.steady_time == STEADY_TIME:
        s.vibration.found = o.hz
