"""The bound on the share of failures, against SciPy; what a certificate counts."""

import pytest
from scipy.stats import beta

from ur_admittance.errors import SimulationError
from ur_admittance_lab.tuning.certificate import certify, failure_bound, percent_up
from ur_admittance_lab.tuning.score import Figure

FIGURES = {"force": Figure("N", 1.0, 5.0, "largest"), "time": Figure("s", 1.0, float("inf"), "until done")}


@pytest.mark.parametrize("cases", [1, 2, 10, 59, 1000, 20_000])
@pytest.mark.parametrize("share", [0.0, 0.001, 0.03, 0.5, 0.99])
@pytest.mark.parametrize("confidence", [0.95, 0.99])
def test_bound_is_the_one_of_clopper_and_pearson(cases, share, confidence):
    failed = min(cases - 1, round(share * cases))
    exact = beta.ppf(confidence, failed + 1, cases - failed)
    assert failure_bound(failed, cases, confidence) == pytest.approx(exact, rel=1e-7)


def test_no_failure_in_a_thousand_means_less_than_three_in_a_thousand():
    assert failure_bound(0, 1000) == pytest.approx(1.0 - 0.05 ** (1.0 / 1000.0), rel=1e-9)


def test_if_every_case_failed_nothing_is_claimed():
    assert failure_bound(7, 7) == 1.0


@pytest.mark.parametrize(("failed", "cases"), [(-1, 5), (6, 5), (0, 0)])
def test_impossible_counts_are_refused(failed, cases):
    with pytest.raises(SimulationError, match="between 0 and the cases"):
        failure_bound(failed, cases)


def test_a_case_that_breaks_two_limits_is_one_failure():
    figures = FIGURES | {"other": Figure("N", 1.0, 0.0, "none allowed")}
    good = {"force": 4.0, "time": 9.0, "other": 0.0}
    bad = {"force": 6.0, "time": 1.0, "other": 0.1}
    certificate = certify(figures, [good, bad, good], [1.0, 30.0, 2.0])
    assert (certificate.cases, certificate.failed, certificate.worst_case) == (3, 1, 1)
    assert certificate.broken == {"force": 1, "time": 0, "other": 1}
    assert certificate.worst == {"force": 6.0, "time": 9.0, "other": 0.1}
    assert certificate.bound == pytest.approx(beta.ppf(0.95, 2, 2))


def test_a_figure_that_is_not_a_number_is_a_failure():
    certificate = certify(FIGURES, [{"force": float("nan"), "time": 1.0}], [1.0])
    assert certificate.failed == 1


@pytest.mark.parametrize(
    ("share", "text"), [(0.00299125, "0.3"), (0.00473499, "0.48"), (0.0104841, "1.1"), (0.6316, "64"), (0.3, "30")]
)
def test_a_bound_is_never_rounded_down(share, text):
    assert percent_up(share) == text
    assert float(text) >= 100.0 * share - 1e-9
