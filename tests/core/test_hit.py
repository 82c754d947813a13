"""A tool that hits a wall, and one that somebody pushes back: a mass without a spring whose path is computed here."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from tests.core.loose import loose

from ur_admittance.core.contact.hit import (
    BRAKES,
    CERTAIN,
    DOUBT,
    HIT_TIME,
    SAME_PLACE,
    WAITS,
    held_back,
    watch_hit,
)
from ur_admittance.core.records import PARAMS, STATE

DT, MASS = 0.002, 8.0


class Tool:
    """One axis and its observer; `seen` has what it told in each tick."""

    def __init__(self, limit: float = 1e4, delay: float = 0.02) -> None:
        self.p = loose(np.zeros(1, PARAMS)[0])
        self.p.max_force, self.p.loop_delay = limit, delay
        self.s = loose(np.zeros(1, STATE)[0])
        self.s.mass[:] = MASS
        self.contact = self.s.contact
        self.seen: list[float] = []
        self.doing: list[float] = []

    @property
    def hit(self) -> SimpleNamespace:
        found: SimpleNamespace = self.contact.hit
        return found

    def tick(self, force: float, v: float) -> float:
        self.seen.append(float(watch_hit(self.p, self.s, force, v, v, 1.0, 0, DT)))
        self.doing.append(float(self.hit.doing[0]) if self.hit.side[0] != 0.0 else WAITS)
        return self.seen[-1]

    def go(self, v: float, seconds: float, force: float = 0.0) -> None:
        for _ in range(round(seconds / DT)):
            self.tick(force, v)

    def bounce(self, stiffness: float, speed: float, hand: float = 0.0) -> list[float]:
        """Into a wall and out again, half a period of  M x" = -K x.  What it told meanwhile, and in 20 ms after it."""
        self.go(speed, 0.05, hand)
        first, w = len(self.seen), math.sqrt(stiffness / MASS)
        for k in range(1, round(math.pi / w / DT) + 1):
            depth = abs(speed) / w * math.sin(w * k * DT)
            self.tick(hand - math.copysign(stiffness * depth, speed), speed * math.cos(w * k * DT))
        self.go(-speed, 0.02, hand)
        return self.seen[first:]

    def pushed(self, force: float, speed: float, rise: float = 0.008) -> list[float]:
        """Somebody pushes against the motion and goes on: the tool turns round and comes back past where it began."""
        self.go(speed, 0.05)
        first, v = len(self.seen), speed
        for k in range(1, round(0.25 / DT) + 1):
            f = -math.copysign(force, speed) * min(1.0, k * DT / rise)
            v += f / MASS * DT
            self.tick(f, v)
        return self.seen[first:]


def as_it_looks(stiffness: float) -> float:
    """With the way of the last 10 ms before it: who began when is not known better."""
    return stiffness / (1.0 + HIT_TIME * math.sqrt(stiffness / MASS))


@pytest.mark.parametrize("stiffness", [1.5e4, 5e4, 1e5])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_wall_is_known_by_its_stiffness_once_its_force_falls_as_the_tool_comes_back(
    stiffness: float, side: float
) -> None:
    tool = Tool()
    told = tool.bounce(stiffness, side * 0.1)
    found = [k for k, value in enumerate(told) if value > 0.0]
    assert len(found) == 1  # once, and not before the turn
    assert as_it_looks(stiffness) < told[found[0]] < stiffness
    assert found[0] > 0.5 * math.pi * math.sqrt(MASS / stiffness) / DT
    assert min(told) == 0.0


@pytest.mark.parametrize("force", [20.0, 40.0, 80.0])
@pytest.mark.parametrize("speed", [-0.2, 0.1, 0.3])
def test_somebody_who_goes_on_pushing_as_the_tool_comes_back_is_no_wall(force: float, speed: float) -> None:
    told = Tool().pushed(force, speed)
    assert max(told) == 0.0
    if force > 20.0:  # which is too soft for a suspicion
        assert min(told) == -1.0  # dropped


