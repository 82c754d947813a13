"""Signals of a recording, smoothed, shifted and differentiated without being resampled.

Every signal of the fit passes the same Gaussian, so that a linear equation between signals stays true between smoothed
ones. A shift by a fraction of a period is a shift of the Gaussian.
"""

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SERVO_STEP = 0.001  # [s] the simulated servo computes its torques at this pace, so the fitted one does
SMOOTH = 0.004  # [s] standard deviation: passes what happens below 30 Hz, averages the encoders' noise
REACH = 6.0  # standard deviations after which the Gaussian is taken for zero
FADED = 25.0  # time constants after which a lag has forgotten


def smoothed(signal: Array, period: float, later: float = 0.0, derivative: int = 0, width: float = SMOOTH) -> Array:
    """The signal (n, m) at the time t + later, or its derivative: convolved with a Gaussian and its derivatives.

    g(t) = exp(-t^2 / 2 s^2),  g' = -t / s^2 g,  g'' = (t^2 / s^2 - 1) / s^2 g"""
    half = math.ceil((REACH * width + abs(later)) / period)
    t: Array = period * np.arange(-half, half + 1, dtype=np.float64) + later
    g = _gaussian(t, width)
    return convolved(signal, (g, -t / width**2 * g, ((t / width) ** 2 - 1.0) / width**2 * g)[derivative], half)


def followed(command: Array, period: float, delay: float, lag: float) -> tuple[Array, Array]:
    """Angles and speeds (n, 6) of the command after delay and first-order lag, smoothed.

    The command of row k is reached on a straight line at (k + 1) T. A triangle of width 2 T passes the lag as
        (r(t + T) - 2 r(t) + r(t - T)) / T,   r(t) = t - lag (1 - exp(-t / lag)) for t > 0
    The corners of these lines lie anywhere between two rows: the servo sees them at its own pace."""
    per_row = max(1, round(period / SERVO_STEP))
    fine = period / per_row
    half = math.ceil(REACH * SMOOTH / period)
    count = math.ceil((delay + FADED * lag) / period) + 3 + half
    t: Array = fine * np.arange(-2 * half * per_row, (count + half) * per_row + 1, dtype=np.float64) - period - delay

    def corner(t: Array) -> tuple[Array, Array]:
        t = np.maximum(t, 0.0)
        gone = -np.expm1(-t / lag) if lag > 0.0 else (t > 0.0).astype(float)
        return t - lag * gone, gone

    before, at, after = corner(t + period), corner(t), corner(t - period)
    g = _gaussian(fine * np.arange(-half * per_row, half * per_row + 1, dtype=np.float64), SMOOTH)
    angle, speed = (
        np.convolve((before[i] - 2.0 * at[i] + after[i]) / period, g, mode="valid")[::per_row] for i in (0, 1)
    )
    return convolved(command, angle, half), convolved(command, speed, half)


def convolved(signal: Array, kernel: Array, ahead: int) -> Array:
    """sum_i kernel[i] signal[k + ahead - i]; beyond its ends the signal stays what it was there."""
    padded = np.pad(signal, ((len(kernel) - 1 - ahead, ahead), (0, 0)), mode="edge")
    return np.column_stack([np.convolve(column, kernel, mode="valid") for column in padded.T])


def fast_length(n: int) -> int:
    """Smallest length from n on whose Fourier transform is fast: a power of two, times 1, 3, 5, 9 or 15."""
    return min(odd << max(0, math.ceil(math.log2(n / odd))) for odd in (1, 3, 5, 9, 15))


def _gaussian(t: Array, width: float) -> Array:
    g = np.exp(-0.5 * (t / width) ** 2)
    return np.asarray(g / g.sum())
