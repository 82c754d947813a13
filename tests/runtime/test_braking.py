"""An arm that brakes by itself: all joints together."""

import numpy as np

from ur_admittance.runtime.braking import slow_down


def test_the_fastest_joint_slows_by_the_step_and_the_direction_stays():
    qd = np.array([0.4, -1.0, 0.2, 0.0, 0.1, -0.3])
    before = qd.copy()
    slow_down(qd, 0.25)
    np.testing.assert_allclose(qd, 0.75 * before, rtol=1e-15)


def test_the_last_step_ends_at_rest_and_rest_stays_rest():
    qd = np.array([0.1, -0.2, 0.0, 0.0, 0.0, 0.0])
    slow_down(qd, 0.25)
    assert not qd.any()
    slow_down(qd, 0.25)
    assert not qd.any()