def test_a_push_that_ends_is_steep_and_no_hit() -> None:
    tool = Tool()
    for k in range(100):
        tool.tick(40.0 if k < 60 else 0.0, 0.1)
    assert tool.seen == [0.0] * 100
    assert tool.hit.side[0] == 0.0


def test_what_a_hand_can_imitate_and_what_hardly_moves_is_not_even_suspected() -> None:
    imitated = MASS * (2.0 * math.pi * 5.0) ** 2  # M w^2 at 5 Hz
    assert set(Tool().bounce(0.9 * imitated, 0.2)) == {0.0}
    assert max(Tool().bounce(1.5 * imitated, 0.2)) > 0.0
    for speed, suspected in ((0.004, False), (0.006, True)):
        tool = Tool()
        tool.go(speed, 0.05)
        tool.go(speed, 0.004, force=-20.0)
        assert (tool.hit.side[0] != 0.0) == suspected


def test_a_hand_that_pushes_on_hides_a_wall_only_until_the_wall_is_stronger() -> None:
    tool = Tool()
    told = tool.bounce(5e4, 0.2, hand=20.0)
    assert 0.9 * as_it_looks(5e4) < max(told) < 5e4


def test_what_is_neither_confirmed_nor_comes_back_is_dropped_after_a_while() -> None:
    """Against the wall by an arm that stands still there: the force does not fall."""
    tool = Tool()
    tool.go(0.1, 0.05)
    for k in range(1, 11):
        tool.tick(-5e4 * 0.1 * k * DT, 0.1)
    tool.go(0.0, DOUBT - 0.04, force=-100.0)
    assert tool.hit.side[0] == -1.0
    tool.go(0.0, 0.05, force=-100.0)
    assert tool.hit.side[0] == 0.0
    assert min(tool.seen) == -1.0


def test_nothing_is_done_about_a_suspicion_that_may_wait() -> None:
    tool = Tool()
    tool.bounce(5e4, 0.1)
    assert set(tool.doing) == {WAITS}


def test_a_hit_that_would_pass_the_force_limit_before_an_answer_brakes_the_way_in_only() -> None:
    tool = Tool(limit=150.0)
    told = tool.bounce(1e5, 0.2)
    begins = tool.doing.index(BRAKES) - 25
    assert told[begins] > 0.0  # with what is known of it by then
    assert 1e5 * 0.2 * (begins + 1) * DT < 150.0  # and in time
    contact = tool.contact
    hit = contact.hit
    contact.damping[0], hit.before[0], hit.side[0], hit.doing[0] = 900.0, 70.0, -1.0, BRAKES
    assert held_back(contact, 0.1, 0) == 900.0  # against the force
    assert held_back(contact, -0.1, 0) == 70.0  # with it
    hit.doing[0] = CERTAIN
    assert held_back(contact, -0.1, 0) == 900.0
    hit.doing[0], hit.side[0] = BRAKES, 0.0  # confirmed
    assert held_back(contact, -0.1, 0) == 900.0


def first_answer(tool: Tool, told: list[float]) -> float:
    """Ticks until a stiffness was named."""
    return next((k for k, value in enumerate(told) if value > 0.0), math.inf)


def test_the_second_hit_at_the_same_place_and_side_is_certain_at_once() -> None:
    def second(way: float, speed: float) -> float:
        tool = Tool()
        tool.pushed(40.0, 0.1)  # a suspicion that was dropped: the place is remembered
        tool.go(math.copysign(0.05, way - tool.hit.distance[0]), abs(way - tool.hit.distance[0]) / 0.05)
        tool.hit.distance[0] -= 0.05 * speed  # which bounce() goes before it touches
        return first_answer(tool, tool.bounce(5e4, speed))

    assert second(0.0, 0.1) <= 2  # 10 N in each tick
    assert second(0.8 * SAME_PLACE[0], 0.1) <= 2
    assert second(1.5 * SAME_PLACE[0], 0.1) > 10  # another place: when it lets go
    assert second(0.0, -0.1) > 10  # another side
