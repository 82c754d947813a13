"""Wrenches as functions of time: what the wrench_signal_generator sends in place of a sensor.

Each function returns a signal, a pure function  time [s] -> wrench (6,) [N, Nm]: the same time always gives the same
wrench.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ur_admittance.errors import SimulationError

Array = NDArray[np.float64]
Signal = Callable[[float], Array]


def constant(wrench: ArrayLike) -> Signal:
    """w(t) = wrench."""
    value = _six(wrench)
    return lambda t: value.copy()


def step(wrench: ArrayLike, start: float = 0.0, end: float = np.inf) -> Signal:
    """w(t) = wrench for start <= t < end [s], else 0."""
    value = _six(wrench)
    return lambda t: value.copy() if start <= t < end else np.zeros(6)


def ramp(wrench: ArrayLike, duration: float, start: float = 0.0) -> Signal:
    """From 0 at ``start`` in a straight line to ``wrench`` after ``duration`` [s]; constant after that."""
    value, duration = _six(wrench), _positive("duration", duration, "s")
    return lambda t: np.asarray(value * np.clip((t - start) / duration, 0.0, 1.0))


def sine(wrench: ArrayLike, frequency_hz: float, phase: float = 0.0) -> Signal:
    """w(t) = wrench sin(2 pi f t + phase)."""
    value = _six(wrench)
    return lambda t: np.asarray(value * np.sin(2.0 * np.pi * frequency_hz * t + phase))


def chirp(wrench: ArrayLike, from_hz: float, to_hz: float, duration: float) -> Signal:
    """A sine whose frequency grows linearly from ``from_hz`` to ``to_hz`` within ``duration`` [s], then stays.

    w(t) = wrench sin(2 pi (f0 t + (f1 - f0) t^2 / (2 T)))
    """
    value, duration = _six(wrench), _positive("duration", duration, "s")
    rate = (to_hz - from_hz) / duration

    def signal(t: float) -> Array:
        inside = min(t, duration)
        cycles = from_hz * inside + 0.5 * rate * inside**2 + to_hz * max(0.0, t - duration)
        return np.asarray(value * np.sin(2.0 * np.pi * cycles))

    return signal


def noise(deviation: ArrayLike, seed: int = 0, rate_hz: float = 500.0) -> Signal:
    """Normal noise, a new independent value every 1 / rate_hz; a function of the seed and the time only."""
    value, rate_hz = _six(deviation), _positive("rate_hz", rate_hz, "Hz")

    def signal(t: float) -> Array:
        index = int(np.floor(t * rate_hz + 1e-6))  # t = k / rate belongs to sample k despite rounding
        return np.asarray(value * np.random.default_rng((seed, index % 2**63)).standard_normal(6))

    return signal


def _six(wrench: ArrayLike) -> Array:
    array = np.array(wrench, dtype=float)
    if array.shape != (6,) or not np.all(np.isfinite(array)):
        raise SimulationError(f"signal: wrench = {array.tolist()}: must be six finite numbers [N, Nm].")
    return array


def _positive(name: str, value: float, unit: str) -> float:
    if not value > 0.0:
        raise SimulationError(f"signal: {name} = {value} {unit}: must be > 0.")
    return value
