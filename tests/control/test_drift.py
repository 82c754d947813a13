"""When the drift of a sensor is worth a warning."""

import numpy as np
import pytest

from ur_admittance.control.zeroing import AGREEING, HISTORY_STEP, DriftMonitor
from ur_admittance.core.records import PARAMS, new


@pytest.mark.parametrize(
    ("level", "warned"),
    [
        ([0.9, 0.0, 0.0, 0.0, 0.0, 0.0], False),
        ([0.0, 0.0, 0.0, 0.09, 0.0, 0.0], False),
        ([1.1, 0.0, 0.0, 0.0, 0.0, 0.0], True),
        ([0.0, 0.0, 0.0, 0.0, 0.11, 0.0], True),
    ],
)
def test_a_newton_or_a_tenth_of_a_newton_metre_alone_is_a_warning(level, warned):
    monitor = DriftMonitor()
    monitor.level = np.array(level)
    assert bool(monitor.warning) == warned


def test_the_rate_is_that_of_the_last_minutes_whenever_they_were():
    """The history has one entry per HISTORY_STEP, also long after the start."""
    monitor, params = DriftMonitor(), new(PARAMS)[0]
    params["sensor_bias"], params["deadband_force"] = [0.5, 0.0, 0.0, 0.0, 0.0, 0.0], 1.0
    monitor.time = 1e4
    half_seconds = round(10 * HISTORY_STEP / 0.5)
    for k in range(half_seconds):  # 0.6 N per minute
        monitor.take(np.array([0.5 + 0.005 * k, 0.0, 0.0, 0.0, 0.0, 0.0]), np.eye(3), params, 0.5, False, False)
    assert len(monitor._history) == pytest.approx(10, abs=2)
    assert monitor.rate_per_minute[0] == pytest.approx(0.6, rel=0.15)


def test_the_zero_follows_only_a_free_tool_that_agrees_with_itself_and_drifts_little():
    def step(level=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0), touched=False, agreeing=AGREEING):
        monitor = DriftMonitor()
        monitor.level, monitor.touched = None if level is None else np.array(level), touched
        monitor._recent.extend([monitor.level] * agreeing)
        return monitor.auto_step(60.0, 0.002)

    assert step() is not None
    assert step(level=None) is None
    assert step(touched=True) is None
    assert step(agreeing=AGREEING - 1) is None
    assert step(level=(50.0, 0.0, 0.0, 0.0, 0.0, 0.0)) is None
