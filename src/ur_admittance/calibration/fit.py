"""What a wrist sensor reads at rest, and the fit of its unknowns to readings in several orientations.

    f_i = R_sensor_flange R_flange_base,i W + f_0          W: weight beyond the sensor, base axes [N]
    t_i = c x (f_i - f_0) + t_0                            c: centre of mass, sensor frame [m]

Start without iterations [Yu2022, "limited robot orientation method"]: the first line times R_flange_sensor is linear
in R_flange_sensor (9 numbers), W and R_flange_sensor f_0; the last six are eliminated, the first nine are the
eigenvector of the smallest eigenvalue. Then Gauss-Newton on all 15 unknowns, force and torque weighted by their noise.
A pose in which somebody touched the tool must not spoil the others: it is found by leaving each one out in turn.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.spatial import exp_so3
from ur_admittance.errors import CalibrationError

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

STANDARD_GRAVITY = 9.80665  # [m/s2]

ITERATIONS = 30
CONVERGED = 1e-12  # relative step
UNKNOWNS = 15

# A pose is wrong when the others predict it worse than this, and worse than five times their own scatter.
TOLERANCE = (0.3, 0.03)  # [N], [Nm]
TIMES_SCATTER = 5.0
SHARE = 6  # at most one pose in six may be dropped


@dataclass(frozen=True, eq=False)
class Reading:
    """Mean and spread of the raw wrench over the time that the arm stood still."""

    q: Array  # (6,) [rad]
    R_base_flange: Array  # (3, 3)
    wrench: Array  # (6,) mean raw reading, sensor axes [N, Nm]
    spread: Array  # (6,) standard deviation of one sample [N, Nm]
    count: int  # samples


def stacked(readings: Sequence[Reading], sign: float) -> tuple[Array, Array]:
    """R_flange_base (n, 3, 3) and the wrenches on the tool (n, 6), the sensor's sign applied."""
    R_flange_base = np.array([reading.R_base_flange.T for reading in readings])
    return R_flange_base, sign * np.array([reading.wrench for reading in readings])


def noise(readings: Sequence[Reading]) -> tuple[float, float]:
    """Standard deviation of one sample: force [N] and torque [Nm], pooled over poses and axes."""
    square = np.array([reading.spread for reading in readings]) ** 2
    return float(np.sqrt(square[:, :3].mean())), float(np.sqrt(square[:, 3:].mean()))


