"""The ablation switches off what it says, and what is switched off is missed."""

import ast
import json
from pathlib import Path

import pytest

from benchmarks.ablation.__main__ import EPISODES, FILE, NOTHING, ROOT, compared, in_child
from benchmarks.ablation.switch import MECHANISMS, SOURCE, Mechanism
from ur_admittance_lab.campaign.families import FAMILIES

WALL = "tests/core/test_limits.py::test_the_tool_stops_at_each_wall_inside_the_acceleration_limit"


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_is_found_in_the_source(name: str) -> None:
    mechanism = MECHANISMS[name]
    files = mechanism.files()
    assert files
    for file, text in files.items():
        assert ast.parse(text)
        assert text != (SOURCE / file).read_text(encoding="utf-8")
    assert {place for place in mechanism.where if not place.startswith("hand ")} <= set(FAMILIES)
    for test in mechanism.tests:
        file, _, function = test.partition("::")
        assert f"def {function.partition('[')[0]}(" in (ROOT / file).read_text(encoding="utf-8")


def test_a_text_that_has_changed_is_refused() -> None:
    with pytest.raises(LookupError, match=r"core\.tick\.report"):
        Mechanism("", [], edits={"tick.report": [["no such line", ""]]}).files()
    with pytest.raises(LookupError, match=r"core\.tick\.NO_SUCH_NAME"):
        Mechanism("", [], constants={"tick.NO_SUCH_NAME": 1.0}).files()


@pytest.mark.slow
@pytest.mark.timeout(600)  # a library of its own is made, behind everything else
def test_without_its_walls_the_tool_leaves_the_box() -> None:
    """The short form: with everything on nothing fails, without the rows of the walls the box does."""
    base = in_child(NOTHING, ["limits"], EPISODES, {}, [])["places"]
    assert base["limits"]["failures"] == {}
    row = compared(in_child("rows of walls", ["limits"], EPISODES, {}, [WALL]), base)
    assert row["tests"]
    assert row["more"]["limits: box"] > 0
    assert 0 < row["different"] <= row["cases"] == EPISODES


def test_every_measured_mechanism_exists_and_a_reason_stands_only_where_no_failure_returned() -> None:
    """One that was not measured yet makes the evidence older than the source, and its row on the page says so."""
    rows = json.loads(Path(FILE).read_text())["rows"]
    assert rows.keys() <= MECHANISMS.keys()
    assert not {name for name, row in rows.items() if row["more"] and MECHANISMS[name].kept}
