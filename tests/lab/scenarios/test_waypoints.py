"""Where a hand leads the tool: through points, at rest at each."""

import numpy as np
import pytest

from ur_admittance.errors import SimulationError
from ur_admittance_lab.scenarios.stage import waypoints


def test_waypoints_start_and_end_at_rest_and_pass_through() -> None:
    path = waypoints([0.0, 1.0, 3.0], [[0] * 6, [0.1] * 6, [-0.1] * 6])
    np.testing.assert_allclose(path(-1.0), 0.0)
    np.testing.assert_allclose(path(0.5), 0.05)
    np.testing.assert_allclose(path(1.0), 0.1)
    np.testing.assert_allclose(path(9.0), -0.1)
    for t in (0.0, 1.0, 3.0):
        slope = (np.asarray(path(t + 1e-5)) - np.asarray(path(t - 1e-5))) / 2e-5
        np.testing.assert_allclose(slope, 0.0, atol=1e-6)


def test_waypoints_that_go_back_in_time_are_refused() -> None:
    with pytest.raises(SimulationError, match="rising times"):
        waypoints([0.0, 0.0], [[0] * 6, [1] * 6])
