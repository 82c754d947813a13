"""How sure can one be: the chosen parameters on fresh cases, with a bound on how often they fail.

Of n fresh cases, drawn as those of the search but from another stream, k failed: with 95 % confidence the share of
failures among all cases of these ranges is below p, where  P(at most k failures of n | p) = 5 %  [Clopper1934].
It says nothing about cases outside the ranges, nor about what the simulation leaves out.
"""

import math
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from ur_admittance import __version__
from ur_admittance.errors import SimulationError
from ur_admittance_lab.tuning.score import Figures, Values, failures, worst_tenth

CONFIDENCE = 0.95
HALVINGS = 60  # of the interval 0..1: beyond the last digit of a float


def failure_bound(failed: int, cases: int, confidence: float = CONFIDENCE) -> float:
    """Upper end of the one-sided Clopper-Pearson interval of a share, by bisection of the binomial sum."""
    if not 0 <= failed <= cases or cases < 1:
        raise SimulationError(
            f"certificate: {failed} failures of {cases} cases: must be between 0 and the cases, >= 1."
        )
    if failed == cases:
        return 1.0
    low, high = failed / cases, 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _at_most(failed, cases, middle) > 1.0 - confidence else (low, middle)
    return high


def _at_most(failed: int, cases: int, share: float) -> float:
    """P(at most `failed` of `cases`) when each fails with probability `share`; terms as logarithms, n may be large."""
    if share <= 0.0 or share >= 1.0:
        return 1.0 if share <= 0.0 else 0.0
    log_all = math.lgamma(cases + 1)
    return math.fsum(
        math.exp(
            log_all
            - math.lgamma(k + 1)
            - math.lgamma(cases - k + 1)
            + k * math.log(share)
            + (cases - k) * math.log1p(-share)
        )
        for k in range(failed + 1)
    )


@dataclass(frozen=True)
class Certificate:
    cases: int
    failed: int
    bound: float  # share of failures that is exceeded with 5 % probability only
    broken: dict[str, int]  # limit -> how many cases broke it
    worst: dict[str, float]  # figure -> largest value
    worst_tenth: dict[str, float]  # figure -> mean of its largest tenth
    worst_case: int  # index of the most expensive fresh case
    reserve: float | None = None  # least damping in contact over what the stability model needs; None: not computed

    def as_dict(self) -> dict[str, Any]:
        return {
            "fresh_cases": self.cases,
            "failed": self.failed,
            "failure_share_below": self.bound,
            "confidence": CONFIDENCE,
            "broken_limits": self.broken,
            "worst": self.worst,
            "worst_tenth": self.worst_tenth,
            "worst_case": self.worst_case,
            "least_reserve": self.reserve,
            "versions": versions(),
        }

    def sentence(self) -> str:
        if self.failed == self.cases:
            return f"all {self.cases} fresh cases failed"
        return (
            f"{self.failed} of {self.cases} fresh cases failed: with 95 % confidence fewer than "
            f"{percent_up(self.bound)} % of such cases fail"
        )


def percent_up(share: float) -> str:
    """In percent with two digits, rounded up: a bound that is rounded down is none."""
    if share <= 0.0:
        return "0"
    step = 10.0 ** (math.floor(math.log10(100.0 * share)) - 1)
    return f"{math.ceil(100.0 * share / step - 1e-9) * step:.3g}"


def certify(figures: Figures, results: Sequence[Values], costs: Sequence[float]) -> Certificate:
    """From the figures and costs of the fresh cases, in their order."""
    broken = [failures(figures, values) for values in results]
    failed = sum(bool(names) for names in broken)
    return Certificate(
        cases=len(results),
        failed=failed,
        bound=failure_bound(failed, len(results)),
        broken={name: sum(name in names for names in broken) for name in figures},
        worst={name: max(values[name] for values in results) for name in figures},
        worst_tenth={name: worst_tenth([values[name] for values in results]) for name in figures},
        worst_case=max(range(len(costs)), key=costs.__getitem__),
    )


def versions() -> dict[str, str]:
    """Whatever could change a bit of the result."""
    return {
        "ur_admittance": __version__,
        "mujoco": version("mujoco"),
        "numpy": version("numpy"),
        "numba": version("numba"),
        "python": platform.python_version(),
        "machine": platform.machine(),
    }
