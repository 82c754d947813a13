"""The loop in contact as one matrix: state(k + 1) = A state(k). Stable when no eigenvalue is larger than 1.

Between two ticks the robot is continuous: the commands, one per tick, are joined by straight lines, come out of the
delay, pass the servo's lag and move the arm, which rests on a surface F = K x + C x', or is held by a hand, which adds
m x''. Exact for this input.
At a tick the law, with its exact integrator, takes the mean force of the last period through the filter.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ur_admittance.analysis.axis_loop import Loop
from ur_admittance.analysis.compliance import RIGID, edge_of_stability, exponential, law_step, weight_of_new
from ur_admittance.core.wrench.condition import ACCELERATION_CUTOFF_HZ
from ur_admittance.core.wrench.vibration import ZETA, notch_gain

Array = NDArray[np.float64]

PLANT = ("y", "x", "speed")  # command after the lag; position and speed of the TCP, into the surface
TICKWISE = ("force", "filtered", "rate", "offset", "expected_lag", "acceleration", "pointer", "quadrature")
RESERVE = 2.0  # share of the damping that may be missing: the usual gain margin of 6 dB
SOFTEST, MOST_DAMPING = 1.0, 1e5  # [N/m], [Ns/m] where the searches begin and end
ROUNDING = 1e-7  # of eigenvalues: free positions have several that are exactly 1


def contact_matrix(loop: Loop, stiffness: float, damping: float = 0.0, mass: float = 0.0) -> Array:
    """A of the loop on a surface, or in a hand, of this stiffness [N/m], damping [Ns/m], mass [kg]; 0: free space."""
    T = loop.period
    delay = loop.delay + loop.sensor_delay  # one after the other in the loop: it makes no difference where
    ticks = int(delay / T + 1e-9)  # whole ticks of the delay, and what is left of it
    rest = max(0.0, delay - ticks * T)
    first = len(PLANT) + len(TICKWISE)
    unit = np.eye(first + ticks + 2)
    x = unit[PLANT.index("x")]
    force, filtered, rate, offset, expected_lag, acceleration, pointer, quadrature = unit[len(PLANT) : first]
    command = [x, *unit[first:]]  # command[j]: where the tool should be j ticks before the end of this one

    turn, g = 2.0 * math.pi * loop.notch_hz * T, float(notch_gain(loop.notch_hz, T, ZETA))
    on = float(loop.notch_hz > 0.0)
    turned = on * (math.cos(turn) * pointer - math.sin(turn) * quadrature)
    quadrature = on * (math.sin(turn) * pointer + math.cos(turn) * quadrature)
    pointer = turned + g * (-force - turned)
    calm = -force - 0.5 * (turned + pointer)

    sensed = calm + loop.removed_mass * acceleration
    filtered = filtered + weight_of_new(loop.cutoff_hz, T) * (sensed - filtered)
    law, drive = law_step(loop)
    new_offset = law[0, 0] * offset + law[0, 1] * rate + drive[0] * filtered
    rate = law[1, 0] * offset + law[1, 1] * rate + drive[1] * filtered
    error = offset - x - expected_lag
    command[0] = command[1] + new_offset - offset + T * loop.tracking_gain * error

    speed, last_speed = (command[0] - command[1]) / T, (command[1] - command[2]) / T
    late = math.exp(-T / loop.assumed_response) if loop.assumed_response > 0.0 else 0.0
    expected_lag = late * expected_lag + (1.0 - late) * loop.assumed_response * speed
    acceleration = acceleration + weight_of_new(ACCELERATION_CUTOFF_HZ, T) * ((speed - last_speed) / T - acceleration)

    # The delayed command runs along two straight lines within a period; the corner is `rest` after its start.
    corner = command[ticks + 1]
    start = corner - rest / T * (corner - command[ticks + 2])
    end = command[ticks] - rest / T * (command[ticks] - corner)
    plant = np.vstack([unit[: len(PLANT)], np.zeros(len(unit))])  # and the integral of the force
    for u0, u1, h in ((start, corner, rest), (corner, end, T - rest)):
        if h > 1e-9:
            through, held, ramp = straight_line(loop, stiffness, damping, mass, h)
            plant = through @ plant + np.outer(held, u0) + np.outer(ramp, (u1 - u0) / h)
    mean_force = plant[-1] / T
    tickwise = [mean_force, filtered, rate, new_offset, expected_lag, acceleration, pointer, quadrature]
    return np.vstack([plant[:-1], *tickwise, *command[: ticks + 2]])


def straight_line(loop: Loop, stiffness: float, damping: float, mass: float, h: float) -> tuple[Array, Array, Array]:
    """Robot on the surface over h seconds while its command runs along a line u0 + u1 t:
    state -> through @ state + held u0 + ramp u1, state: y, x, speed, integral of the sensed force."""
    arm, fast = loop.arm, 1.0 / max(loop.lag, 1e-4)
    moved = arm.mass + mass
    Z = np.zeros((6, 6))
    y, x, v, integral, u, slope = range(6)
    Z[y, [y, u]] = -fast, fast
    Z[x, v] = 1.0
    Z[v, y] = (arm.stiffness - arm.damping * fast) / moved
    Z[v, x] = -(arm.stiffness + stiffness) / moved
    Z[v, v] = -(arm.damping + damping) / moved
    Z[v, u] = arm.damping * fast / moved
    Z[integral, [x, v]] = stiffness, damping
    Z[integral] += (loop.tool_mass + mass) * Z[v]  # inertia beyond the sensor is felt as a force
    Z[u, slope] = 1.0
    E = exponential(Z * h)
    return E[:4, :4], E[:4, u], E[:4, slope]


def spectral_radius(loop: Loop, stiffness: float, damping: float = 0.0, mass: float = 0.0) -> float:
    """Largest eigenvalue: by this factor an oscillation changes per tick."""
    return float(np.abs(np.linalg.eigvals(contact_matrix(loop, stiffness, damping, mass))).max())


def is_stable(loop: Loop, stiffness: float, damping: float = 0.0, mass: float = 0.0) -> bool:
    """Whether contact with a surface, or a hand, of this stiffness [N/m], damping [Ns/m] and mass [kg] dies down."""
    return spectral_radius(loop, stiffness, damping, mass) <= 1.0 + ROUNDING


def largest_stable_stiffness(loop: Loop) -> float:
    """Stiffest surface [N/m] on which contact still dies down, from the eigenvalues. Infinite: stable on any."""
    if not is_stable(loop, SOFTEST):
        return 0.0
    guess = min(edge_of_stability(loop), RIGID)
    low, high = 0.7 * guess, 1.4 * guess
    while not is_stable(loop, low) and low > SOFTEST:
        low, high = 0.5 * low, low
    while is_stable(loop, high):
        if high > RIGID:
            return math.inf
        low, high = high, 2.0 * high
    while high > 1.001 * low:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if is_stable(loop, middle) else (low, middle)
    return low


def minimum_damping(loop: Loop, stiffness: float, surface_damping: float = 0.0) -> float:
    """Least D [Ns/m] of the law with which contact with this stiffness [N/m] dies down, from the eigenvalues."""
    low, high = 1e-2, MOST_DAMPING
    if not is_stable(loop.with_damping(high), stiffness, surface_damping):
        return math.inf
    while high > 1.002 * low:
        middle = math.sqrt(low * high)
        stable = is_stable(loop.with_damping(middle), stiffness, surface_damping)
        low, high = (low, middle) if stable else (middle, high)
    return high


def sufficient_damping(loop: Loop, stiffness: float) -> float:
    """Least D [Ns/m] for this surface [N/m] and every softer one: a stiffer surface can be the easier one."""
    least = minimum_damping(loop, stiffness)
    for softer in np.geomspace(stiffness / 50.0, stiffness, 12)[-2::-1].tolist():
        # One set of eigenvalues says whether this surface asks for more; with a delay of 0.5 s a search takes seconds.
        if math.isfinite(least) and not is_stable(loop.with_damping(least), softer):
            least = minimum_damping(loop, softer)
    return least


def largest_safe_stiffness(loop: Loop) -> float:
    """Surface [N/m] up to which contact would die down even with the damping divided by RESERVE. Infinite: any."""
    return edge_of_stability(loop.with_damping(loop.damping / RESERVE))
