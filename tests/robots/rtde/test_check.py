"""ur-admittance check: what it finds on a good robot, and what it says about a bad one."""

import re

import pytest
from typer.testing import CliRunner

from ur_admittance.errors import RobotError
from ur_admittance.model import robot_model
from ur_admittance.robots.rtde import doctor
from ur_admittance.robots.rtde.doctor import examine
from ur_admittance.robots.rtde.rtde_checks import check_ready
from ur_admittance.robots.rtde.rtde_robot import RtdeRobot
from ur_admittance.runtime.telemetry import TelemetryWriter
from ur_admittance_lab.emulator.emulator_process import EmulatorProcess


@pytest.fixture(scope="module")
def emulator():
    with EmulatorProcess("--noise", "0.3") as emulator:
        yield emulator


@pytest.fixture
def robot(emulator):
    emulator.tell("reset")
    return emulator


def texts(findings, level: str) -> str:
    return " ".join(finding.text for finding in findings if finding.level == level)


def test_a_good_robot_has_nothing_to_fix(robot) -> None:
    from ur_admittance.cli import app

    result = CliRunner().invoke(app, ["check", "--robot", robot.host, "--seconds", "1"])
    assert "states at 500 Hz" in result.output
    assert "software 5.12.2" in result.output
    assert "noise 0.3" in result.output
    assert "payload is 1 kg" in result.output
    assert result.output.endswith("ready.\n")
    assert result.exit_code == 0


def test_a_push_at_rest_looks_like_a_wrong_payload(robot) -> None:
    robot.tell("push 0 0 -9.81 0 0 0")
    findings = examine(robot.host, "ur5e", 1.0)
    assert "1 kg too light" in texts(findings, "bad")


@pytest.mark.parametrize(
    ("orders", "sentence"),
    [
        (["protective stop"], "protective stop: look for the cause"),
        (["emergency stop"], "emergency stop is pressed"),
        (["safeguard stop"], "safeguard stop is active"),
        (["emergency stop", "emergency release"], "robot mode POWER_OFF"),
        (["local control"], "in local control: switch it to remote control"),
    ],
)
def test_what_is_in_the_way_is_said_in_plain_words(robot, orders: list[str], sentence: str) -> None:
    for order in orders:
        robot.tell(order)
    with pytest.raises(RobotError, match=sentence):
        check_ready(robot.host, robot_model("ur5e"), 3.0, power_on=False, take_over=False)
    assert sentence in texts(examine(robot.host, "ur5e", 0.5), "bad")


def test_power_comes_on_only_when_allowed(robot) -> None:
    robot.tell("emergency stop")
    robot.tell("emergency release")
    assert check_ready(robot.host, robot_model("ur5e"), 3.0, power_on=True, take_over=False).rate == 500.0
    assert robot.dashboard("robotmode") == "Robotmode: RUNNING"


def test_another_type_of_arm_is_noticed(robot) -> None:
    with pytest.raises(RobotError, match="the robot is a UR5, but the model is ur10e"):
        check_ready(robot.host, robot_model("ur10e"), 3.0, power_on=False, take_over=False)


def test_nobody_there_is_one_sentence() -> None:
    findings = examine("127.0.0.254", "ur5e", 0.5)
    assert "no robot answers on 127.0.0.254:30004" in texts(findings, "bad")


@pytest.mark.parametrize(
    ("options", "model", "sentence"),
    [
        ([], "ur5", "software 5.12.2 is that of an e-Series arm, but ur5 is a CB3 type: choose ur5e"),
        (["--model", "ur5", "--version", "3.15.8"], "ur5e", "3.15.8 is that of a CB3 arm, but ur5e .*: choose ur5"),
    ],
)
def test_an_arm_of_the_other_generation_is_refused(options: list[str], model: str, sentence: str) -> None:
    with EmulatorProcess(*options) as emulator:
        with pytest.raises(RobotError, match=sentence):
            RtdeRobot(emulator.host, robot_model(model)).connect()
        assert re.search(sentence, texts(examine(emulator.host, model, 0.5), "bad"))


def test_what_run_needs_of_this_computer_is_examined(robot, tmp_path) -> None:
    from ur_admittance.cli import app

    log = tmp_path / "run.mcap"
    arguments = ["check", "--robot", robot.host, "--seconds", "0.5", "--name", "busy", "--log", str(log)]
    with TelemetryWriter("busy", model="ur5e", rate=500.0):
        log.touch()
        result = CliRunner().invoke(app, arguments)
    assert "BAD   a controller named 'busy' is already running" in result.output
    assert f"BAD   recording to {log} exists already" in result.output
    assert "real-time: SCHED_FIFO 50" in result.output
    assert "2 things to fix first." in result.output
    assert result.exit_code == 2
    log.unlink()
    assert CliRunner().invoke(app, arguments).exit_code == 0


def test_a_missing_client_library_is_said_before_run_needs_it(robot, monkeypatch) -> None:
    monkeypatch.setattr(doctor, "find_spec", lambda name: None)
    assert "ur-rtde is missing" in texts(examine(robot.host, "ur5e", 0.5, client="ur_rtde"), "bad")
    assert "ur-rtde" not in texts(examine(robot.host, "ur5e", 0.5), "bad")
