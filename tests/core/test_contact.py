"""The observer of hits on its own: a tool at constant speed, and what opposes it."""

import numpy as np
import pytest

from ur_admittance.core.contact import HAND_STIFFNESS, hit_stiffness
from ur_admittance.core.records import STATE

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
