"""Which controller takes the commands: the one asked for, the active one that fits, or the driver's usual one."""

import pytest

pytest.importorskip("rclpy")

from ur_admittance.errors import RobotError
from ur_admittance.robots.ros.command_path import PLAIN, SCALED, VELOCITY, Controller, choose

TYPE = "joint_trajectory_controller/JointTrajectoryController"


def loaded(**states):
    return [Controller(name, TYPE if "trajectory" in name else "", state) for name, state in states.items()]


def test_the_active_one_is_taken_before_the_usual_one():
    assert choose("trajectory", loaded(**{SCALED: "inactive", PLAIN: "active"})).name == PLAIN
    assert choose("trajectory", loaded(**{SCALED: "active", PLAIN: "inactive"})).name == SCALED


def test_without_an_active_one_it_is_the_drivers_usual_one():
    assert choose("trajectory", loaded(**{PLAIN: "inactive", SCALED: "inactive"})).name == SCALED
    assert choose("trajectory", loaded(**{PLAIN: "inactive"})).name == PLAIN  # since driver 6.0


def test_a_controller_of_another_name_fits_by_its_type():
    assert choose("trajectory", loaded(my_trajectory="active", **{SCALED: "inactive"})).name == "my_trajectory"


def test_the_one_that_was_asked_for_is_taken_or_missed_by_name():
    names = loaded(**{SCALED: "active", PLAIN: "inactive"})
    assert choose("trajectory", names, PLAIN).name == PLAIN
    with pytest.raises(RobotError, match="controller = 'mine' is not loaded; the controllers are joint_traj"):
        choose("trajectory", names, "mine")
    with pytest.raises(RobotError, match=f"output = velocity: no controller for it is loaded; load {VELOCITY}"):
        choose("velocity", names)
