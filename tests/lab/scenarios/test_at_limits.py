"""What a person sees when the tool is pushed to a wall of the workspace."""

import numpy as np
import pytest

from ur_admittance.core.records import Mode
from ur_admittance_lab.scenarios import Setup, Stage

ROOM = 0.12  # [m] between tool and wall


@pytest.mark.parametrize(("acceleration", "force"), [(1.0, 15.0), (5.0, 40.0)])
def test_a_tool_pushed_to_a_wall_brakes_without_chatter(acceleration: float, force: float) -> None:
    start = Stage(Setup())
    wall = float(start.position[1]) + ROOM
    start.finish()
    changes = {
        "workspace.min": [-2.0, -2.0, -2.0],
        "workspace.max": [2.0, wall, 2.0],
        "max_linear_acceleration": acceleration,
    }
    stage = Stage(Setup(changes=changes))
    stage.push(1.2, [0.0, force, 0.0, 0.0, 0.0, 0.0])
    stage.run(0.5)
    command = stage.finish().command
    command = command[command["mode"] == Mode.ACTIVE]
    assert wall - 0.005 < command["p_tcp"][:, 1].max() < wall + 1e-4
    felt = np.diff(command["twist"][:, 1]) / stage.period
    felt = felt[np.abs(felt) > 0.05]  # [m/s2] more than the noise of the sensor
    assert np.sum(felt[1:] * felt[:-1] < 0.0) <= 5  # speeds up, brakes, lets go
