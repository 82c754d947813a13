"""From figures to one number: limits dominate, the worst tenth counts, and there is always a slope."""

import numpy as np
import pytest

from ur_admittance_lab.tuning.score import BROKEN, Figure, cost, failures, worst_tenth

FIGURES = {"overshoot": Figure("%", 10.0, 100.0, ""), "residual": Figure("N", 0.4, 1.0, "")}


def test_the_score_is_the_mean_of_the_worst_tenth():
    values = np.random.default_rng(0).permutation(np.arange(100.0))
    assert worst_tenth(values) == pytest.approx(np.arange(90.0, 100.0).mean())
    assert worst_tenth(values[:1]) == values[0]
    assert worst_tenth([3.0, 1.0, 2.0]) == 3.0


def test_small_figures_count_in_proportion():
    assert cost(FIGURES, {"overshoot": 5.0, "residual": 0.2}) == pytest.approx(1.0)


def test_a_broken_limit_costs_more_than_a_case_just_inside():
    inside, outside = ({"overshoot": 0.0, "residual": r} for r in (1.0, 1.0 + 1e-9))
    assert failures(FIGURES, inside) == []
    assert failures(FIGURES, outside) == ["residual"]
    assert cost(FIGURES, outside) - cost(FIGURES, inside) == pytest.approx(BROKEN)


def test_worse_is_always_dearer_even_far_beyond_the_limit():
    costs = [cost(FIGURES, {"overshoot": o, "residual": 0.1}) for o in np.geomspace(1.0, 1e5, 200)]
    assert np.all(np.diff(costs) > 0.0)


def test_nan_is_dear_and_keeps_the_score_a_number():
    assert BROKEN < cost(FIGURES, {"overshoot": float("nan"), "residual": 0.0}) < 1e3
