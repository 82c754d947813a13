"""What all this is for: the K = 0 arm stays where it is after a calibration, and sinks without one."""

import numpy as np
import pytest

from ur_admittance.calibration import session
from ur_admittance.calibration.calm_arm import CalmArm
from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import Mode
from ur_admittance.model import robot_model
from ur_admittance.model.frames import rpy_from_rotation
from ur_admittance.params import Parameters
from ur_admittance.robots.simulated import SimulatedRobot
from ur_admittance.robots.simulated.practice_arms import truth, unknown_tool

from .conftest import SWEEP

TEN_MINUTES = 600.0


@pytest.fixture(scope="module")
def calibrated():
    """An arm with a tool, mounting, bias and tilt that nobody knew, and the parameters that the procedure has found."""
    parameters = Parameters().changed({"tool.tcp": [0, 0, 0.15, 0, 0, 0]})
    world = unknown_tool(robot_model("ur10e"), 7)
    with SimulatedRobot(world) as robot:
        arm = CalmArm(robot, world.model, 0.002)
        arm.speed[:] = 1.0
        found = session.calibrate(arm, parameters)
    return world, found.applied_to(parameters)


def drift(world, parameters, q, seconds, rate, accept_load=False):
    """Largest distance [m] of the TCP from where it was, K = 0 and active, nothing touching it."""
    world.reset(q)
    parameters = parameters.changed({"control_rate": rate})
    robot = SimulatedRobot(world, period=1.0 / rate)
    controller = AdmittanceController(world.model, parameters)
    controller.configure()
    robot.connect()
    start, farthest = None, 0.0
    for k in range(round(seconds * rate)):
        robot.read(controller.sample)
        if k == 10:
            controller.activate(accept_load=accept_load)
        controller.update()
        robot.write(controller.command)
        if k % 50 == 20:
            start = world.pose()[1] if start is None else start
            farthest = max(farthest, float(np.linalg.norm(world.pose()[1] - start)))
    assert controller.mode == Mode.ACTIVE, controller.reason
    return farthest


def orientations(world, count):
    rng = np.random.default_rng(11)
    offsets = rng.uniform(-1, 1, (count, 3)) * [1.3, 1.3, 3.0]
    return [world.model.home + np.concatenate([np.zeros(3), x]) for x in offsets]


def test_calibrated_arm_drifts_less_than_a_millimetre_in_ten_minutes(calibrated):
    world, parameters = calibrated
    rate = 500.0 if SWEEP else 125.0
    for q in orientations(world, SWEEP or 1):
        assert drift(world, parameters, q, TEN_MINUTES, rate) < 1e-3


def test_calibrated_arm_stays_in_any_orientation(calibrated):
    world, parameters = calibrated
    for q in orientations(world, 8):
        assert drift(world, parameters, q, 4.0, 250.0) < 1e-3


def test_without_calibration_the_arm_visibly_sinks(calibrated):
    """Even with the bias known: the tool's weight alone pulls it down at (15 N - 1.5 N) / 64 Ns/m = 0.2 m/s."""
    world, _ = calibrated
    true = truth(world)
    R = np.array(world.sensor.rotation)
    unknown_weight = Parameters().changed(
        {
            "tool.tcp": [0, 0, 0.15, 0, 0, 0],
            "sensor.bias": true["sensor.bias"],
            "sensor.rotation": rpy_from_rotation(R).tolist(),
        }
    )
    world.reset()
    height = world.pose()[1][2]
    assert drift(world, unknown_weight, world.model.home, 1.5, 250.0, accept_load=True) > 0.1
    assert world.pose()[1][2] < height - 0.1
