"""Deadlines lie on a grid, whatever happens between them."""

import time

import numpy as np
import pytest

from ur_admittance.errors import UrAdmittanceError
from ur_admittance.runtime.clock import LockstepClock, RealTimeClock, _timer_slack


@pytest.fixture
def clock():
    clock = RealTimeClock(200.0, spin_ns=0)
    clock.start()
    yield clock
    clock.stop()


def test_deadlines_stay_on_the_grid_although_each_cycle_takes_time(clock):
    origin = clock.deadline_ns
    for _ in range(20):
        clock.wait()
        assert clock.woke_ns >= clock.deadline_ns
        assert (clock.deadline_ns - origin) % clock.period_ns == 0
        time.sleep(0.001)
    if clock.missed == 0:
        assert clock.deadline_ns - origin == 20 * clock.period_ns


@pytest.mark.realtime
def test_after_a_stall_missed_deadlines_are_skipped_and_counted_not_caught_up(clock):
    clock.wait()
    before = clock.deadline_ns
    time.sleep(0.052)
    clock.wait()
    skipped = clock.skipped
    assert skipped >= 9
    assert clock.missed >= skipped
    assert clock.deadline_ns == before + (1 + skipped) * clock.period_ns
    woke = clock.woke_ns
    for _ in range(3):
        clock.wait()
        assert clock.woke_ns - woke > 0.4 * clock.period_ns, "no burst of catch-up cycles"
        woke = clock.woke_ns


@pytest.mark.parametrize(
    ("late", "skipped"), [(-0.3, 0), (0.0, 0), (0.49, 0), (0.51, 1), (1.2, 1), (1.7, 2), (7.4, 7), (7.6, 8)]
)
def test_a_late_cycle_is_served_within_half_a_period_else_the_next_deadline_is_taken(monkeypatch, late, skipped):
    """The arithmetic with a clock of our own: `late` periods after the deadline."""
    clock = RealTimeClock(500.0, spin_ns=0)
    clock.deadline_ns = 1_000_000_000
    now = [clock.deadline_ns + clock.period_ns + int(late * clock.period_ns)]
    monkeypatch.setattr(time, "monotonic_ns", lambda: now[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: now.__setitem__(0, now[0] + round(seconds * 1e9)))
    assert clock.wait()
    assert clock.skipped == skipped
    assert clock.missed == skipped
    assert clock.deadline_ns == 1_000_000_000 + (1 + skipped) * clock.period_ns
    assert clock.woke_ns >= clock.deadline_ns


def test_polling_before_the_deadline_is_measured_and_bounded():
    clock = RealTimeClock(500.0)
    clock.start()
    clock.stop()
    assert 0 <= clock.spin_ns <= 100_000


def test_the_timer_slack_of_the_thread_is_given_back():
    before = _timer_slack(50_000)
    try:
        clock = RealTimeClock(500.0, spin_ns=0)
        clock.start()
        assert _timer_slack(1) == 1
        clock.stop()
        assert _timer_slack(50_000) == 50_000
    finally:
        _timer_slack(before)


def test_wall_clock_times_of_cycles_are_one_period_apart_on_average(clock):
    times = []
    for _ in range(10):
        clock.wait()
        times.append(clock.time_ns())
    assert abs(times[0] - time.time_ns()) < 5e9
    assert np.all(np.diff(times) > 0)


def test_lock_step_time_advances_by_exactly_one_period_without_waiting():
    clock = LockstepClock(500.0)
    clock.start()
    begin = time.monotonic()
    for _ in range(5000):
        assert clock.wait()
    assert time.monotonic() - begin < 5.0  # of 10 s
    assert clock.time_ns() == 5000 * 2_000_000


@pytest.mark.parametrize("rate", [0.0, -500.0, float("nan"), float("inf"), 1e6])
def test_an_impossible_rate_is_refused_with_the_allowed_range(rate):
    with pytest.raises(UrAdmittanceError, match="must be between 1 and 5000 Hz"):
        RealTimeClock(rate)
