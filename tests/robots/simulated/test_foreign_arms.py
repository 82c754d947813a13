"""Arms that are not ours: other people's models with MuJoCo's own contacts, servos and sensor, led by our controller.

Tolerances were written before the first run; what does not meet them yet is printed by `python -m benchmarks.foreign`.
"""

import mujoco
import numpy as np
import pytest

from benchmarks import foreign
from ur_admittance.model import robot_model

EVERY = [(robot, delay) for robot in foreign.ARMS for delay in foreign.DELAYS]
NAMES = [f"{robot}, {1e3 * delay * foreign.PERIOD:.0f} ms" for robot, delay in EVERY]


@pytest.mark.parametrize("robot", foreign.ARMS)
def test_their_flange_is_where_ours_is(robot):
    """Within 2 mm and in the same axes, all joints anywhere: else the controller leads another arm than it knows."""
    model, known = foreign.plant(robot, foreign.SERVO), robot_model(robot)
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    for _ in range(20):
        data.qpos[:] = q = rng.uniform(-3.0, 3.0, 6)
        mujoco.mj_kinematics(model, data)
        R, p = known.forward(q)
        np.testing.assert_allclose(data.site("flange").xpos, p, atol=2e-3)
        np.testing.assert_allclose(data.site("flange").xmat.reshape(3, 3), R, atol=1e-3)


@pytest.mark.parametrize(("robot", "delay"), EVERY, ids=NAMES)
@pytest.mark.parametrize("task", [foreign.push, foreign.press, foreign.hand], ids=lambda task: task.__name__)
def test_a_foreign_arm_feels_as_ours_does(task, robot, delay):
    missed = [felt for felt in task(robot, delay) if not felt.met]
    assert not missed
