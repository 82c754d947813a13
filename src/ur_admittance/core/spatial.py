"""Rotations and vectors: the SO(3) exponential and logarithm, moving wrenches between points and axes.

Results are written into the last argument; three-vectors and 3 x 3 matrices only. A rotation R_ab maps
coordinates in b to coordinates in a, a rotation vector r has the angle as its length [rad].
"""

import math
from collections import namedtuple

from ur_admittance.core.kernel import kernel, mat3, vec3

SMALL_ANGLE = 1e-4  # below it the series is exact to 1e-17

Pose = namedtuple("Pose", "R p")  # of the TCP, in base axes


@kernel
def norm(v):
    return math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])


@kernel
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def clip(value, low, high):
    return min(max(value, low), high)


@kernel((3,), (3,), (3,))
def cross(a, b, out):
    x = a[1] * b[2] - a[2] * b[1]
    y = a[2] * b[0] - a[0] * b[2]
    z = a[0] * b[1] - a[1] * b[0]
    out[0], out[1], out[2] = x, y, z


@kernel
def rotate(R, v, out):
    """out = R v"""
    x = R[0, 0] * v[0] + R[0, 1] * v[1] + R[0, 2] * v[2]
    y = R[1, 0] * v[0] + R[1, 1] * v[1] + R[1, 2] * v[2]
    z = R[2, 0] * v[0] + R[2, 1] * v[1] + R[2, 2] * v[2]
    out[0], out[1], out[2] = x, y, z


@kernel((3, 3), (3,), (3,))
def rotate_back(R, v, out):
    """out = R^T v"""
    x = R[0, 0] * v[0] + R[1, 0] * v[1] + R[2, 0] * v[2]
    y = R[0, 1] * v[0] + R[1, 1] * v[1] + R[2, 1] * v[2]
    z = R[0, 2] * v[0] + R[1, 2] * v[1] + R[2, 2] * v[2]
    out[0], out[1], out[2] = x, y, z


@kernel
def multiply(A, B, out):
    """out = A B; out must be neither A nor B."""
    for i in range(3):
        for j in range(3):
            out[i, j] = A[i, 0] * B[0, j] + A[i, 1] * B[1, j] + A[i, 2] * B[2, j]


@kernel
def multiply_transposed(A, B, out):
    """out = A B^T; out must be neither A nor B."""
    for i in range(3):
        for j in range(3):
            out[i, j] = A[i, 0] * B[j, 0] + A[i, 1] * B[j, 1] + A[i, 2] * B[j, 2]


@kernel
def transposed_multiply(A, B, out):
    """out = A^T B; out must be neither A nor B."""
    for i in range(3):
        for j in range(3):
            out[i, j] = A[0, i] * B[0, j] + A[1, i] * B[1, j] + A[2, i] * B[2, j]


