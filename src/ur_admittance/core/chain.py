"""The arm as a serial chain of six revolute joints: forward kinematics and Jacobian.

    T_base_tcp(q) = X[0] Rz(q0) X[1] Rz(q1) ... X[5] Rz(q5) X[6]

Every joint turns about the z axis of its own frame; other axes are turned into this form when a model is loaded.
"""

import math

from ur_admittance.core.kernel import kernel, mat3, vec3
from ur_admittance.core.spatial import copy_matrix, cross, multiply, rotate


@kernel((7, 3, 3), (7, 3), (6,), (3, 3), (3,), (6, 6))
def forward(rotation, position, q, R, p, J):
    """Pose of the TCP (R, p) and its Jacobian: twist = J(q) qd, linear first, base axes, about the TCP.

    A revolute joint with axis z through the point o gives the column [z x (p - o); z].
    """
    local = mat3()
    step = vec3()
    copy_matrix(rotation[0], R)
    for i in range(3):
        p[i] = position[0, i]
    for joint in range(6):
        for i in range(3):
            J[i, joint] = p[i]  # the point o, until p of the TCP is known
            J[3 + i, joint] = R[i, 2]
        c = math.cos(q[joint])
        s = math.sin(q[joint])
        for i in range(3):  # local = R Rz(q)
            local[i, 0] = c * R[i, 0] + s * R[i, 1]
            local[i, 1] = c * R[i, 1] - s * R[i, 0]
            local[i, 2] = R[i, 2]
        rotate(local, position[joint + 1], step)
        for i in range(3):
            p[i] += step[i]
        multiply(local, rotation[joint + 1], R)
    lever = vec3()
    axis = vec3()
    for joint in range(6):
        for i in range(3):
            lever[i] = p[i] - J[i, joint]
            axis[i] = J[3 + i, joint]
        cross(axis, lever, step)
        for i in range(3):
            J[i, joint] = step[i]


@kernel
def twist_of(J, qd, twist):
    for i in range(6):
        total = 0.0
        for k in range(6):
            total += J[i, k] * qd[k]
        twist[i] = total
