"""The inequalities  A qd <= b  of the next joint speeds, each of length one, with the Limit that it stands for."""

import math

from ur_admittance.core.compile import kernel, vec6, vec7
from ur_admittance.core.limits.quadratic import minimise
from ur_admittance.core.records import Limit

ACCELERATION = (int(Limit.LINEAR_ACCELERATION), int(Limit.ANGULAR_ACCELERATION))
VELOCITY = (int(Limit.LINEAR_VELOCITY), int(Limit.ANGULAR_VELOCITY))

KEPT = 1e-9  # [rad/s] by which a bound may be exceeded


@kernel
def put_joint(A, b, flags, n, joint, sign, bound, flag):
    """Row n: sign qd <= bound. Returns the number of rows."""
    for k in range(7):
        A[n, k] = 0.0
    A[n, joint] = sign
    b[n] = bound
    flags[n] = flag
    return n + 1


@kernel
def put_row(A, b, flags, n, J, a, bound, flag):
    """Row n: (J' a) . qd <= bound, of length one; a: direction in twist space. Returns the number of rows."""
    square = 0.0
    for k in range(6):
        total = 0.0
        for i in range(6):
            total += J[i, k] * a[i]
        A[n, k] = total
        square += total * total
    A[n, 6] = 0.0
    if square < 1e-24:
        return n
    length = math.sqrt(square)
    for k in range(6):
        A[n, k] /= length
    b[n] = bound / length
    flags[n] = flag
    return n + 1


@kernel
def put_norms(A, b, flag, n, J, twist, prev, most, caps):
    """A row for each norm that is too large, along the vector that is. Returns the number of rows."""
    a = vec6()
    for part in range(2):
        speed, change = 0.0, 0.0
        for i in range(3 * part, 3 * part + 3):
            speed += twist[i] ** 2
            change += (twist[i] - prev[i]) ** 2
        speed, change = math.sqrt(speed), math.sqrt(change)
        for i in range(6):
            a[i] = 0.0
        if speed > caps[part]:
            for i in range(3 * part, 3 * part + 3):
                a[i] = twist[i] / speed
            n = put_row(A, b, flag, n, J, a, caps[part], VELOCITY[part])
        if change > most[part]:
            start = 0.0
            for i in range(3 * part, 3 * part + 3):
                a[i] = (twist[i] - prev[i]) / change
                start += a[i] * prev[i]
            n = put_row(A, b, flag, n, J, a, start + most[part], ACCELERATION[part])
    return n


@kernel
def rows_kept(A, b, n, qd):
    for row in range(n):
        excess = -b[row]
        for k in range(6):
            excess += A[row, k] * qd[k]
        if excess > KEPT:
            return False
    return True


@kernel
def minimise_or_brake(H, g, A, b, n, brake, flag, qd):
    """qd at the minimum under the rows. When they contradict each other: braking is always allowed. Returns Limit
    flags, -1: there is no solution."""
    x, u, active = vec7(), vec7(), vec7()
    count = minimise(H, g, A, b, n, x, active, u)
    if count == -1:
        for row in range(n):
            total = 0.0
            for i in range(6):
                total += A[row, i] * brake[i]
            b[row] = max(b[row], total + 1e-12)
        count = minimise(H, g, A, b, n, x, active, u)
    if count < 0:
        return -1
    flags = 0
    for i in range(6):
        qd[i] = x[i]
    for i in range(count):
        flags |= int(flag[int(active[i])])
    return flags
