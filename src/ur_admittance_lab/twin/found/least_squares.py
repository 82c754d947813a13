"""Nonlinear least squares with an honest covariance."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Residuals = Callable[[Array], Array]

ROUNDS = 60
ENOUGH = 1e-3  # of one squared residual: what the last step may still gain
HOPELESS = 1e8  # damping with which no step gains anything any more
STEP = 1e-4  # of the differences for the Jacobian, in units of the scale


def fit(residuals: Residuals, start: Array, scale: Array, free: Flags) -> tuple[Array, Array]:
    """Levenberg and Marquardt: the free parameters that make the residuals small, and the Jacobian (m, free) there."""
    x, damping = start.copy(), 1e-3
    r = residuals(x)
    J = jacobian(residuals, x, r, scale, free)
    A, g = J.T @ J, J.T @ r
    for _ in range(ROUNDS):
        tried = x.copy()
        tried[free] -= np.linalg.solve(A + damping * np.diag(np.diag(A) + 1e-12), g) * scale[free]
        new = residuals(tried)
        if not new @ new < r @ r:
            damping *= 8.0
            if damping > HOPELESS:
                break
            continue
        x, r, damping = tried, new, damping / 5.0
        J = jacobian(residuals, x, r, scale, free)
        A, g = J.T @ J, J.T @ r
        if g @ np.linalg.pinv(A) @ g < ENOUGH * (r @ r) / len(r):  # what an undamped step would still gain
            break
    return x, J


def jacobian(residuals: Residuals, x: Array, r: Array, scale: Array, free: Flags) -> Array:
    """Change of the residuals r at x by a change of each free parameter, in units of its scale (m, free)."""
    columns = []
    for i in np.flatnonzero(free):
        moved = x.copy()
        moved[i] += STEP * scale[i]
        columns.append((residuals(moved) - r) / STEP)
    return np.column_stack(columns)


def covariance(J: Array, r: Array, blocks: NDArray[np.int64]) -> Array:
    """Of the free parameters in units of their scale, for residuals that are alike within a block and independent
    between blocks: (J^T J)^-1 (sum_b g_b g_b^T) (J^T J)^-1, g_b = J_b^T r_b  [Liang and Zeger 1986]."""
    count = int(blocks.max()) + 1
    scores = np.zeros((count, J.shape[1]))
    np.add.at(scores, blocks, J * r[:, None])
    spare = max(count - J.shape[1], 1)
    inverse = np.linalg.pinv(J.T @ J)
    return np.asarray(count / spare * inverse @ (scores.T @ scores) @ inverse)
