"""Wrench signals are pure functions of time."""

import numpy as np
import pytest

from ur_admittance.errors import SimulationError
from ur_admittance_lab.driver import wrench_signals as signals

W = np.array([1.0, -2.0, 3.0, 0.1, -0.2, 0.3])


def test_step_is_on_from_start_to_end() -> None:
    signal = signals.step(W, start=1.0, end=2.0)
    np.testing.assert_array_equal([signal(t)[0] for t in (0.0, 0.999, 1.0, 1.999, 2.0)], [0, 0, 1, 1, 0])


def test_ramp_is_a_straight_line_with_ends() -> None:
    signal = signals.ramp(W, duration=2.0, start=1.0)
    for t, share in ((0.0, 0.0), (1.0, 0.0), (1.5, 0.25), (3.0, 1.0), (9.0, 1.0)):
        np.testing.assert_allclose(signal(t), share * W)


def test_sine_repeats_after_its_period() -> None:
    signal = signals.sine(W, frequency_hz=2.0, phase=0.3)
    np.testing.assert_allclose(signal(0.0), W * np.sin(0.3))
    np.testing.assert_allclose(signal(0.13), signal(0.63), atol=1e-12)


@pytest.mark.parametrize("t", [0.0, 3.0, 7.5, 10.0, 12.0])
def test_chirp_has_the_frequency_of_its_time(t: float) -> None:
    """Instantaneous frequency = d(phase)/dt / 2 pi, found from the quadrature pair w and w(t + small)."""
    f0, f1, duration = 0.5, 4.0, 10.0
    signal = signals.chirp([1, 0, 0, 0, 0, 0], f0, f1, duration)
    expected = min(f0 + (f1 - f0) * t / duration, f1)
    window = np.linspace(t, t + 1e-3, 3)
    a, b, c = (np.longdouble(signal(x)[0]) for x in window)
    h = window[1] - window[0]
    slope, curvature = (c - a) / (2 * h), (c - 2 * b + a) / h**2
    omega = np.sqrt(slope**2 + b**2 * (2 * np.pi * expected) ** 2)  # (w cos)^2 + (w sin)^2
    assert omega / (2 * np.pi) == pytest.approx(expected, rel=0.02)
    assert abs(curvature) < 1.1 * (2 * np.pi * f1) ** 2


def test_noise_depends_on_seed_and_time_only_and_has_its_deviation() -> None:
    signal = signals.noise(W, seed=5)
    np.testing.assert_array_equal(signal(0.4), signals.noise(W, seed=5)(0.4))
    assert not np.array_equal(signal(0.4), signals.noise(W, seed=6)(0.4))
    samples = np.array([signal(k / 500.0) for k in range(4000)])
    assert len(np.unique(samples[:, 0])) == 4000  # a new value for each sample, in spite of rounding
    np.testing.assert_allclose(samples.std(axis=0), np.abs(W), rtol=0.05)


def test_a_signal_does_not_hand_out_its_own_memory() -> None:
    signal = signals.step(W)
    signal(0.0)[:] = 99.0
    np.testing.assert_array_equal(signal(0.0), W)


def test_bad_wrenches_are_refused() -> None:
    with pytest.raises(SimulationError, match="six finite numbers"):
        signals.step([1.0, 2.0])
    with pytest.raises(SimulationError, match=r"duration = 0.0 s: must be > 0"):
        signals.ramp(W, 0.0)
