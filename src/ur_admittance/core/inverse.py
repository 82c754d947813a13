"""4  Twist -> joint velocities inside their bounds, direction preserved.

    qd = scale * J^T sum_i u_i (u_i . V) / (sigma_i^2 + lambda_i^2)

sigma_i, u_i: singular values and directions of J. Only directions with sigma below SINGULAR are damped (lambda),
so that what the arm can do it does exactly [Maciejewski and Klein 1988]. Bounds shorten the whole vector: a
joint at its limit slows the tool down, it does not bend its path.
"""

import math

from .cartesian import braking_speed
from .compile import kernel, mat6, vec6
from .records import Limit

SINGULARITY = int(Limit.SINGULARITY)
JOINT_VELOCITY = int(Limit.JOINT_VELOCITY)
JOINT_ACCELERATION = int(Limit.JOINT_ACCELERATION)
JOINT_POSITION = int(Limit.JOINT_POSITION)

SINGULAR = 0.04  # singular value below which a direction is damped [m/rad]: 2.4 degrees from a straight wrist
DAMPING = 0.04  # lambda at the singularity itself: joint speeds stay below |V| / (2 DAMPING)
CONVERGED = 1e-13  # off-diagonal part of J J^T, relative, at which the rotations stop
SWEEPS = 10
BRAKING = 0.9  # share of the joint acceleration planned for braking: the rest absorbs the curvature of the path


@kernel
def singular_directions(J, U, sigma2):
    """sigma_i^2 and the columns u_i of U with (J J^T) U = U diag(sigma^2), by Jacobi rotations that start from the
    last tick's U: the arm has hardly moved, so one or two sweeps do. Any orthogonal U is a valid start."""
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
        if largest <= 1e-10 * trace:  # quadratic convergence: this sweep has left (1e-10)^2
            break
    for i in range(6):
        sigma2[i] = max(A[i, i], 0.0)


@kernel
def damped_inverse(J, U, V, qd):
    """Joint velocities for V without bounds. Returns (smallest singular value, whether a direction was damped)."""
    sigma2 = vec6()
    y = vec6()
    singular_directions(J, U, sigma2)
    for i in range(6):
        y[i] = 0.0
    smallest = sigma2[0]
    damped = False
    for i in range(6):
        smallest = min(smallest, sigma2[i])
        along = 0.0
        for k in range(6):
            along += U[k, i] * V[k]
        nearness = 1.0 - sigma2[i] / (SINGULAR * SINGULAR)
        lambda2 = 0.0
        if nearness > 0.0:
            lambda2 = (DAMPING * nearness) ** 2
            damped = damped or abs(along) > 1e-9
        for k in range(6):
            y[k] += U[k, i] * along / (sigma2[i] + lambda2)
    for i in range(6):
        total = 0.0
        for k in range(6):
            total += J[k, i] * y[k]
        qd[i] = total
    return math.sqrt(smallest), damped


@kernel
def clip(value, low, high):
    return min(max(value, low), high)


@kernel
def velocity_bounds(p, s, dt, low, high):
    """Bounds that keep every joint inside its velocity, acceleration and (by braking distance) position limits.
    A bound that shrank is approached at the acceleration limit: low <= high always."""
    for i in range(6):
        a = p.joint_acceleration[i]
        up = min(p.joint_velocity[i], braking_speed(p.joint_upper[i] - s.q_command[i], a, dt))
        down = -min(p.joint_velocity[i], braking_speed(s.q_command[i] - p.joint_lower[i], a, dt))
        slowest = s.qd_command[i] - a * dt
        fastest = s.qd_command[i] + a * dt
        high[i] = clip(up, slowest, fastest)
        low[i] = clip(down, slowest, fastest)


@kernel
def common_braking(p, twist, qd):
    """Fraction of its speed per second that the whole vector can lose inside joint and Cartesian limits [1/s]."""
    rate = math.inf
    for i in range(6):
        if qd[i] != 0.0:
            rate = min(rate, BRAKING * p.joint_acceleration[i] / abs(qd[i]))
    for part in range(2):
        speed = math.sqrt(twist[3 * part] ** 2 + twist[3 * part + 1] ** 2 + twist[3 * part + 2] ** 2)
        if speed > 0.0:
            rate = min(rate, p.max_acceleration[part] / speed)
    return rate


@kernel
def fit_into_bounds(p, s, twist, qd, dt):
    """Shortens qd so that it fits the bounds. Returns (scale, Limit flags)."""
    low = vec6()
    high = vec6()
    velocity_bounds(p, s, dt, low, high)
    rate = common_braking(p, twist, qd)
    least = 0.0
    most = 1.0
    flags = 0
    for i in range(6):
        if qd[i] == 0.0:
            continue
        speed = abs(qd[i])
        # The other joints must stop in time too: brake the whole vector before this joint's position limit.
        room = p.joint_upper[i] - s.q_command[i] if qd[i] > 0.0 else s.q_command[i] - p.joint_lower[i]
        stop = braking_speed(room, rate * speed, dt) / speed
        end = (high[i] if qd[i] > 0.0 else low[i]) / qd[i]
        begin = (low[i] if qd[i] > 0.0 else high[i]) / qd[i]
        if stop < most:
            most = stop
            flags = JOINT_POSITION
        if end < most:
            most = end
            flags = JOINT_VELOCITY if p.joint_velocity[i] <= end * speed * (1.0 + 1e-9) else JOINT_ACCELERATION
        least = max(least, begin)
    scale = most
    if least > most:  # the joints cannot slow down together: share the misfit, then clip
        scale = 0.5 * (least + most)
        flags |= JOINT_ACCELERATION
    scale = clip(scale, 0.0, 1.0)
    for i in range(6):
        qd[i] = clip(scale * qd[i], low[i], high[i])
    return scale, flags