def cross_matrix(v: Array) -> Array:
    """[v]x with [v]x u = v x u, also for stacks (..., 3) -> (..., 3, 3)."""
    x, y, z = np.moveaxis(np.asarray(v, dtype=float), -1, 0)
    zero = np.zeros_like(x)
    rows = [[zero, -z, y], [z, zero, -x], [-y, x, zero]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


@dataclass(frozen=True, eq=False)
class Fit:
    """The 15 unknowns, what is left over, and how well the poses determine them."""

    R_sensor_flange: Array  # (3, 3)
    weight: Array  # (3,) base axes [N]
    bias: Array  # (6,) sensor axes [N, Nm]
    com: Array  # (3,) sensor frame [m]
    residual: Array  # (n, 6) reading minus model [N, Nm]
    covariance: Array  # (15, 15): mounting (rotation vector, sensor axes), W, f_0, c, t_0; for unit weights


def predicted(R_sensor_flange: Array, weight: Array, bias: Array, com: Array, R_flange_base: Array) -> Array:
    """The model above for a stack of orientations, (n, 6) [N, Nm]."""
    load = (R_sensor_flange @ R_flange_base) @ weight
    return np.hstack([load, np.cross(com, load)]) + bias


def start(R_flange_base: Array, force: Array) -> tuple[Array, Array]:
    """R_sensor_flange (3, 3) and the weight in base axes (3,) without iteration.

    R f - R_flange_base W - beta = 0 with R = R_flange_sensor and beta = R f_0: A vec(R) + B [W; beta] = 0.
    A solution can be multiplied by -1; only one of the two is a rotation.
    """
    n = len(force)
    A = np.einsum("ij,nk->nijk", np.eye(3), force).reshape(3 * n, 9)  # row-major vec(R): (R f)_i = R_ik f_k
    B = np.concatenate([-R_flange_base, np.broadcast_to(-np.eye(3), (n, 3, 3))], axis=2).reshape(3 * n, 6)
    rest = A - B @ (np.linalg.pinv(B) @ A)
    _, vectors = np.linalg.eigh(rest.T @ rest)
    R = vectors[:, 0].reshape(3, 3)
    if np.linalg.det(R) < 0.0:
        R = -R
    U, _, Vt = np.linalg.svd(R)
    R_flange_sensor = U @ np.diag([1.0, 1.0, np.linalg.det(U @ Vt)]) @ Vt
    solution, *_ = np.linalg.lstsq(-B, A @ R_flange_sensor.reshape(9), rcond=None)
    return R_flange_sensor.T, solution[:3]


def fit(R_flange_base: Array, wrench: Array, noise: tuple[float, float]) -> Fit:
    """Least squares of all unknowns. ``noise``: standard deviations of the force [N] and torque [Nm] in ``wrench``."""
    R, W = start(R_flange_base, wrench[:, :3])
    load = (R @ R_flange_base) @ W
    bias, com = np.zeros(6), np.zeros(3)
    bias[:3] = (wrench[:, :3] - load).mean(axis=0)
    if np.linalg.norm(W) > 0.0:
        levers = np.concatenate([-cross_matrix(load), np.broadcast_to(np.eye(3), (len(load), 3, 3))], axis=2)
        solution, *_ = np.linalg.lstsq(levers.reshape(-1, 6), wrench[:, 3:].reshape(-1), rcond=None)
        com, bias[3:] = solution[:3], solution[3:]

    weights = 1.0 / np.repeat(noise, 3)
    turn = np.empty((3, 3))
    for _ in range(ITERATIONS):
        residual = wrench - predicted(R, W, bias, com, R_flange_base)
        J = jacobian(R, W, com, R_flange_base) * weights[:, None]  # (n, 6, 15)
        step, *_ = np.linalg.lstsq(J.reshape(-1, UNKNOWNS), (residual * weights).reshape(-1), rcond=1e-12)
        exp_so3(step[:3], turn)
        R, W, com = turn @ R, W + step[3:6], com + step[9:12]
        bias = bias + np.concatenate([step[6:9], step[12:15]])
        if np.abs(step).max() < CONVERGED * max(1.0, float(np.linalg.norm(W))):
            break
    residual = wrench - predicted(R, W, bias, com, R_flange_base)
    J = (jacobian(R, W, com, R_flange_base) * weights[:, None]).reshape(-1, UNKNOWNS)
    return Fit(R, W, bias, com, residual, np.linalg.pinv(J.T @ J))


def jacobian(R_sensor_flange: Array, weight: Array, com: Array, R_flange_base: Array) -> Array:
    """d(f, t) / d(mounting, W, f_0, c, t_0), (n, 6, 15); the mounting is turned by exp([r]x) R_sensor_flange."""
    R_sensor_base = R_sensor_flange @ R_flange_base
    turned = -cross_matrix(R_sensor_base @ weight)  # d load / d r, and d(c x load) / dc
    lever = cross_matrix(com)
    J = np.zeros((len(R_flange_base), 6, UNKNOWNS))
    J[:, :3, 0:3], J[:, :3, 3:6], J[:, :3, 6:9] = turned, R_sensor_base, np.eye(3)
    J[:, 3:, 0:3], J[:, 3:, 3:6] = lever @ turned, lever @ R_sensor_base
    J[:, 3:, 9:12], J[:, 3:, 12:15] = turned, np.eye(3)
    return J


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
