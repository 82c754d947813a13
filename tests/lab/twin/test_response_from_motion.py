"""The response time of an arm, from its normal operation."""

import numpy as np
import pytest

from ur_admittance.robots.simulated import Servo
from ur_admittance_lab.scenarios.stage import Setup, Stage
from ur_admittance_lab.twin.found.fit_twin import response_from_motion


@pytest.mark.parametrize("delay", [0.0, 0.010, 0.020])
def test_normal_operation_tells_the_same(delay: float) -> None:
    stage = Stage(Setup(), servo=Servo(delay=delay))
    directions = np.array([3.0, 2.0, 4.0, 0.0, 0.0, 0.0])
    stage.world.grab(lambda t: 0.08 * np.sin(directions * t) * min(1.0, t / 2.0))
    start = stage.time
    stage.run(5.0)
    stage.world.let_go()
    part = stage.finish().since(start, start + 5.0)
    measured = response_from_motion(part.command["qd"], part.sample["qd"], stage.period)
    assert measured is not None
    truth = Servo(delay=delay).response_time
    assert abs(measured.time - truth) < max(0.1 * truth, 0.002)


def test_an_arm_at_rest_tells_nothing() -> None:
    assert response_from_motion(np.zeros((2000, 6)), 1e-4 * np.ones((2000, 6)), 0.002) is None


def test_motion_that_the_command_does_not_explain_tells_nothing() -> None:
    rng = np.random.default_rng(0)
    assert response_from_motion(rng.normal(size=(2000, 6)), rng.normal(size=(2000, 6)), 0.002) is None
