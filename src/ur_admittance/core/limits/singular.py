"""The inverse of the Jacobian that stays finite at singularities.

    qd = J^T (J J^T + damping)^-1 V = J^T C^T C V

Only directions with a singular value below SINGULAR are damped, so the arm does exactly everything that it can do
[Maciejewski and Klein 1988].
"""

import math

from ur_admittance.core.chain import forward
from ur_admittance.core.kernel import kernel, mat3, mat6, vec3, vec6

SINGULAR = 0.002  # singular value below which a direction is damped [m/rad]: 0.7 degrees from a straight wrist
DAMPING = 0.002  # lambda at the singularity itself: joint speeds stay below |V| / (2 DAMPING)
CONVERGED = 1e-13  # off-diagonal part of J J^T, relative, at which the rotations stop
SWEEPS = 10
SMALLEST_PIVOT = 1e-9  # of the Cholesky factor: below it the arm is singular
CURVE = 0.3  # fraction of the joint acceleration that a straight tool path may need at constant speed
AHEAD = 0.05  # [rad] that the fastest joint moves to the point ahead where that is evaluated


@kernel
def singular_directions(J, U, sigma2):
    """sigma_i^2 and the columns u_i of U with (J J^T) U = U diag(sigma^2), by Jacobi rotations that start from the
    last tick's U: the arm has hardly moved, so one or two sweeps suffice. Any orthogonal U is a valid start."""
    A = mat6()
    B = mat6()
    for i in range(6):  # B = J^T U, then A = B^T B = U^T J J^T U
        for j in range(6):
            total = 0.0
            for k in range(6):
                total += J[k, i] * U[k, j]
            B[i, j] = total
    trace = 0.0
    for i in range(6):
        for j in range(i, 6):
            total = 0.0
            for k in range(6):
                total += B[k, i] * B[k, j]
            A[i, j] = total
        trace += A[i, i]
    for _ in range(SWEEPS):
        largest = 0.0
        for i in range(5):
            for j in range(i + 1, 6):
                apq = A[i, j]
                if abs(apq) <= CONVERGED * trace:
                    continue
                largest = max(largest, abs(apq))
                theta = 0.5 * (A[j, j] - A[i, i]) / apq
                t = 1.0 / (abs(theta) + math.sqrt(theta * theta + 1.0))
                if theta < 0.0:
                    t = -t
                c = 1.0 / math.sqrt(t * t + 1.0)
                s = t * c
                A[i, i] -= t * apq
                A[j, j] += t * apq
                A[i, j] = 0.0
                for k in range(i):
                    g, h = A[k, i], A[k, j]
                    A[k, i], A[k, j] = c * g - s * h, s * g + c * h
                for k in range(i + 1, j):
                    g, h = A[i, k], A[k, j]
                    A[i, k], A[k, j] = c * g - s * h, s * g + c * h
                for k in range(j + 1, 6):
                    g, h = A[i, k], A[j, k]
                    A[i, k], A[j, k] = c * g - s * h, s * g + c * h
                for k in range(6):
                    g, h = U[k, i], U[k, j]
                    U[k, i], U[k, j] = c * g - s * h, s * g + c * h
        if largest <= 1e-10 * trace:  # quadratic convergence: this sweep leaves (1e-10)^2
            break
    for i in range(6):
        sigma2[i] = max(A[i, i], 0.0)


@kernel
def inverse_factor(J, C):
    """C = L^-1 with J J^T = L L^T (Cholesky); lower triangle, zeros above. Returns a lower bound of the smallest
    singular value: sigma_min^2 >= 1 / trace((J J^T)^-1) = 1 / |C|^2 (Frobenius norm), or 0 when J J^T has no factor."""
    L = mat6()
    for i in range(6):
        for j in range(i + 1):
            total = 0.0
            for k in range(6):
                total += J[i, k] * J[j, k]
            L[i, j] = total
            C[j, i] = 0.0
    square = 0.0
    for j in range(6):
        pivot = L[j, j]
        for k in range(j):
            pivot -= L[j, k] * L[j, k]
        if not pivot > SMALLEST_PIVOT:
            return 0.0
        inverse = 1.0 / math.sqrt(pivot)
        for i in range(j + 1, 6):
            total = L[i, j]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            L[i, j] = total * inverse
        for i in range(j):
            total = 0.0
            for k in range(i, j):
                total -= L[j, k] * C[k, i]
            C[j, i] = total * inverse
            square += C[j, i] * C[j, i]
        C[j, j] = inverse
        square += inverse * inverse
    return 1.0 / math.sqrt(square)


