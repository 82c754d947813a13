"""2.5  The law, one axis at a time:  M a + D v + K x = f  [Hogan 1985].

x: offset from the reference [m, rad], v: its rate, f: wrench that drives the axis [N, Nm], held over the step.
"""

import math

from ur_admittance.core.kernel import kernel
from ur_admittance.core.records import Integrator

EXACT = int(Integrator.EXACT)
RK4 = int(Integrator.RK4)

AT_REST = 1e-4  # [m/s, rad/s] an axis that coasts stops here: within a tick that is 0.05 m/s2
SOFT = 1e-8  # K dt^2 / M below which the rest point f / K is too far away to keep all digits of x
# D dt / M and sqrt(K / M) dt above which a step is solved exactly whatever integrator was chosen: at 1 Euler begins to
# rattle, at 2.8 RK4 diverges; up to 0.5 RK4 is exact to 3e-4 of the change.
FAST = 0.5


@kernel
def free_step(v, m, d, f, dt):
    """K = 0: exact displacement and rate after dt. With r = D/M:
    v' = v e^(-r dt) + f (1 - e^(-r dt)) / D,   x' = integral of v."""
    z = d / m * dt
    if z < 1e-5:  # series: D -> 0 is a free mass
        h1 = 1.0 - z * (0.5 - z / 6.0)
        h2 = 0.5 - z * (1.0 / 6.0 - z / 24.0)
    else:
        h1 = -math.expm1(-z) / z
        h2 = (1.0 - h1) / z
    return dt * (v * h1 + f / m * dt * h2), v * (1.0 - z * h1) + f / m * dt * h1


@kernel
def spring_step(x, v, m, d, k, f, dt):
    """K > 0: exact solution about the rest point f/K, for under-, over- and critically damped axes alike.

    With a = D/2M and w2 = K/M - a^2:  y' = E (y (c + a s) + v s),  v' = E (v (c - a s) - y K/M s),
    E c = e^(-a t) cos(w t),  E s = e^(-a t) sin(w t) / w  (cosh, sinh when w2 < 0).
    """
    a = 0.5 * d / m
    w2 = k / m - a * a
    z = w2 * dt * dt
    if abs(z) < 1e-8:  # close to critical: both forms meet in their series
        e = math.exp(-a * dt)
        ec = e * (1.0 - 0.5 * z)
        es = e * dt * (1.0 - z / 6.0)
    elif w2 > 0.0:
        w = math.sqrt(w2)
        e = math.exp(-a * dt)
        ec = e * math.cos(w * dt)
        es = e * math.sin(w * dt) / w
    else:
        w = math.sqrt(-w2)
        slow = math.exp(-k / m / (a + w) * dt)  # e^((w - a) dt) without cancellation
        fast = math.exp(-(a + w) * dt)
        ec = 0.5 * (slow + fast)
        es = 0.5 * (slow - fast) / w
    rest = f / k
    y = x - rest
    return rest + y * (ec + a * es) + v * es, v * (ec - a * es) - y * (k / m) * es


@kernel
def coast(v, m, d, f, dt):
    """A disabled axis that still moves: as if released, yielding only to what opposes it. Displacement and rate."""
    if abs(v) < AT_REST:
        return 0.0, 0.0
    dx, v_next = free_step(v, m, d, f if f * v < 0.0 else 0.0, dt)
    return (dx, v_next) if v_next * v > 0.0 else (0.0, 0.0)


@kernel
def rk4_step(x, v, m, d, k, f, dt):
    """Classical Runge-Kutta; every stage evaluates the spring at its own position."""
    a1 = (f - d * v - k * x) / m
    v2 = v + 0.5 * dt * a1
    a2 = (f - d * v2 - k * (x + 0.5 * dt * v)) / m
    v3 = v + 0.5 * dt * a2
    a3 = (f - d * v3 - k * (x + 0.5 * dt * v2)) / m
    v4 = v + dt * a3
    a4 = (f - d * v4 - k * (x + dt * v3)) / m
    return x + dt / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4), v + dt / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)


@kernel
def too_fast(m, d, k, dt):
    """For RK4 and Euler."""
    return d * dt > FAST * m or k * dt * dt > FAST * FAST * m


@kernel
def step(integrator, x, v, m, d, k, f, dt):
    """(x, v) after dt. RK4 and Euler where they hold; the exact solution where the axis is too fast for them."""
    if integrator == EXACT or too_fast(m, d, k, dt):
        if k == 0.0:
            dx, v = free_step(v, m, d, f, dt)
            return x + dx, v
        if k * dt * dt < SOFT * m:  # the spring's force in the middle of the step is exact to 1e-12
            half, _ = free_step(v, m, d, f - k * x, 0.5 * dt)
            dx, v = free_step(v, m, d, f - k * (x + half), dt)
            return x + dx, v
        return spring_step(x, v, m, d, k, f, dt)
    if integrator == RK4:
        return rk4_step(x, v, m, d, k, f, dt)
    v += dt * (f - d * v - k * x) / m
    return x + dt * v, v
