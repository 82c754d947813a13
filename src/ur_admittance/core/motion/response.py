"""How late does the arm answer? Learnt from whatever it is made to do, beside p.response_time, which stays as it is.

    v(t) = c(t - T) + C dF/dt - (m/k) c''     c, v: commanded and measured velocity of the TCP; F: force on it

C (3, 3): compliance of the arm; m/k: it bends under its own inertia too. For motion that is slow against T,

    v - c + (m/k) c'' = -T (c' - T/2 c'') + C F'

and T and C follow by least squares with forgetting. C cannot be left out: a hand bends the arm as it moves it, and that
hides a good part of T. Nor can T/2 c'': F' is much like it while a hand drives the law. In it, T is the last estimate.
v, c and F pass the same two low-passes of 1 Hz, so that all derivatives are differences of their stages and the next
order, (w T)^2 / 6, is 1 % at 40 ms. Standing teaches nothing: only motion is summed up. c is the mean of its period, v
is read at its end: half a period is added.

The estimate counts when what is left of v - c, taken for noise, leaves it certain.
"""

import math

from ur_admittance.core.kernel import kernel, mat3, vec3
from ur_admittance.core.spatial import clip

CUTOFF_HZ = 1.0  # of each of the two low-passes
SETTLE = 0.3  # [s] after which they have forgotten how they began
SLOWEST = 0.003  # [m/s] of the commanded TCP: slower, it stands
MEMORY = 6.0  # [s] of motion
LEAST_MOTION = 1.5  # [s]
ROUGHNESS = 1e-2  # [N2/s] added to the sums of F': with hardly any force its share of the motion is nothing
INERTIA = 1.8e-4  # [s2] m/k: 5.5 kg on 31 kN/m, the arm that analysis/axis_loop.py was fitted to
TYPICAL = 0.02  # [s] for T/2 c'' until there is an estimate
LONGEST = 0.1  # [s] that is believed in it
# Twice the residual over the square root of the motion must be below a quarter of the estimate, or a millisecond. Of
# 1,040 random episodes of the campaign (9400000 on), with other seeds than these were chosen with, 360 become certain;
# 2 are off by more than 20 %, by 37 % at most, and none gives a false warning.
DEVIATIONS, CERTAIN, CERTAIN_TIME = 2.0, 0.25, 0.001
OFTEN = 32  # ticks between two looks at the sums


@kernel
def observe_response(s, velocity, force, dt):
    """velocity: measured TCP twist; force: on the tool; both in base axes. s.twist is still the last command."""
    o = s.response
    share = min(1.0, 2.0 * math.pi * CUTOFF_HZ * dt)
    if o.settled == 0.0:
        for i in range(3):
            for stage in range(2):
                o.command[stage, i], o.lost[stage, i], o.force[stage, i] = s.twist[i], 0.0, force[i]
    o.settled = min(o.settled + dt, 1.0)
    square = 0.0
    for i in range(3):
        o.command[0, i] += share * (s.twist[i] - o.command[0, i])
        o.command[1, i] += share * (o.command[0, i] - o.command[1, i])
        o.lost[0, i] += share * (velocity[i] - s.twist[i] - o.lost[0, i])
        o.lost[1, i] += share * (o.lost[0, i] - o.lost[1, i])
        o.force[0, i] += share * (force[i] - o.force[0, i])
        o.force[1, i] += share * (o.force[0, i] - o.force[1, i])
        square += o.command[1, i] * o.command[1, i]
    if o.settled >= SETTLE and square >= SLOWEST * SLOWEST:
        sum_up(s, share / dt, dt)
        if s.ticks % OFTEN == 0 and o.motion > LEAST_MOTION:
            solve(o, dt)


@kernel
def sum_up(s, rate, dt):
    """a: what T is the factor of; y: F'; e: what both explain."""
    o = s.response
    keep, half = 1.0 - dt / MEMORY, 0.5 * (o.time if o.time > 0.0 else TYPICAL)
    a, y, e = vec3(), vec3(), vec3()
    for i in range(3):
        slope = rate * (o.command[0, i] - o.command[1, i])
        curve = rate * (rate * (s.twist[i] - o.command[0, i]) - slope)
        a[i], e[i] = half * curve - slope, o.lost[1, i] + INERTIA * curve
        y[i] = rate * (o.force[0, i] - o.force[1, i])
    o.motion = keep * o.motion + dt
    o.aa *= keep
    o.ae *= keep
    o.ee *= keep
    for i in range(3):
        o.aa += dt * a[i] * a[i]
        o.ae += dt * a[i] * e[i]
        o.ee += dt * e[i] * e[i]
        for j in range(3):
            o.yy[i, j] = keep * o.yy[i, j] + dt * y[i] * y[j]
            o.ay[i, j] = keep * o.ay[i, j] + dt * a[i] * y[j]
            o.ey[i, j] = keep * o.ey[i, j] + dt * e[i] * y[j]


@kernel
def solve(o, dt):
    """Takes out of the sums what the force explains (Q = L L^T, sums of F'); updates o.seen if the rest is certain."""
    L, x, z = mat3(), vec3(), vec3()
    for i in range(3):
        for j in range(i + 1):
            part = o.yy[i, j] + (ROUGHNESS if i == j else 0.0)
            for k in range(j):
                part -= L[i, k] * L[j, k]
            L[i, j] = math.sqrt(max(part, ROUGHNESS)) if i == j else part / L[j, j]
    aa, ae, ee = o.aa, o.ae, o.ee
    for i in range(3):
        for j in range(3):
            x[j], z[j] = o.ay[i, j], o.ey[i, j]
            for k in range(j):
                x[j] -= L[j, k] * x[k]
                z[j] -= L[j, k] * z[k]
            x[j] /= L[j, j]
            z[j] /= L[j, j]
            aa -= x[j] * x[j]
            ae -= x[j] * z[j]
            ee -= z[j] * z[j]
    if aa <= 0.0:
        return
    time = ae / aa
    doubt = DEVIATIONS * math.sqrt(max(0.0, ee - time * ae) / (aa * o.motion))
    time += 0.5 * dt
    o.time = clip(time, dt, LONGEST)
    if dt < time < LONGEST and doubt < max(CERTAIN * time, CERTAIN_TIME):
        o.seen = time