@kernel
def set_identity(out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 1.0 if i == j else 0.0


@kernel
def copy_matrix(A, out):
    for i in range(3):
        for j in range(3):
            out[i, j] = A[i, j]


@kernel((3,), (3, 3))
def exp_so3(r, R):
    """R = exp([r]x) = I + a [r]x + b [r]x^2,  a = sin t / t,  b = (1 - cos t) / t^2,  t = |r|  (Rodrigues)."""
    t2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
    if t2 < SMALL_ANGLE * SMALL_ANGLE:
        a = 1.0 - t2 / 6.0
        b = 0.5 - t2 / 24.0
    else:
        t = math.sqrt(t2)
        a = math.sin(t) / t
        half = math.sin(0.5 * t) / t  # 1 - cos t = 2 sin^2(t/2) keeps all digits
        b = 2.0 * half * half
    x, y, z = r[0], r[1], r[2]
    R[0, 0] = 1.0 - b * (y * y + z * z)
    R[1, 1] = 1.0 - b * (x * x + z * z)
    R[2, 2] = 1.0 - b * (x * x + y * y)
    R[0, 1] = b * x * y - a * z
    R[1, 0] = b * x * y + a * z
    R[0, 2] = b * x * z + a * y
    R[2, 0] = b * x * z - a * y
    R[1, 2] = b * y * z - a * x
    R[2, 1] = b * y * z + a * x


@kernel((3, 3), (3,))
def log_so3(R, r):
    """r with exp([r]x) = R, |r| <= pi: through the quaternion (Shepperd's largest pivot), exact at 0 and near pi."""
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    if trace > R[0, 0] and trace > R[1, 1] and trace > R[2, 2]:
        w = 1.0 + trace
        x = R[2, 1] - R[1, 2]
        y = R[0, 2] - R[2, 0]
        z = R[1, 0] - R[0, 1]
    elif R[0, 0] >= R[1, 1] and R[0, 0] >= R[2, 2]:
        w = R[2, 1] - R[1, 2]
        x = 1.0 + R[0, 0] - R[1, 1] - R[2, 2]
        y = R[0, 1] + R[1, 0]
        z = R[0, 2] + R[2, 0]
    elif R[1, 1] >= R[2, 2]:
        w = R[0, 2] - R[2, 0]
        x = R[0, 1] + R[1, 0]
        y = 1.0 + R[1, 1] - R[0, 0] - R[2, 2]
        z = R[1, 2] + R[2, 1]
    else:
        w = R[1, 0] - R[0, 1]
        x = R[0, 2] + R[2, 0]
        y = R[1, 2] + R[2, 1]
        z = 1.0 + R[2, 2] - R[0, 0] - R[1, 1]
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    n = math.sqrt(x * x + y * y + z * z)
    if n > 0.0:
        scale = 2.0 * math.atan2(n, w) / n
    else:
        scale = 0.0
    r[0], r[1], r[2] = scale * x, scale * y, scale * z


@kernel
def left_jacobian(r, rate, out):
    """Angular velocity of exp([r]x) when r changes at `rate`:  w = rate + b r x rate + c r x (r x rate),
    b = (1 - cos t) / t^2,  c = (t - sin t) / t^3  (Chirikjian, vol. 2, eq. 10.86)."""
    t2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
    if t2 < 1e-6:
        b = 0.5 - t2 / 24.0
        c = 1.0 / 6.0 - t2 / 120.0
    else:
        t = math.sqrt(t2)
        half = math.sin(0.5 * t) / t
        b = 2.0 * half * half
        c = (t - math.sin(t)) / (t2 * t)
    r_x_rate = vec3()
    r_x_r_x_rate = vec3()
    cross(r, rate, r_x_rate)
    cross(r, r_x_rate, r_x_r_x_rate)
    for i in range(3):
        out[i] = rate[i] + b * r_x_rate[i] + c * r_x_r_x_rate[i]


@kernel
def left_jacobian_inverse(r, w, out):
    """The inverse: rate of r when exp([r]x) turns with w:  rate = w - r x w / 2 + d r x (r x w),
    d = 1/t^2 - (1 + cos t) / (2 t sin t)."""
    t2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
    if t2 < 1e-4:
        d = 1.0 / 12.0 + t2 / 720.0
    else:
        t = math.sqrt(t2)
        d = (1.0 - 0.5 * t / math.tan(0.5 * t)) / t2
    r_x_w = vec3()
    r_x_r_x_w = vec3()
    cross(r, w, r_x_w)
    cross(r, r_x_w, r_x_r_x_w)
    for i in range(3):
        out[i] = w[i] - 0.5 * r_x_w[i] + d * r_x_r_x_w[i]


@kernel
def turn(R, w, dt):
    """R := exp([w dt]x) R, kept orthogonal by one Newton step R (3 I - R^T R) / 2. w in the outer axes [rad/s]."""
    step = vec3()
    for i in range(3):
        step[i] = w[i] * dt
    E = mat3()
    turned = mat3()
    exp_so3(step, E)
    multiply(E, R, turned)
    for i in range(3):
        for j in range(3):
            E[i, j] = -0.5 * (turned[0, i] * turned[0, j] + turned[1, i] * turned[1, j] + turned[2, i] * turned[2, j])
        E[i, i] += 1.5
    multiply(turned, E, R)


@kernel
def wrench_to_point(force, torque, lever, torque_at_point):
    """Torque of the same wrench about another point: t_point = t + lever x f, lever from the new point to the old."""
    moment = vec3()
    cross(lever, force, moment)
    for i in range(3):
        torque_at_point[i] = torque[i] + moment[i]
