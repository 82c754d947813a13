"""The commands as a user types them, against the simulated arm."""

import sys

import pytest
from typer.testing import CliRunner

from ur_admittance.cli import app
from ur_admittance.errors import CalibrationError, RobotError
from ur_admittance.params import load_parameters
from ur_admittance.robots.connect import open_robot


def typed(*words):
    result = CliRunner().invoke(app, list(words), catch_exceptions=True)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("calibration")
    return folder, typed("calibrate", "--seed", "4", "--poses", "8", "--out", str(folder / "calibration.yaml"))


def test_calibrate_prints_a_report_and_writes_file_and_figure(calibrated):
    folder, result = calibrated
    assert result.exit_code == 0
    assert "pose 8 of 8" in result.output
    assert "tool mass" in result.output
    assert "truth in this simulation" in result.output
    assert (folder / "calibration.png").exists()
    assert load_parameters(folder / "calibration.yaml").tool.mass == pytest.approx(1.5, rel=0.005)


def test_check_then_drift_then_zero_then_check(calibrated):
    folder, _ = calibrated
    file = str(folder / "calibration.yaml")
    good = typed("calibrate", "check", file, "--seed", "4")
    assert good.exit_code == 0
    assert "good: at most 0.0" in good.output
    p = load_parameters(file)
    old = f"{p.sensor.bias[1]:.8f}"
    text = (folder / "calibration.yaml").read_text()
    drifted = folder / "drifted.yaml"
    drifted.write_text(text.replace(old, f"{p.sensor.bias[1] + 2:.8f}"))
    assert "bias changed by" in typed("calibrate", "zero", str(drifted), "--seed", "4").output
    assert load_parameters(drifted).sensor.bias == pytest.approx(p.sensor.bias, abs=0.02)
    assert drifted.read_text().splitlines()[0] == text.splitlines()[0]


def test_zero_refuses_what_is_no_drift(calibrated):
    folder, _ = calibrated
    with pytest.raises(CalibrationError, match=r"zeroing refused: .* more than drift"):
        typed("calibrate", "zero", str(folder / "calibration.yaml"), "--seed", "5")


def test_dry_run_lists_the_poses_and_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = typed("calibrate", "--dry-run", "--poses", "5", "--model", "ur3e")
    assert result.exit_code == 0
    assert "excitation" in result.output
    assert list(tmp_path.iterdir()) == []


def test_three_poses_are_refused_before_anything_moves(tmp_path):
    with pytest.raises(CalibrationError, match="at least 6"):
        typed("calibrate", "--poses", "3", "--out", str(tmp_path / "no.yaml"))
    assert list(tmp_path.iterdir()) == []


def test_check_frames_names_a_fault_and_exits_with_1():
    right = typed("check-frames")
    assert right.exit_code == 0
    assert "are right" in right.output
    wrong = typed("check-frames", "--fault", "reaction")
    assert wrong.exit_code == 1
    assert "set sensor.sign to -1" in wrong.output


def test_robots_by_name_are_refused_with_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "rclpy", None)  # as without ROS 2
    with pytest.raises(RobotError, match="needs ROS 2"):
        open_robot("ros")
    with pytest.raises(RobotError, match="must be sim, ros, or the host name"):
        open_robot("my robot")
    with pytest.raises(RobotError, match="simulation only"):
        typed("check-frames", "--robot", "192.0.2.1", "--fault", "reaction")
