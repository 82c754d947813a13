"""An arm that brakes by itself: all joints together, and only when commands stay away."""

import numpy as np
import pytest

from ur_admittance.runtime.braking import Watchdog, slow_down


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


@pytest.mark.parametrize("period", [0.001, 0.002, 0.008, 0.01])
def test_a_watchdog_expires_after_its_limit_and_not_before(period):
    watchdog = Watchdog(period, limit=0.1)
    allowed = round(0.1 / period)
    for _ in range(3):
        assert not any(watchdog.tick() for _ in range(allowed))
        watchdog.kick()
    assert [watchdog.tick() for _ in range(allowed + 1)] == [False] * allowed + [True]
    assert watchdog.expired
