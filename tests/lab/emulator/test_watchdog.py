"""A program that ends when data stay away, and only then."""

import pytest

from ur_admittance_lab.emulator.running_program import Watchdog


@pytest.mark.parametrize("period", [0.001, 0.002, 0.008, 0.01])
def test_a_watchdog_expires_after_its_limit_and_not_before(period):
    watchdog = Watchdog(period, limit=0.1)
    allowed = round(0.1 / period)
    for _ in range(3):
        assert not any(watchdog.tick() for _ in range(allowed))
        watchdog.kick()
    assert [watchdog.tick() for _ in range(allowed + 1)] == [False] * allowed + [True]
    assert watchdog.expired
