"""The demonstrations show what the page says: each runs again and is compared with the stored numbers."""

import json
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
STORED = json.loads((DOCS / "measured" / "mistakes.json").read_text())


@pytest.fixture(scope="module")
def demonstrations():
    sys.path.insert(0, str(DOCS))
    try:
        from mistakes.__main__ import DEMONSTRATIONS

        yield DEMONSTRATIONS
    finally:
        sys.path.remove(str(DOCS))


@pytest.mark.parametrize("name", STORED)
def test_demonstration_gives_the_numbers_of_the_page(name, demonstrations):
    numbers, figure = demonstrations[name]()
    assert figure.axes
    assert numbers == pytest.approx(STORED[name], rel=0.05, abs=0.02)


def test_there_is_one_demonstration_per_mistake(demonstrations):
    page = (DOCS / "explanation" / "classic_mistakes.md").read_text()
    assert page.count("\n## ") == len(demonstrations) == len(STORED) == 13


def test_our_side_of_every_demonstration_is_right():
    s = STORED
    assert s["wrench_about_base"]["ours_turned_deg"] < 1e-3
    assert abs(s["spring_pushes_away"]["ours_after_2s_mm"]) < 1.0
    assert s["sideways"]["ours_mm_per_s"] < 1e-3
    assert s["never_starts"]["speed_mm_per_s_3_99"] == 0.0
    assert s["never_starts"]["ours_mm_per_s_3_99"] == pytest.approx(1e3 * 3.99 / 64.0, rel=0.01)
    assert s["hard_deadband"]["ours_m_per_s2"] < 1.2  # 8.5 N - 1.5 N on 8 kg
    assert s["frozen_spring"]["exact_error_mm"] < 1e-9
    assert s["bent_path"]["ours_beside_mm"] < 0.2
    assert s["sinking_load"]["ours_mm"] < 1.0
    assert s["dead_time"]["ours_bounce_N"] < 0.4
