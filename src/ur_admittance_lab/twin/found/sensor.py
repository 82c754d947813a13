"""The sensor's noise, and the tool's mass as the sensor feels it when nobody touches the tool."""

import math

import numpy as np
from numpy.typing import NDArray

from ur_admittance_lab.twin.found.filters import smoothed
from ur_admittance_lab.twin.found.servo import SPEED_AGE
from ur_admittance_lab.twin.found.stretch import Stretch

Array = NDArray[np.float64]

BLOCK = 0.5  # [s] of readings that give one value of the noise
WINDOW = 0.3  # [s] of motion that gives one value of the mass
WIDE = 0.015  # [s] smoothing: encoders differentiated twice are all noise above 10 Hz
QUIET = 1.5  # times the noise: more is left over where somebody touches the tool
AGREES = 4.0  # standard deviations from the others: a window in which somebody touches the tool after all
NORMAL = 1.4826  # standard deviation over median absolute value of normal noise
THIRD = math.sqrt(20.0)  # of third differences of white noise: 1 + 9 + 9 + 1
LEAST = 0.03  # [N] that encoders add to the force of a tool of 2 kg, after the smoothing


def noise(stretches: list[Stretch]) -> tuple[Array, Array]:
    """Standard deviation of one reading: force [N] and torque [Nm], and how well each is known.

    From third differences, in which no push survives, and from their median, which no impact moves."""
    rough = [np.abs(np.diff(stretch.reading, 3, axis=0)) * NORMAL / THIRD for stretch in stretches]
    blocks = [
        block
        for part, stretch in zip(rough, stretches, strict=True)
        for block in np.array_split(part, max(1, int(stretch.seconds / BLOCK)))
    ]
    scatter = np.array([_medians(block) for block in blocks]).std(axis=0)
    return _medians(np.vstack(rough)), scatter / math.sqrt(max(len(blocks) - 1, 1))


def _medians(rough: Array) -> Array:
    return np.array([np.median(rough[:, :3]), np.median(rough[:, 3:])])


def tool_mass(stretches: list[Stretch], sensor_delay: float, noise_force: float) -> tuple[float, float, float]:
    """Mass [kg] by the force it takes to accelerate it, its standard deviation (inf: unknown), and the largest
    acceleration [m/s2] of the tool while nobody touched it.

    f = -m a + constant in each window. A window counts when what is left is the noise of the sensor."""
    masses, weights, fastest = [], [], 0.0
    for stretch in stretches:
        T = stretch.period
        R, p = stretch.sensor_pose
        a = smoothed(p + R @ stretch.mounting.com, T, derivative=2, width=WIDE)
        f = smoothed(stretch.wrench[:, :3], T, later=sensor_delay + 0.5 * T + SPEED_AGE, width=WIDE)
        expected = LEAST**2 + noise_force**2 * T / (2.0 * math.sqrt(math.pi) * WIDE)
        for k in range(1, int(stretch.seconds / WINDOW) - 1):
            part = slice(round(k * WINDOW / T), round((k + 1) * WINDOW / T))
            x, y = a[part] - a[part].mean(axis=0), f[part] - f[part].mean(axis=0)
            energy = float(np.sum(x * x))
            mass = -float(np.sum(x * y)) / max(energy, 1e-12)
            left = float(np.mean((y + mass * x) ** 2))
            if left < QUIET**2 * expected:
                masses.append(mass)
                weights.append(energy / expected * T / (4.0 * WIDE))  # neighbours share their noise
                fastest = max(fastest, float(np.abs(x).max()))
    return *_agreed(np.array(masses), np.array(weights)), fastest


def _agreed(masses: Array, weights: Array) -> tuple[float, float]:
    """Weighted mean of those that agree with the weighted median, and its deviation from their scatter."""
    if len(masses) < 3 or weights.sum() <= 0.0:
        return math.nan, math.inf
    order = np.argsort(masses)
    share = np.cumsum(weights[order]) / weights.sum()
    middle = float(masses[order][np.searchsorted(share, 0.5)])
    near = (masses - middle) ** 2 * weights < AGREES**2
    m, w = masses[near], weights[near]
    mean = float(np.sum(w * m) / w.sum())
    scatter = float(np.sqrt(np.sum((w * (m - mean)) ** 2)) / w.sum())
    return mean, max(scatter, 1.0 / math.sqrt(w.sum()))
