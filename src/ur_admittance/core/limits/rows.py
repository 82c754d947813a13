"""The inequalities of the next joint speeds. A row of the table is  a . qd <= bound  with a of length one:

a (6,), 0 (of the common slow-down), bound, the Limit that it stands for
"""

import math

from ur_admittance.core.kernel import kernel, vec7
from ur_admittance.core.limits.quadratic import minimise

BOUND, FLAG = 7, 8  # columns
KEPT = 1e-9  # [rad/s] by which a bound may be exceeded


@kernel
def put_joint(table, n, joint, sign, bound, flag):
    """Row n: sign qd <= bound. Returns the number of rows."""
    for k in range(7):
        table[n, k] = 0.0
    table[n, joint] = sign
    table[n, BOUND] = bound
    table[n, FLAG] = flag
    return n + 1


@kernel
def put_row(table, n, J, a, bound, flag):
    """Row n: (J' a) . qd <= bound, of length one; a: direction in twist space. Returns the number of rows."""
    square = 0.0
    for k in range(6):
        total = 0.0
        for i in range(6):
            total += J[i, k] * a[i]
        table[n, k] = total
        square += total * total
    table[n, 6] = 0.0
    if square < 1e-24:
        return n
    length = math.sqrt(square)
    for k in range(6):
        table[n, k] /= length
    table[n, BOUND] = bound / length
    table[n, FLAG] = flag
    return n + 1


@kernel
def rows_kept(table, n, qd):
    for row in range(n):
        excess = -table[row, BOUND]
        for k in range(6):
            excess += table[row, k] * qd[k]
        if excess > KEPT:
            return False
    return True


@kernel
def minimise_or_brake(H, g, table, n, brake, qd):
    """qd at the minimum under the rows. When they contradict each other: braking is always allowed. Returns Limit
    flags, -1: there is no solution."""
    x, u, active = vec7(), vec7(), vec7()
    count = minimise(H, g, table, n, x, active, u)
    if count == -1:
        for row in range(n):
            total = 0.0
            for i in range(6):
                total += table[row, i] * brake[i]
            table[row, BOUND] = max(table[row, BOUND], total + 1e-12)
        count = minimise(H, g, table, n, x, active, u)
    if count < 0:
        return -1
    flags = 0
    for i in range(6):
        qd[i] = x[i]
    for i in range(count):
        flags |= int(table[int(active[i]), FLAG])
    return flags
