"""Tuning by feel: does it find what somebody likes, inside what is safe, and does it keep how it came about?"""

import math

import numpy as np
import pytest

import ur_admittance as ua
from ur_admittance.analysis.by_feel import FIRMEST, ByFeel, changes_to, scaled
from ur_admittance.analysis.stability import margin
from ur_admittance.errors import ParameterError
from ur_admittance.params.yaml import load_parameters, save_parameters

START = ua.preset("hand_guiding")


def octaves(parameters):
    """From the start: mass and damping, about x."""
    law, before = parameters.admittance, START.admittance
    damping = law.effective_damping[0] / before.effective_damping[0]
    return np.log2([law.mass[0] / before.mass[0], damping])


def guided(likes, rounds=10):
    """The search, answered by somebody who never errs; likes(octaves)."""
    search = ByFeel(START, rounds)
    while not search.done:
        a, b = likes(octaves(search.a)), likes(octaves(search.b))
        search.choose("same" if abs(a - b) < 0.02 else "a" if a > b else "b")
    return search


@pytest.mark.parametrize("ideal", [(0.0, 0.0), (1.5, 0.5), (-0.7, 1.2), (0.9, 1.7), (-0.2, -0.3)])
def test_it_ends_near_what_somebody_likes_who_answers_right(ideal):
    """Liking here is a cone, and mass counts as much as damping: not the shape that the search assumes."""
    search = guided(lambda x: -math.dist(x, ideal))
    before = math.hypot(*ideal)
    assert math.dist(octaves(search.best), ideal) < max(0.55 * before, 0.75)
    assert len(search.history) == 10


def test_what_somebody_likes_outside_of_what_is_safe_is_not_offered():
    """Somebody wants ever less damping: what is offered stays quiet in a hand by the stability model."""
    search = guided(lambda x: -float(x[1]))
    for each in [search.best, *(setting for turn in search.history for setting in (turn.a, turn.b))]:
        found = margin(each)
        assert found.can_be_held
        assert found.stable_stiffness >= FIRMEST
    lighter = scaled(search.best, 1.0, 0.5)
    assert margin(lighter).stable_stiffness < FIRMEST, "it went as far as it could"


def test_turning_changes_as_moving_does_and_nothing_else_changes():
    after = scaled(START, 2.0, 0.5)
    law, before = after.admittance, START.admittance
    assert np.array(law.mass) / before.mass == pytest.approx(2.0, rel=0.01)
    assert np.array(law.effective_damping) / before.effective_damping == pytest.approx(0.5, rel=0.01)
    flat, known = after.flat(), START.flat()
    assert {name for name in flat if flat[name] != known[name]} == {"admittance.mass", "admittance.damping_ratio"}
    given = START.changed({"admittance.damping": [40.0] * 3 + [4.0] * 3})
    assert scaled(given, 1.0, 2.0).admittance.effective_damping == pytest.approx([80.0] * 3 + [8.0] * 3, rel=0.01)
    assert given.changed(changes_to(after)).admittance.effective_damping == after.admittance.effective_damping


def test_the_same_answers_ask_the_same_questions_and_an_indifferent_person_keeps_the_start():
    first, second = (guided(lambda x: 0.0) for _ in range(2))
    assert [str(turn) for turn in first.history] == [str(turn) for turn in second.history]
    assert octaves(first.best) == pytest.approx([0.0, 0.0], abs=0.55)


def test_the_file_keeps_how_it_came_about_and_loads(tmp_path):
    search = guided(lambda x: -math.dist(x, (1.0, 1.0)), rounds=3)
    path = tmp_path / "mine.yaml"
    save_parameters(search.best, path, story=search.story())
    text = path.read_text()
    assert text.startswith("# Tuned by feel, from 5 kg and 50.6 Ns/m to ")
    assert [line for line in text.splitlines() if line.startswith("#   ")] == [
        f"#   {i}. {turn}" for i, turn in enumerate(search.history, 1)
    ]
    assert load_parameters(path) == search.best


def test_an_arm_that_nothing_makes_quiet_and_an_unknown_answer_are_refused():
    late = START.changed({"robot.response_time": 0.2, "admittance.mass": [1.0] * 3 + [0.1] * 3})
    with pytest.raises(ParameterError, match="the arm would shake in a hand with nearly every mass and damping"):
        ByFeel(late)
    with pytest.raises(ParameterError, match="answer = 'left': must be one of a, b, same"):
        ByFeel(START).choose("left")
