"""The commands `stability` and `measure-response`."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ur_admittance.cli import app
from ur_admittance.errors import ParameterError
from ur_admittance.params import PRESETS

run = CliRunner().invoke


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_has_its_figures(name: str) -> None:
    result = json.loads(run(app, ["stability", "--preset", name, "--delay", "10ms", "--json"]).stdout)
    assert result["loop_delay_s"] > 0.018
    assert result["minimum_damping"] > 100.0
    assert result["stable_there"] == (result["damping"] >= result["minimum_damping"])
    assert result["stable_stiffness"] is None or result["safe_stiffness"] < result["stable_stiffness"]


def test_words_and_units_and_the_map(tmp_path: Path) -> None:
    picture = tmp_path / "map.svg"
    result = run(app, ["stability", "--delay", "0.02", "--stiffness", "1e5", "--figure", str(picture)])
    assert result.exit_code == 0, result.output
    for words in ("delay 20.0, servo 6.4", "stable up to", "kN/m", "on 100 kN/m", "Hz; shaken faster", "at 1 Hz"):
        assert words in result.stdout
    assert picture.stat().st_size > 5000


def test_an_unmeasured_response_is_said_to_be_assumed() -> None:
    assert "typical, not measured" in run(app, ["stability"]).stdout


@pytest.mark.parametrize("arguments", [["--delay", "10x"], ["--delay=-1ms"], ["--stiffness=-5"], ["--axis", "w"]])
def test_nonsense_is_refused(arguments: list[str]) -> None:
    result = run(app, ["stability", *arguments])
    assert isinstance(result.exception, ParameterError)
    assert "must be" in str(result.exception)


def test_measure_response_of_the_simulated_arm() -> None:
    result = run(app, ["measure-response", "--delay", "20ms", "--json"])
    assert json.loads(result.stdout)["response_time"] == pytest.approx(0.0264, rel=0.1)
