"""The twin as a file, and what simulation and stability make of it."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from ur_admittance.cli import app
from ur_admittance.errors import CalibrationError, ParameterError, UrAdmittanceError
from ur_admittance.params import Parameters
from ur_admittance.robots.simulated import World
from ur_admittance_lab.twin import Twin, identify_twin
from ur_admittance_lab.twin.found import Finding

run = CliRunner().invoke


@pytest.fixture(scope="module")
def twin(work: Path) -> Twin:
    return identify_twin([work])[0]


@pytest.fixture
def saved(twin: Twin, tmp_path: Path) -> Path:
    path = tmp_path / "twin.yaml"
    twin.save(path)
    return path


def test_a_twin_survives_its_file(twin: Twin, saved: Path) -> None:
    again = Twin.load(saved)
    assert (again.robot, again.logs) == (twin.robot, twin.logs)
    for name, rows in twin.values.items():
        for row, other in zip(rows, again.values[name], strict=True):
            assert other.value == pytest.approx(row.value, rel=1e-4, abs=1e-6)
            assert other.found == row.found
            assert other.reason == row.reason
    assert again.servo().delay == twin.servo().delay


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda text: text.replace("twin: 1", "twin: 9"), "not a twin of this version"),
        (lambda text: text.replace("delay: {value: 0.", "delay: {value: .nan, was: 0."), "nan where a finite number"),
        (lambda text: text.replace("  delay:", "  dealy:"), "has no delay"),
        (lambda text: text.replace("pose: [", "pose: [1.0, "), "7 numbers where 6 are needed"),
        (lambda text: text + "  - }", "not a YAML file"),
    ],
)
def test_a_damaged_file_is_refused_in_one_sentence(saved: Path, change: object, sentence: str) -> None:
    saved.write_text(change(saved.read_text()))  # type: ignore[operator]
    with pytest.raises(CalibrationError, match=sentence):
        Twin.load(saved)


def test_whole_steps_of_the_simulation_keep_the_lateness_of_the_loop(twin: Twin) -> None:
    odd = replace(twin, values=twin.values | {"delay": (Finding(0.0123),), "sensor_delay": (Finding(0.0016),)})
    servo, sensor = odd.servo(), odd.sensor()
    assert (servo.delay, sensor.delay) == (pytest.approx(0.012), pytest.approx(0.002))
    late = servo.delay + sensor.delay + 1.0 / (2.0 * math.pi * servo.lag_hz)
    assert late == pytest.approx(0.0123 + 0.0016 + odd.value("lag"))
    World(odd.model, odd.tool(), None, servo, sensor).step(odd.model.home, None, 0.002)


def test_friction_within_its_uncertainty_is_none(twin: Twin) -> None:
    rows = tuple(Finding(value, 0.1) for value in (0.15, 0.5, -0.3, 0.0, 0.1, 1.0))
    friction = replace(twin, values=twin.values | {"friction": rows}).servo().friction
    assert friction == (0.0, 0.5, 0.0, 0.0, 0.0, 1.0)


def test_arm_at_the_tool_is_that_of_the_simulated_one(twin: Twin) -> None:
    world = World(twin.model, twin.tool(), None, twin.servo(), twin.sensor())
    world.reset(twin.model.home)
    for axis, expected in enumerate(world.tcp_stiffness()):
        arm = twin.arm(np.eye(3)[axis], twin.model.home, sliding=True)
        assert arm.stiffness == pytest.approx(expected, rel=1e-3)
        assert 3.0 < arm.mass < 12.0
        assert 0.5 < arm.damping_ratio < 1.3
        assert twin.arm(np.eye(3)[axis], twin.model.home).stiffness >= arm.stiffness


def test_a_late_sensor_makes_the_loop_late(twin: Twin) -> None:
    late = replace(twin, values=twin.values | {"sensor_delay": (Finding(0.005),)})
    gained = late.loop(Parameters()).loop_delay - twin.loop(Parameters()).loop_delay
    assert gained == pytest.approx(0.005 - max(twin.value("sensor_delay"), 0.0))


def test_identify_writes_twin_and_figure_which_stability_and_sim_take(work: Path, tmp_path: Path) -> None:
    out, picture = tmp_path / "arm.yaml", tmp_path / "arm.svg"
    result = run(app, ["identify", str(work), "--out", str(out), "--figure", str(picture)])
    assert result.exit_code == 0, result.output
    assert "± " in result.stdout
    assert "assumed" in result.stdout
    assert "stiffness" in result.stdout
    assert picture.stat().st_size > 20000
    shown = json.loads(run(app, ["stability", "--twin", str(out), "--axis", "z", "--json"]).stdout)
    assert shown["delay_s"] == pytest.approx(0.0105, abs=2e-4)  # 10 ms, and half a step of the sensor
    assert shown["arm_stiffness"] != 31e3
    assert not shown["response_assumed"]
    pushed = json.loads(run(app, ["sim", "push", "--twin", str(out), "--json"]).stdout)
    assert pushed["robot"] == "ur5e"
    assert pushed["stops"] == []


def test_stability_says_that_it_leaves_friction_out(twin: Twin, tmp_path: Path) -> None:
    for friction, said in ((1.0, True), (0.0, False)):
        path = tmp_path / f"{friction}.yaml"
        replace(twin, values=twin.values | {"friction": (Finding(friction, 0.1),) * 6}).save(path)
        assert ("joint friction" in run(app, ["stability", "--twin", str(path)]).stdout) == said


def test_json_has_every_number_with_its_deviation_or_the_reason(work: Path, tmp_path: Path) -> None:
    result = json.loads(run(app, ["identify", str(work), "--out", str(tmp_path / "a.yaml"), "--json"]).stdout)
    assert result["delay"]["deviation"] < 1e-3
    assert all(("deviation" in row) != ("assumed" in row) for row in result["stiffness"])


def refusal(arguments: list[str]) -> str:
    """The sentence of a command that is refused."""
    result = run(app, arguments)
    assert isinstance(result.exception, UrAdmittanceError), result.output
    return str(result.exception)


def test_refusals_name_the_file_and_the_reason(work: Path, rest: Path, saved: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.mcap"
    text.write_text("hello")
    assert "no such file" in refusal(["identify", str(tmp_path / "none.mcap")])
    assert "not a recording" in refusal(["identify", str(text)])
    assert "determine nothing" in refusal(["identify", str(rest), "--out", str(tmp_path / "r.yaml")])
    assert not (tmp_path / "r.yaml").exists()
    assert "does not exist" in refusal(["identify", str(work), "--out", str(tmp_path / "none" / "t.yaml")])
    assert "leave --robot out" in refusal(["sim", "push", "--twin", str(saved), "--robot", "ur10e"])
    assert "leave out" in refusal(["stability", "--twin", str(saved), "--delay", "10ms"])
    assert "cannot be read" in refusal(["stability", "--twin", str(tmp_path / "none.yaml")])


def test_a_twin_is_never_overwritten(work: Path, saved: Path) -> None:
    before = saved.read_bytes()
    done = run(app, ["identify", str(work), "--out", str(saved)])
    assert isinstance(done.exception, ParameterError)
    assert "exists already" in str(done.exception)
    assert saved.read_bytes() == before


def test_measure_response_records_what_identify_reads(tmp_path: Path) -> None:
    log = tmp_path / "swing.mcap"
    assert run(app, ["measure-response", "--delay", "14ms", "--log", str(log)]).exit_code == 0
    values = identify_twin([log])[0].values
    assert values["delay"][0].value == pytest.approx(0.014, abs=3e-4)
    assert values["lag"][0].reason == "the motion is too slow to tell lag from delay"
    assert not values["stiffness"][0].found