@kernel
def damped_factor(J, U, C):
    """C with C^T C = (J J^T + damping of singular directions)^-1. Returns (smallest singular value or a lower bound of
    it, whether it is the value itself).

    Far from singularities nothing is damped and a Cholesky factor is enough; singular directions cost six times more.
    """
    bound = inverse_factor(J, C)
    if bound > SINGULAR:
        return bound, False
    sigma2 = vec6()
    singular_directions(J, U, sigma2)
    least = math.inf
    for i in range(6):
        least = min(least, sigma2[i])
        nearness = max(0.0, 1.0 - sigma2[i] / (SINGULAR * SINGULAR))
        size = math.sqrt(sigma2[i] + (DAMPING * nearness) ** 2)
        for k in range(6):
            C[i, k] = U[k, i] / size
    return math.sqrt(least), True


@kernel
def solve(C, V, y):
    """y = C^T C V"""
    for k in range(6):
        y[k] = 0.0
    for i in range(6):
        total = 0.0
        for k in range(6):
            total += C[i, k] * V[k]
        for k in range(6):
            y[k] += C[i, k] * total


@kernel
def damped_inverse(J, C, V, qd):
    """Joint velocities for V without bounds: J^T C^T C V."""
    y = vec6()
    solve(C, V, y)
    for i in range(6):
        qd[i] = 0.0
    for k in range(6):
        for i in range(6):
            qd[i] += J[k, i] * y[k]


@kernel
def smallest_singular_value(C, weakest):
    """One step of inverse iteration from the last tick's direction: exact to 1e-6 while the arm moves."""
    y = vec6()
    solve(C, weakest, y)
    square, along = 0.0, 0.0
    for i in range(6):
        square += y[i] * y[i]
        along += y[i] * weakest[i]
    for i in range(6):
        weakest[i] = y[i] / math.sqrt(square)
    return 1.0 / math.sqrt(along)


@kernel
def curve_speed(p, q, U, V, qd, sigma):
    """Fraction of V at which the joint accelerations that a straight path needs at constant speed stay within CURVE:
    s^2 |d(qd)/dt| <= CURVE a. Towards a singularity they grow as a power of the distance, so the slowing down starts
    early enough to need no look-ahead."""
    fastest = 0.0
    for i in range(6):
        fastest = max(fastest, abs(qd[i]))
    # At the angle `a` from a singularity the joints need about qd^2 / a, and sigma <= a on arms up to 1 m of lever.
    weakest = p.joint_acceleration[0]
    for i in range(1, 6):
        weakest = min(weakest, p.joint_acceleration[i])
    if fastest * fastest <= CURVE * weakest * max(0.0, sigma - AHEAD):
        return 1.0
    if fastest == 0.0:
        return 1.0
    time = AHEAD / fastest
    q_ahead, qd_ahead, position = vec6(), vec6(), vec3()
    R, J, C, U_ahead = mat3(), mat6(), mat6(), mat6()
    for i in range(6):
        q_ahead[i] = q[i] + time * qd[i]
        for j in range(6):
            U_ahead[i, j] = U[i, j]
    forward(p.chain_rotation, p.chain_position, q_ahead, R, position, J)
    damped_factor(J, U_ahead, C)
    damped_inverse(J, C, V, qd_ahead)
    share = 1.0
    for i in range(6):
        change = abs(qd_ahead[i] - qd[i])
        if change * share * share > CURVE * p.joint_acceleration[i] * time:
            share = math.sqrt(CURVE * p.joint_acceleration[i] * time / change)
    return share
