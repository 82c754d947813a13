"""The response time of an arm, measured by a gentle motion."""

import numpy as np
import pytest

from ur_admittance.calibration.calm_arm import CalmArm
from ur_admittance.calibration.response import AMPLITUDE, measure_response
from ur_admittance.errors import RobotError
from ur_admittance.model import robot_model
from ur_admittance.robots.simulated import Servo, World
from ur_admittance.robots.simulated.simulated_robot import SimulatedRobot


def calm_arm(delay: float, mode: str = "position", name: str = "ur5e", lag_hz: float = 25.0) -> tuple[CalmArm, World]:
    model = robot_model(name)
    world = World(model, servo=Servo(delay=delay, lag_hz=lag_hz))
    robot = SimulatedRobot(world, mode=mode)  # type: ignore[arg-type]
    robot.connect()
    return CalmArm(robot, model, 0.002), world


@pytest.mark.parametrize("delay", [0.0, 0.010, 0.020])
@pytest.mark.parametrize("mode", ["position", "velocity"])
def test_a_gentle_swing_tells_delay_plus_servo_lag(delay: float, mode: str) -> None:
    arm, world = calm_arm(delay, mode)
    home, farthest = world.pose()[1], 0.0
    cycle = arm.cycle

    def watched(*args):  # type: ignore[no-untyped-def]
        nonlocal farthest
        farthest = max(farthest, float(np.linalg.norm(world.pose()[1] - home)))
        return cycle(*args)

    arm.cycle = watched  # type: ignore[method-assign]
    measured = measure_response(arm)
    truth = Servo(delay=delay).response_time
    assert abs(measured.time - truth) < max(0.1 * truth, 0.002)
    assert 0.5 * AMPLITUDE < farthest < 2.0 * AMPLITUDE  # the TCP is a little further out than the flange
    assert np.linalg.norm(world.pose()[1] - home) < 1e-4


def test_a_slow_servo_of_another_arm_is_seen_too() -> None:
    arm, _ = calm_arm(0.006, name="ur20", lag_hz=10.0)
    assert measure_response(arm).time == pytest.approx(Servo(delay=0.006, lag_hz=10.0).response_time, rel=0.1)


def test_an_arm_that_does_not_follow_is_refused() -> None:
    arm, world = calm_arm(0.010)
    world.step = lambda q, qd, period: None  # type: ignore[method-assign]
    with pytest.raises(RobotError, match="times as far as commanded"):
        measure_response(arm)
