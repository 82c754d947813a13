"""Factors on damping and speed on their own: a hand that travels, and regions with their own rules."""

import numpy as np
import pytest

from ur_admittance.core.law.variable import damping_factor, speed_factor
from ur_admittance.core.records import PARAMS, STATE

DT = 0.002


def records(**region):
    """A region from x = 0 to 1 m with a margin of 0.2 m; travelling above 0.2 m/s leaves 40 % of the damping."""
    p, s = (np.zeros(1, kind).view(np.recarray)[0] for kind in (PARAMS, STATE))
    p.travel_damping, p.travel_speed = 0.4, 0.2
    p.region_damping[:], p.region_speed[:] = 1.0, 1.0
    p.region_min[:], p.region_max[:], p.region_margin[:] = -9.0, 9.0, 0.2
    p.region_min[:, 0], p.region_max[:, 0] = 0.0, 1.0
    for name, value in region.items():
        p[name][1] = value
    return p, s


def factor_after(seconds, speed, push):
    p, s = records()
    s.rate[:3] = [speed, 0.0, 0.0]
    factors = [damping_factor(p, s, np.zeros(3), np.array([push, 0.0, 0.0]), DT) for _ in range(round(seconds / DT))]
    assert np.diff(factors).max() < 1e-12
    return factors[-1]


@pytest.mark.parametrize(("speed", "expected"), [(0.0, 1.0), (0.1, 0.7), (0.2, 0.4), (0.5, 0.4)])
def test_the_damping_falls_to_its_share_as_the_hand_drives_the_tool_towards_travel_speed(speed, expected):
    assert factor_after(3.0, speed, 10.0) == pytest.approx(expected, abs=1e-3)  # half way is the mean: 3/4 - 2/8 = 1/2


def test_a_jolt_is_no_journey_and_a_tool_that_moves_against_the_hand_does_not_travel():
    assert factor_after(0.03, 0.2, 10.0) > 0.9
    assert factor_after(3.0, 0.2, -10.0) == 1.0


@pytest.mark.parametrize(
    ("x", "inside"),
    [(0.5, 1.0), (0.0, 1.0), (-0.1, 0.5), (-0.3, 0.0), (1.1, 0.5), (-0.15, 3 / 16 - 2 / 64), (1.3, 0.0)],
)
def test_a_region_has_its_damping_and_speed_inside_and_none_beyond_its_margin(x, inside):
    p, s = records(region_damping=3.0, region_speed=0.25)
    p.travel_damping = 1.0
    position = np.array([x, 0.0, 0.0])
    assert damping_factor(p, s, position, np.zeros(3), DT) == pytest.approx(1.0 + 2.0 * inside)
    assert speed_factor(p, position) == pytest.approx(1.0 - 0.75 * inside)


def test_factors_of_regions_multiply_and_a_margin_of_zero_is_an_edge():
    p, _ = records(region_speed=0.5)
    p.region_speed[2], p.region_margin[:] = 0.5, 0.0
    assert speed_factor(p, np.array([0.5, 0.0, 0.0])) == 0.25
    assert speed_factor(p, np.array([-1e-6, 0.0, 0.0])) == 1.0
