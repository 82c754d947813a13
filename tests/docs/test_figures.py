"""Every figure can be made again by its script."""

import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
sys.path.insert(0, str(DOCS))

from figures import arm, diagrams, look, runs  # noqa: E402

FIGURES = {**diagrams.DIAGRAMS, **arm.PICTURES, **runs.RUNS}


@pytest.mark.parametrize("name", FIGURES)
def test_figure_is_made_as_vector_graphics(name, tmp_path):
    path = look.save(FIGURES[name](), name, tmp_path)
    assert path.read_text().count("<path") > 10


def test_animation_shows_the_free_arm_staying_and_the_spring_returning(tmp_path):
    free, sprung = (arm.pushed(stiffness)[0] for stiffness in (0.0, 150.0))
    height = [[arm.joints(q)[-1][2] for q in (run[0], run[-1])] for run in (free, sprung)]
    assert height[0][1] - height[0][0] > 0.1
    assert abs(height[1][1] - height[1][0]) < 0.005
    assert "<animate" in arm.animation(tmp_path / "push.svg").read_text()
