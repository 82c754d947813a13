"""From the figures of a case to one number, and from all cases of a candidate to its score.

    cost of a case  = sum of  figure / scale,  beyond 3 growing as a logarithm  + 10 and more for each broken limit
    score           = mean cost of the worst tenth of the cases (CVaR 0.1)

A broken limit costs more than anything that keeps the limits, and the more the farther it is broken: the search keeps
a slope to climb down on even where every case fails.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

WORST_SHARE = 0.1  # the mean of this share of the cases is the score
STRAIGHT = 3.0  # a figure up to this many scales counts in proportion
BROKEN = 10.0  # for each limit that is broken: more than all figures that keep theirs cost together
REFUSED = 1000.0  # of a candidate that is not simulated (screen.py): worse than any that is


@dataclass(frozen=True)
class Figure:
    """One number that says how a case went; less is better."""

    unit: str
    scale: float  # that costs 1
    limit: float  # more than this is a failure; inf: no limit
    meaning: str


Figures = Mapping[str, Figure]
Values = Mapping[str, float]


def failures(figures: Figures, values: Values) -> list[str]:
    """Names of the broken limits. A value that is not a number is a failure."""
    return [name for name, figure in figures.items() if not values[name] <= figure.limit]


def cost(figures: Figures, values: Values) -> float:
    total = 0.0
    for name, figure in figures.items():
        value = values[name]
        total += _soft(value / figure.scale if math.isfinite(value) else 1e3)
        if not value <= figure.limit:
            total += BROKEN
    return total


def worst_tenth(costs: Sequence[float]) -> float:
    """Mean of the largest tenth, at least of one."""
    worst_first = np.sort(np.asarray(costs, dtype=float))[::-1]
    return float(worst_first[: max(1, math.ceil(WORST_SHARE * len(worst_first) - 1e-9))].mean())


def _soft(ratio: float) -> float:
    return ratio if ratio <= STRAIGHT else STRAIGHT * (1.0 + math.log(ratio / STRAIGHT))
