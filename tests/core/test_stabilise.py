"""The observers of contact on their own: a tool at constant speed that hits something, and one that bounces on it."""

import numpy as np
import pytest

from ur_admittance.core.contact.stabilise import (
    HAND_STIFFNESS,
    explain_hit,
    hit_stiffness,
    oscillation_stiffness,
)
from ur_admittance.core.records import PARAMS, STATE
from ur_admittance.core.wrench.condition import smoothing

DT, MASS = 0.002, 8.0


def samples_until_hit(stiffness: float, speed: float, pushed: float = 0.0, most: int = 100) -> tuple[int, float]:
    """A hand pushes, the tool moves, something opposes from the 51st sample on. Returns how many of its samples it
    takes to be recognised (0: not at all), and the stiffness that is seen then."""
    hit = np.zeros(1, STATE).view(np.recarray)[0].contact.hit
    for _ in range(50):
        assert hit_stiffness(hit, pushed, speed, MASS, 1.0, 0, DT) == 0.0
    for k in range(1, most + 1):
        found = hit_stiffness(hit, pushed - stiffness * speed * k * DT, speed, MASS, 1.0, 0, DT)
        if found > 0.0:
            return k, found
    return 0, 0.0


@pytest.mark.parametrize("stiffness", [5e4, 1e5, 3e5])
def test_a_stiff_wall_shows_in_its_first_two_samples_without_a_hand(stiffness: float) -> None:
    count, seen = samples_until_hit(stiffness, 0.1)
    assert 1 <= count <= 2
    assert HAND_STIFFNESS * MASS < seen < stiffness


def test_a_hand_that_pushes_hides_a_wall_only_until_the_wall_is_stronger() -> None:
    count, seen = samples_until_hit(5e4, 0.1, pushed=20.0)
    assert count == 3  # 10 N in each: only the third opposes the motion, with 10 N
    assert seen < 5e4


def test_what_a_hand_can_imitate_and_what_hardly_moves_is_not_a_hit() -> None:
    assert samples_until_hit(0.9 * HAND_STIFFNESS * MASS, 0.1) == (0, 0.0)
    assert samples_until_hit(1e5, 0.004) == (0, 0.0)


def test_a_push_that_ends_is_not_a_hit() -> None:
    hit = np.zeros(1, STATE).view(np.recarray)[0].contact.hit
    for k in range(100):
        push = 40.0 if k < 60 else 0.0
        assert hit_stiffness(hit, push, 0.1, MASS, 1.0, 0, DT) == 0.0


def seen_in_a_bounce(frequency_hz: float, stiffness: float, decay: float = 1.0, seconds: float = 2.0) -> float:
    """Largest stiffness that is seen while the tool swings by 1 mm on a spring, each half swing `decay` of the last."""
    o = np.zeros(1, STATE).view(np.recarray)[0].contact.oscillation
    seen, before = 0.0, 0.0
    for k in range(round(seconds / DT)):
        t = (k + 1) * DT
        x = 1e-3 * decay ** (2.0 * frequency_hz * t) * np.sin(2.0 * np.pi * frequency_hz * t)
        force, v, before = -stiffness * x, (x - before) / DT, x
        seen = max(seen, oscillation_stiffness(o, force, v, 1.0, smoothing(4.0, DT), 0, DT))
    return seen


@pytest.mark.parametrize("frequency_hz", [8.0, 15.0, 25.0])
def test_a_bounce_shows_the_stiffness_of_what_it_is_on(frequency_hz: float) -> None:
    assert seen_in_a_bounce(frequency_hz, 2e4) == pytest.approx(2e4, rel=0.15)


def test_a_swing_that_dies_out_or_is_slow_or_weak_is_no_bounce() -> None:
    assert seen_in_a_bounce(10.0, 2e4, decay=0.6) == 0.0
    assert seen_in_a_bounce(2.0, 2e4) == 0.0
    assert seen_in_a_bounce(10.0, 0.9e3) == 0.0  # peaks below 1 N
    assert seen_in_a_bounce(10.0, -2e4) == 0.0  # a force along the motion comes from a hand, not from a surface


def test_a_bounce_is_seen_after_six_half_swings_not_before() -> None:
    assert seen_in_a_bounce(10.0, 2e4, seconds=0.25) == 0.0
    assert seen_in_a_bounce(10.0, 2e4, seconds=0.5) > 0.0


def evidence(**contact: float) -> list[float]:
    """Of a stop by force, 20 ms of response, 5 ms of sensor, at 0.3 m/s; axis 1 has what is given, axis 0 10 kN/m."""
    p, s = (np.zeros(1, kind).view(np.recarray)[0] for kind in (PARAMS, STATE))
    p.response_time, p.sensor_delay = 0.02, 0.005
    s.contact.speed_lately = 0.3
    s.contact.ran_into[0], s.contact.stiffness[0] = 1.0, 1e4
    for name, value in contact.items():
        s.contact[name][1] = value
    explain_hit(p, s, DT)
    return [float(number) for number in s.evidence[2:]]


def test_a_hit_that_came_too_early_for_an_answer_is_explained_by_the_stiffest_axis() -> None:
    soft = [0.3, 1e4, 0.3 * 1e4 * 0.027]
    assert evidence() == pytest.approx(soft)
    assert evidence(stiffness=5e4) == pytest.approx(soft)  # not recognised
    assert evidence(stiffness=5e4, ran_into=1.0) == pytest.approx([0.3, 5e4, 0.3 * 5e4 * 0.027])
    assert evidence(stiffness=5e4, held=1.0, held_time=0.02) == pytest.approx([0.3, 5e4, 0.3 * 5e4 * 0.027])
    assert evidence(stiffness=5e4, held=1.0, held_time=0.021) == pytest.approx(soft)  # there was time
