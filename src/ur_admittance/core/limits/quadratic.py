"""A small quadratic problem, solved exactly in bounded time: fixed size, no allocation, no exception.

    minimise 1/2 x' H x + g' x     subject to  A x <= b          x (N,), H positive definite, any number of inequalities

A row of the table is N numbers of A, then that of b; more columns are not looked at.

Dual active-set method [Goldfarb and Idnani 1983]: it starts at the minimum without constraints and takes in the most
violated row, one after the other; while it does, x stays the minimum under the rows taken in so far. So a problem
without a violated row costs one look at the rows, and every other one a few small steps.
"""

import math

from ur_admittance.core.kernel import kernel, mat7, vec7

N = 7  # unknowns: six joint speeds and the common slow-down
STEPS = 60  # more than any problem of this size has needed
VIOLATED = 1e-9  # of a row of length one


@kernel
def cholesky(H, L):
    """H = L L'. False: H is not positive definite."""
    for j in range(N):
        pivot = H[j, j]
        for k in range(j):
            pivot -= L[j, k] * L[j, k]
        if not pivot > 0.0:
            return False
        L[j, j] = math.sqrt(pivot)
        for i in range(j + 1, N):
            total = H[i, j]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            L[i, j] = total / L[j, j]
    return True


@kernel
def inverse_transpose(L, J):
    """J = L^-T, upper triangular."""
    for j in range(N):
        for i in range(N):
            J[i, j] = 0.0
    for c in range(N):  # column c of L^-1 becomes row c of J
        J[c, c] = 1.0 / L[c, c]
        for i in range(c + 1, N):
            total = 0.0
            for k in range(c, i):
                total -= L[i, k] * J[c, k]
            J[c, i] = total / L[i, i]


@kernel
def most_violated(A, rows, x):
    """(row, by how much) it is violated most; -1: none is. Rows have length one, or are zero."""
    worst, at = VIOLATED, -1
    for i in range(rows):
        excess = -A[i, N]
        for k in range(N):
            excess += A[i, k] * x[k]
        if excess > worst:
            worst, at = excess, i
    return at, worst


@kernel
def rotate_columns(J, a, b, c, s):
    """Columns a, b of J := their rotation that sends (c, s) to (1, 0)."""
    for k in range(N):
        one, two = J[k, a], J[k, b]
        J[k, a] = c * one + s * two
        J[k, b] = c * two - s * one


@kernel
def drop(J, R, u, active, q, at):
    """Take the constraint at position `at` of q out of the active set."""
    for i in range(at, q - 1):
        active[i] = active[i + 1]
        u[i] = u[i + 1]
        for k in range(i + 2):
            R[k, i] = R[k, i + 1]
    for i in range(at, q - 1):  # R has a diagonal below its diagonal now
        length = math.hypot(R[i, i], R[i + 1, i])
        if length == 0.0:
            continue
        c, s = R[i, i] / length, R[i + 1, i] / length
        R[i, i], R[i + 1, i] = length, 0.0
        for k in range(i + 1, q - 1):
            one, two = R[i, k], R[i + 1, k]
            R[i, k] = c * one + s * two
            R[i + 1, k] = c * two - s * one
        rotate_columns(J, i, i + 1, c, s)


@kernel
def add(J, R, d, q):
    """Take a constraint with d = J' n in as number q. False: it depends on the others."""
    for i in range(N - 1, q, -1):
        length = math.hypot(d[i - 1], d[i])
        if length == 0.0:
            continue
        c, s = d[i - 1] / length, d[i] / length
        d[i - 1], d[i] = length, 0.0
        rotate_columns(J, i - 1, i, c, s)
    for k in range(q + 1):
        R[k, q] = d[k]
    return abs(d[q]) > 1e-12


@kernel
def minimise(H, g, A, rows, x, active, u):
    """x at the minimum under the first `rows` of A; active (N,) and u (N,): those that hold it and their multipliers.
    Returns the number of active rows, or -1: no x satisfies all rows, -2: H is not positive definite, -3: too many
    steps."""
    L, J, R = mat7(), mat7(), mat7()
    d, z, r, y = vec7(), vec7(), vec7(), vec7()
    if not cholesky(H, L):
        return -2
    inverse_transpose(L, J)
    for i in range(N):  # x = -J J' g
        y[i] = 0.0
        for k in range(N):
            y[i] += J[k, i] * g[k]
    for i in range(N):
        x[i] = 0.0
        for k in range(N):
            x[i] -= J[i, k] * y[k]
    q = 0
    for _ in range(STEPS):
        new, excess = most_violated(A, rows, x)
        if new < 0:
            return q
        multiplier = 0.0
        while True:
            for i in range(N):  # the row's normal, pointing to the allowed side, in the basis J
                d[i] = 0.0
                for k in range(N):
                    d[i] -= J[k, i] * A[new, k]
            for i in range(N):  # direction in which x moves
                z[i] = 0.0
                for k in range(q, N):
                    z[i] += J[i, k] * d[k]
            for i in range(q - 1, -1, -1):  # change of the multipliers
                total = d[i]
                for k in range(i + 1, q):
                    total -= R[i, k] * r[k]
                r[i] = total / R[i, i]
            partial, leaving = math.inf, -1  # a multiplier reaches zero
            for i in range(q):
                if r[i] > 0.0 and u[i] / r[i] < partial:
                    partial, leaving = u[i] / r[i], i
            slope, size = 0.0, 0.0
            for i in range(N):
                slope -= z[i] * A[new, i]
                size += z[i] * z[i]
            full = excess / slope if size > 1e-24 and slope > 0.0 else math.inf  # the row is met
            step = min(partial, full)
            if step == math.inf:
                return -1
            for i in range(q):
                u[i] -= step * r[i]
            multiplier += step
            if full < math.inf:
                for i in range(N):
                    x[i] += step * z[i]
                excess -= step * slope
            if step == full:
                if not add(J, R, d, q):
                    return -1
                active[q] = new
                u[q] = multiplier
                q += 1
                break
            drop(J, R, u, active, q, leaving)
            q -= 1
    return -3
