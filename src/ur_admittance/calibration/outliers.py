"""One pose in which somebody touched the tool must not spoil the others: leave one out, and see whether it fits."""

import numpy as np

from ur_admittance.calibration.model import Fit, fit, predicted
from ur_admittance.calibration.readings import Array, Flags
from ur_admittance.errors import CalibrationError

# A pose is wrong when the others predict it worse than this, and worse than five times their own scatter.
TOLERANCE = (0.3, 0.03)  # [N], [Nm]
TIMES_SCATTER = 5.0
SHARE = 6  # at most one pose in six may be dropped


def without_outliers(R_flange_base: Array, wrench: Array, noise: tuple[float, float]) -> tuple[Flags, Fit]:
    """Which poses fit one rigid tool (n,) bool, and the fit to them. CalibrationError when too many do not."""
    n = len(wrench)
    used = np.ones(n, dtype=bool)
    best = fit(R_flange_base, wrench, noise)
    while True:
        worst, error, without = _worst(R_flange_base, wrench, noise, used)
        scatter = _size(without.residual)
        if error <= max(1.0, TIMES_SCATTER * float(np.sqrt((scatter**2).mean()))):
            return used, best
        used[worst] = False
        best = without
        if np.count_nonzero(~used) > n // SHARE:
            numbers = ", ".join(str(i + 1) for i in np.flatnonzero(~used))
            raise CalibrationError(
                f"calibration refused: poses {numbers} of {n} do not fit the others (at most {n // SHARE} may be left "
                "out); something touched the tool, a cable pulls at it, or the arm moved."
            )


def _worst(R_flange_base: Array, wrench: Array, noise: tuple[float, float], used: Flags) -> tuple[int, float, Fit]:
    """The pose without which the others fit best, how far it lies off their prediction, and their fit."""
    trials = []
    for i in map(int, np.flatnonzero(used)):
        others = used.copy()
        others[i] = False
        trial = fit(R_flange_base[others], wrench[others], noise)
        cost = float((_size(trial.residual) ** 2).sum())
        trials.append((cost, i, trial))
    _, i, trial = min(trials, key=lambda entry: entry[0])
    there = predicted(trial.R_sensor_flange, trial.weight, trial.bias, trial.com, R_flange_base[i : i + 1])
    return i, float(_size(wrench[i : i + 1] - there)[0]), trial


def _size(residual: Array) -> Array:
    """Residuals in units of the tolerance, force or torque, whichever is larger (n,)."""
    force = np.linalg.norm(residual[:, :3], axis=1) / TOLERANCE[0]
    torque = np.linalg.norm(residual[:, 3:], axis=1) / TOLERANCE[1]
    return np.asarray(np.maximum(force, torque))
