"""Mass and damping by comparison: a person feels A, then B, and says which is better. READ AFTER stability.py.

    search = ByFeel(parameters)
    while not search.done:
        search.choose(answer)            # after guiding with search.a and with search.b: "a", "b" or "same"
    search.best, search.history

A setting is a point x: octaves of mass and of damping from the values at the start, about all axes alike. A person is
taken to like a setting the less the farther it is from some x* of their own, and to choose as Bradley and Terry say,
with ties as Davidson added them:

    P(a) : P(b) : P(same) = e^(d/2) : e^(-d/2) : TIES,   d = (|b - x*|^2 - |a - x*|^2) / CARE^2   [Davidson]

Every answer weighs the places where x* may be, by Bayes' rule. The next pair is the one whose answer is expected to
tell most about x*. Every setting that is offered is stable in a hand (stability.py); x* may be outside.
"""

import math
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.analysis.compliance import HANDS
from ur_admittance.analysis.stability import margin
from ur_admittance.errors import ParameterError
from ur_admittance.params import Parameters

Array = NDArray[np.float64]

ROUNDS = 6  # more gained nothing with simulated people
RANGE, STEPS = (
    2.0,
    9,
)  # [octaves] up and down: from a quarter to four times; steps of a factor 1.4, which a hand notices
# These four were chosen with simulated people of even seeds (benchmarks/by_feel.py); those of odd seeds judge them.
NEAR = 0.7  # [octaves] standard deviation of x* about the start, before anything is known
CARE = 0.7  # [octaves] at this distance from x*, against x* itself, e^1/2 to e^-1/2
WEIGHTS = np.array([0.35, 1.0])  # of mass and damping in |x|^2: damping is felt all the time, mass at starts and stops
TIES = 0.3
FIRMEST = max(hand.stiffness for hand in HANDS)  # [N/m] of a hand; what is stiffer, the stabiliser has to handle
DIGITS = 3  # of a value that is offered
ANSWERS = ("a", "b", "same")
DAMPING = "admittance.damping"


@dataclass(frozen=True)
class Round:
    a: Parameters
    b: Parameters
    answer: str

    def __str__(self) -> str:
        words = {"a": "A felt better", "b": "B felt better", "same": "no difference"}[self.answer]
        return f"A {described(self.a)}, B {described(self.b)}: {words}"


class ByFeel:
    """Whoever holds the arm answers; see the top of this file."""

    def __init__(self, parameters: Parameters, rounds: int = ROUNDS) -> None:
        self.start, self.rounds, self.history = parameters, rounds, list[Round]()
        steps = np.linspace(-RANGE, RANGE, STEPS)
        self._ideals = np.array(list(product(steps, steps)))  # (n, 2)
        self._belief = np.exp(-0.5 * np.sum(self._ideals**2, axis=1) / NEAR**2)
        self._belief /= self._belief.sum()
        offered = [(x, scaled(parameters, *(2.0**x).tolist())) for x in self._ideals]
        safe = [(x, each) for x, each in offered if is_safe(each)]
        if len(safe) < 2:
            raise ParameterError(
                f"the arm would shake in a hand with nearly every mass and damping around {described(parameters)}: "
                "measure robot.response_time, or start with more damping"
            )
        self._places = np.array([x for x, _ in safe])
        self._settings: list[Parameters] = [each for _, each in safe]
        # P(answer) for every pair of settings and every x*: (pairs, 3, n)
        self._pairs = list(combinations(range(len(safe)), 2))
        first, second = np.array(self._pairs).T
        far = ((self._places[:, None] - self._ideals) ** 2) @ WEIGHTS  # |a - x*|^2 (settings, n)
        d = (far[second] - far[first]) / CARE**2
        odds = np.stack([np.exp(0.5 * d), np.exp(-0.5 * d), np.full_like(d, TIES)], axis=1)
        self._chances = odds / odds.sum(axis=1, keepdims=True)
        self._pair = self._most_telling()

    @property
    def done(self) -> bool:
        return len(self.history) >= self.rounds

    @property
    def a(self) -> Parameters:
        return self._settings[self._pairs[self._pair][0]]

    @property
    def b(self) -> Parameters:
        return self._settings[self._pairs[self._pair][1]]

    @property
    def best(self) -> Parameters:
        """Of the safe settings, the one that is expected to be liked best: the nearest to the mean of x*."""
        mean = self._belief @ self._ideals
        return self._settings[int(np.argmin((self._places - mean) ** 2 @ WEIGHTS))]

    def choose(self, answer: str) -> None:
        """Which of the two was better: "a", "b" or "same"."""
        if answer not in ANSWERS:
            raise ParameterError(f"answer = {answer!r}: must be one of {', '.join(ANSWERS)}")
        self.history.append(Round(self.a, self.b, answer))
        self._belief *= self._chances[self._pair, ANSWERS.index(answer)]
        self._belief /= self._belief.sum()
        self._pair = self._most_telling()

    def story(self) -> str:
        """How it came about, for the head of a parameter file."""
        lines = [f"Tuned by feel, from {described(self.start)} to {described(self.best)}:"]
        lines += [f"  {i}. {each}" for i, each in enumerate(self.history, 1)]
        return "\n".join(lines)

    def _most_telling(self) -> int:
        """The pair with the most information in its answer about x*: H(answer) - E[H(answer) given x*]."""
        mean = self._chances @ self._belief  # (pairs, 3)
        uncertain = -np.sum(mean * np.log(mean), axis=1)
        noise = -np.sum(self._chances * np.log(self._chances), axis=1) @ self._belief
        return int(np.argmax(uncertain - noise))


def is_safe(parameters: Parameters) -> bool:
    """Quiet in a hand, from a relaxed to a firm one, without the stabiliser."""
    found = margin(parameters)
    return found.can_be_held and found.stable_stiffness >= FIRMEST


def changes_to(parameters: Parameters) -> dict[str, Any]:
    """What a setting changes, by dotted names."""
    law = parameters.admittance
    return {"admittance.mass": list(law.mass), "admittance.damping_ratio": list(law.damping_ratio), DAMPING: None}


def scaled(parameters: Parameters, mass: float, damping: float) -> Parameters:
    """Mass and damping of all axes times these factors. By the ratio: the sliders of the page know no other damping."""
    law = parameters.admittance
    masses = [_short(mass * m) for m in law.mass]
    springs = zip(masses, law.stiffness, law.virtual_stiffness, law.effective_damping, strict=True)
    ratios = [_short(damping * d / (2.0 * math.sqrt(m * max(k, virtual)))) for m, k, virtual, d in springs]
    return parameters.changed({"admittance.mass": masses, "admittance.damping_ratio": ratios, DAMPING: None})


def described(parameters: Parameters) -> str:
    return f"{parameters.admittance.mass[0]:.3g} kg and {parameters.admittance.effective_damping[0]:.3g} Ns/m"


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
