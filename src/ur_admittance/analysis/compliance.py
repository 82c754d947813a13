"""How the tool yields at each frequency: x = -P(iw) F. What a surface or a hand feels follows from P.

    1 + K P = 0        a surface of stiffness K [N/m] is on the verge of bouncing
    Z = 1 / (iw P)     felt by a hand: Re Z as damping [Ns/m], Im Z / w as mass [kg]; passive while Re Z >= 0

The sampled parts (mean of a period, filter, law, straight lines) enter with their own frequency response. Left out are
aliases and the tracking gain, which acts far more slowly than a bounce; the eigenvalues have them all (laboratory).

A hand that holds the tool takes part in the loop with its own mass, and a law that is too light for it buzzes:

    F = K x + C x' + m x''      what the arm feels of the hand, x: displacement of the tool

The hand's mass pushes back on every acceleration, and the law answers late. Once that answer is larger than the push,
m over M times what filter and servo let through, the two drive each other at 15 to 25 Hz: a stiffer or softer hand
changes little. Mass in the law helps, or less delay, or several times the damping. Between hand and tool is the grip,
which yields: below its own frequency the hand appears heavier than it is.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ur_admittance.analysis.axis_loop import Loop
from ur_admittance.core.wrench.condition import ACCELERATION_CUTOFF_HZ
from ur_admittance.core.wrench.vibration import ZETA, notch_gain

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

FREQUENCIES_HZ = np.geomspace(0.1, 100.0, 300)
RIGID = 1e7  # [N/m] stiffer than anything a tool touches

# A palm and its tool move as one up to some 30 Hz: a typical value, not measured here. The simulated hand has the same
# grip. (ISO 10068:2012 gives the impedance of a hand at a handle from 10 to 500 Hz, for comparison with a real one.)
GRIP_RATE = 2.0 * math.pi * 30.0  # [rad/s] sqrt(grip stiffness / hand mass)
GRIP_RATIO = 0.5  # damping ratio of the grip
LIGHTEST, HEAVIEST = 0.05, 100.0  # [kg] where the search for a mass begins and ends
SEARCH = 0.01  # of the mass, relative


def answer(loop: Loop, frequency_hz: Array) -> tuple[Complex, Complex]:
    """How the tool moves at these frequencies [m/N]: as the law answers a force in the sensor, and as the arm bends."""
    T, arm = loop.period, loop.arm
    s = 2j * math.pi * frequency_hz
    z = np.exp(s * T)
    hold = np.sinc(frequency_hz * T)
    mean = hold * np.exp(-0.5 * s * T)  # of a period, known at its end
    law, drive = law_step(loop)
    if loop.stiffness > 0.0:
        poles = (z - law[0, 0]) * (z - law[1, 1]) - law[0, 1] * law[1, 0]
        offset = ((z - law[1, 1]) * drive[0] + law[0, 1] * drive[1]) / poles
    else:  # the integrator factored out: its pole is exactly 1
        offset = (drive[0] + law[0, 1] * drive[1] / (z - law[1, 1])) / (z - 1.0)
    command = offset * _low_pass(loop.cutoff_hz, T, z)  # for a force on the sensor
    felt = _low_pass(ACCELERATION_CUTOFF_HZ, T, z) * ((1.0 - 1.0 / z) / T) ** 2  # acceleration of the command
    command = _notch(loop, z) * command / (1.0 - loop.removed_mass * command * felt)
    robot = hold**2 * np.exp(-s * (loop.delay + loop.sensor_delay)) / (1.0 + s * loop.lag)
    stiffness = arm.mass * s**2 + arm.damping * s + arm.stiffness
    follow = (arm.damping * s + arm.stiffness) / stiffness
    return np.asarray(mean * command * robot * follow), np.asarray(1.0 / stiffness)


def compliance(loop: Loop, frequency_hz: Array) -> Complex:
    """P(iw) [m/N] of the tool at these frequencies."""
    moved, bent = answer(loop, frequency_hz)
    s = 2j * math.pi * frequency_hz
    return np.asarray((moved + bent) / (1.0 + moved * loop.tool_mass * s**2))


def impedance(loop: Loop, frequency_hz: Array) -> Complex:
    """Z(iw) = F / V [Ns/m] that a hand feels."""
    return np.asarray(1.0 / (2j * math.pi * frequency_hz * compliance(loop, frequency_hz)))


def edge_of_stability(loop: Loop) -> float:
    """Stiffness [N/m] of the softest surface on which contact keeps oscillating; infinite: none.

    There P is real and negative: K = -1 / P, at a frequency where Im P changes its sign."""
    P = compliance(loop, FREQUENCIES_HZ)
    before, after = P[:-1], P[1:]
    share = before.imag / (before.imag - after.imag + 1e-300)
    real = before.real + share * (after.real - before.real)
    crossing = (before.imag * after.imag < 0.0) & (real < -1.0 / RIGID)
    return float(np.min(-1.0 / real[crossing])) if crossing.any() else math.inf


def passive_up_to(loop: Loop) -> float:
    """Frequency [Hz] below which the arm only takes energy from a hand; above it, it gives some back."""
    active = np.flatnonzero(impedance(loop, FREQUENCIES_HZ).real < 0.0)
    return float(FREQUENCIES_HZ[active[0]]) if len(active) else math.inf


def _low_pass(cutoff_hz: float, T: float, z: Complex) -> Complex:
    weight = weight_of_new(cutoff_hz, T)
    return np.asarray(weight / (1.0 - (1.0 - weight) / z))


def _notch(loop: Loop, z: Complex) -> Complex:
    if loop.notch_hz <= 0.0:
        return np.ones_like(z)
    g = float(notch_gain(loop.notch_hz, loop.period, ZETA))
    c = math.cos(2.0 * math.pi * loop.notch_hz * loop.period)
    return np.asarray((1.0 - 0.5 * g) * (z**2 - 2.0 * c * z + 1.0) / (z**2 - (2.0 - g) * c * z + 1.0 - g))


def law_step(loop: Loop) -> tuple[Array, Array]:
    """(offset, rate) after one tick: law (2, 2) @ (offset, rate) + drive (2,) * force, exact for a held force."""
    Z = np.zeros((3, 3))
    Z[0, 1] = 1.0
    Z[1] = np.array([-loop.stiffness, -loop.damping, 1.0]) / loop.mass
    E = exponential(Z * loop.period)
    return E[:2, :2], E[:2, 2]


def exponential(A: Array) -> Array:
    """e^A of a small matrix: scaled below 1/2, Taylor series, squared back."""
    doublings = max(0, math.ceil(math.log2(max(float(np.abs(A).sum(axis=1).max()), 1e-300))) + 1)
    A = A / 2.0**doublings
    term = total = np.eye(len(A))
    for k in range(1, 13):  # 0.5^13 / 13! is below the last digit
        term = term @ A / k
        total = total + term
    for _ in range(doublings):
        total = total @ total
    return total


def weight_of_new(cutoff_hz: float, T: float) -> float:
    """Weight of the new sample in a first-order low-pass of this cutoff [Hz] and period [s]; no cutoff: 1."""
    return 1.0 if math.isinf(cutoff_hz) else -math.expm1(-2.0 * math.pi * cutoff_hz * T)


@dataclass(frozen=True)
class Hand:
    """Impedance of a hand and its arm at the handle."""

    stiffness: float  # [N/m]
    damping: float  # [Ns/m]
    mass: float  # [kg]

    def felt(self, s: Complex) -> Complex:
        """F / x [N/m] through the grip."""
        grip = self.mass * (GRIP_RATE**2 + 2.0 * GRIP_RATIO * GRIP_RATE * s)
        body = self.stiffness + self.damping * s + self.mass * s**2
        return np.asarray(grip * body / (grip + body))


# From relaxed to firm: typical values, of the order that is measured at a handle and growing with the grip, chosen here
# and not from one source. The heavy, little damped one decides, so a real hand is worth measuring where it matters.
HANDS = (Hand(100.0, 10.0, 1.0), Hand(500.0, 20.0, 2.0), Hand(1000.0, 40.0, 2.0))


def growth(loop: Loop, hand: Hand) -> float:
    """How far beyond the edge the loop is with this hand: below 1 an oscillation dies down, above it grows.

    The loop gain L = A (H + m_tool s^2) + H B on the frequencies where it is real and negative, at its largest.
    A, B: how the law answers a force and how the arm bends; H: the hand. None of them is unstable by itself."""
    s = np.asarray(2j * math.pi * FREQUENCIES_HZ, dtype=np.complex128)
    moved, bent = answer(loop, FREQUENCIES_HZ)
    felt = hand.felt(s)
    L = moved * (felt + loop.tool_mass * s**2) + felt * bent
    before, after = L[:-1], L[1:]
    crossing = (before.imag * after.imag < 0.0) & (before.real + after.real < 0.0)
    if not crossing.any():
        return 0.0
    share = before.imag / (before.imag - after.imag + 1e-300)
    return float(np.max(-(before.real + share * (after.real - before.real))[crossing]))


def can_be_held(loop: Loop, hands: tuple[Hand, ...] = HANDS) -> bool:
    """Whether the tool is quiet in each of these hands."""
    return all(growth(loop, hand) < 1.0 for hand in hands)


def lightest_mass(loop: Loop, hands: tuple[Hand, ...] = HANDS) -> float:
    """Least mass of the law [kg], inside, with which the tool is quiet in all these hands; 0: any, infinite: none.

    For the arm of the loop. The usual one presses down; sideways a UR5e in its home position is lighter at its TCP
    (1.8 kg and 43 kN/m along x, 4.6 kg and 29 kN/m along z), follows its command further up, and needs 23 to 54 % more
    mass in the law."""
    low, high = LIGHTEST, HEAVIEST
    if can_be_held(replace(loop, mass=low), hands):
        return 0.0
    if not can_be_held(replace(loop, mass=high), hands):
        return math.inf
    while high > (1.0 + SEARCH) * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if can_be_held(replace(loop, mass=middle), hands) else (middle, high)
    return high
