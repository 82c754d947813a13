"""The push test with simulated arms and a simulated hand: the whole way from the push to the sentence."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ur_admittance.calibration.calm_arm import CalmArm
from ur_admittance.calibration.push_test import push_test
from ur_admittance.errors import CalibrationError, RobotError
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.robots.simulated import FtSensor, SimulatedRobot, World
from ur_admittance.robots.simulated.practice_arms import pushing_hand, with_fault

TCP = Parameters().changed({"tool.tcp": [0, 0, 0.15, 0, 0, 0]})


def outcome(parameters=TCP, fault="", rotation=None, model="ur5e", q=None, sign=1.0):
    matrix = np.eye(3) if rotation is None else rotation.as_matrix()
    sensor = FtSensor(
        noise_force=0.1,
        noise_torque=0.005,
        bias=(5.0, -12.0, 20.0, 0.3, -0.5, 1.0),
        rotation=tuple(map(tuple, matrix)),
        sign=sign,
    )
    world = World(robot_model(model), sensor=sensor)
    world.reset(q)
    robot = SimulatedRobot(world)
    device = with_fault(robot, fault) if fault else robot
    with device:
        return push_test(CalmArm(device, world.model, 0.002), parameters, *pushing_hand(world))


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("", None),
        ("reaction", "sensor reports the reaction: set sensor.sign to -1"),
        ("swap-xy", "x and y are swapped (force and torque)"),
        ("force-swap-yz", "force y and z are swapped"),
        ("torque-swap-zx", "torque x and z are swapped"),
        ("force-flip-z", "force z has the wrong sign"),
        ("torque-flip-x", "torque x has the wrong sign"),
    ],
)
def test_wrong_channels_of_a_simulated_sensor_are_named(fault, sentence):
    assert outcome(fault=fault).diagnosis.findings == ((sentence,) if sentence else ())


def test_turned_mounting_is_named_and_the_proposed_rotation_fixes_it():
    turned = Rotation.from_euler("z", 90, degrees=True)
    found = outcome(rotation=turned)
    assert found.diagnosis.findings[0].startswith("mounting is rotated by 90 degrees about z")
    assert found.moves[0] != "push +x: the arm would move along +x"
    assert outcome(TCP.changed(found.diagnosis.changes), rotation=turned).diagnosis.good


def test_missing_lever_arm_is_named_in_another_posture_and_on_another_arm():
    q = robot_model("ur20").home + [0.4, 0, 0, 0.5, 0.6, -0.7]
    found = outcome(Parameters(), model="ur20", q=q)
    assert found.diagnosis.findings[0].startswith("lever arm is missing")
    assert np.allclose(found.diagnosis.changes["tool.tcp"][:3], [0, 0, 0.15], atol=0.005)


def test_nobody_pushing_ends_the_test_with_a_sentence(monkeypatch):
    monkeypatch.setattr("ur_admittance.calibration.push_test.PATIENCE", 0.5)
    world = World(robot_model("ur5e"))
    with SimulatedRobot(world) as robot, pytest.raises(CalibrationError, match="push \\+x: no steady 5 N felt"):
        push_test(CalmArm(robot, world.model, 0.002), TCP, lambda action: None)


def test_unknown_fault_is_refused_with_the_known_ones():
    with pytest.raises(RobotError, match="swap-xy"):
        with_fault(SimulatedRobot(World(robot_model("ur5e"))), "swap-xx")
