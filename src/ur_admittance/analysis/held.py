"""A hand that holds the tool: its own mass takes part in the loop, and a law that is too light for it buzzes.

    F = K x + C x' + m x''      what the arm feels of the hand, x: displacement of the tool

The hand's mass pushes back on every acceleration, and the law answers late. Once that answer is larger than the push,
m over M times what filter and servo let through, the two drive each other at 15 to 25 Hz: a stiffer or softer hand
changes little. Mass in the law helps, or less delay, or several times the damping.

Between hand and tool is the grip, which yields: below its own frequency the hand appears heavier than it is.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ur_admittance.analysis.axis_loop import Loop
from ur_admittance.analysis.compliance import FREQUENCIES_HZ, answer

Complex = NDArray[np.complex128]

# A palm and its tool move as one up to some 30 Hz: a typical value, not measured here. The simulated hand has the same
# grip. (ISO 10068:2012 gives the impedance of a hand at a handle from 10 to 500 Hz, for comparison with a real one.)
GRIP_RATE = 2.0 * math.pi * 30.0  # [rad/s] sqrt(grip stiffness / hand mass)
GRIP_RATIO = 0.5  # damping ratio of the grip
LIGHTEST, HEAVIEST = 0.05, 100.0  # [kg] where the search for a mass begins and ends
SEARCH = 0.01  # of the mass, relative


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
