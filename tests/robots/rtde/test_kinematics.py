"""Is the arm the one that the model describes? An emulated unit some mm off the drawing, as every real one is."""

import time

import numpy as np
import pytest

from ur_admittance.core.records import SAMPLE, new
from ur_admittance.errors import RobotError
from ur_admittance.model import robot_model
from ur_admittance.robots.rtde import arm_geometry as kinematics
from ur_admittance.robots.rtde import primary_port
from ur_admittance.robots.rtde.arm_geometry import ALLOWED, StandingCheck, geometry, read_posture
from ur_admittance.robots.rtde.rtde_robot import RtdeRobot
from ur_admittance_lab.emulator.emulator_process import EmulatorProcess

UR5E = robot_model("ur5e")


@pytest.fixture(scope="module")
def unit():
    with EmulatorProcess("--calibrated", "3") as emulator:
        yield emulator


@pytest.fixture
def silent(monkeypatch):
    """The robot does not offer its geometry."""
    monkeypatch.setattr(primary_port, "PORT", 1)


def test_the_geometry_that_the_robot_tells_is_used_and_its_tool_pose_is_ours(unit) -> None:
    arm = geometry(unit.host, UR5E)
    assert arm.before.exceeds(ALLOWED)
    assert arm.left.position < 1e-4
    assert arm.left.angle < 1e-4
    with RtdeRobot(unit.host, UR5E) as robot:
        posture = read_posture(unit.host, 3.0)
        assert kinematics.difference(robot.info.model, posture).position < 1e-4
        assert arm.sentence in robot.info.sentences


def test_without_the_robots_geometry_the_difference_is_told_at_connect_and_at_rest(unit, silent, monkeypatch) -> None:
    monkeypatch.setattr(kinematics, "EVERY", 0.05)
    with RtdeRobot(unit.host, UR5E) as robot:
        assert any(": open port" in sentence for sentence in robot.info.sentences)
        sample, end = new(SAMPLE)[0], time.monotonic() + 5.0
        while not robot.doubt and time.monotonic() < end:
            robot.beat.wait()
            robot.read(sample)
        difference = kinematics.difference(UR5E, read_posture(unit.host, 3.0))
        assert f"Our tool pose is {difference} from the robot's (allowed 2.00 mm and 0.50 degrees)" in robot.doubt


@pytest.mark.parametrize("model", ["ur10e", "ur3e", "ur5"])
def test_another_type_of_arm_is_refused_by_its_geometry(unit, model: str) -> None:
    with pytest.raises(RobotError, match=f"geometry is that of a ur5e, but the model is {model}"):
        geometry(unit.host, robot_model(model))


def test_another_type_of_arm_is_refused_by_its_tool_pose_alone(unit, silent) -> None:
    with pytest.raises(RobotError, match=r"tool pose is [\d.]+ mm and [\d.]+ degrees from that of a ur10e"):
        geometry(unit.host, robot_model("ur10e"))


def test_a_tcp_that_was_changed_in_a_run_is_told_with_its_size(unit) -> None:
    posture = read_posture(unit.host, 3.0)
    check = StandingCheck(geometry(unit.host, UR5E))
    assert check.doubt(posture.q, posture.tcp_pose) == ""
    moved = posture.tcp_pose + np.array([0.006, 0.0, 0.008, 0.0, 0.0, 0.0])
    assert "10.00 mm and 0.00 degrees" in check.doubt(posture.q, moved)
