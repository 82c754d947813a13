"""Small parts of the controller outside the tick that run in the loop, compiled."""

import math

from ur_admittance.core.chain import forward
from ur_admittance.core.kernel import kernel, mat3, mat6, vec3, vec6
from ur_admittance.core.limits.line import FLOOR, LEVER
from ur_admittance.core.limits.obstacles import nearest_pair
from ur_admittance.core.limits.reach import ELBOW
from ur_admittance.core.limits.singular import damped_inverse, inverse_factor, singular_directions
from ur_admittance.core.records import PARAMS
from ur_admittance.core.spatial import log_so3, multiply, multiply_transposed, norm, set_identity
from ur_admittance.core.wrench.condition import load_of, without

BETWEEN = 0.004  # [rad] that all joints together turn between two looks along a way
BENT = FLOOR + 0.5 * LEVER * BETWEEN  # [m/rad] smallest singular value at a look: between two it stays above FLOOR
APART = 1.0  # [m] beyond which no distance matters
JOINT, WHICH, WALL, BODY, ONE, TWO, SINGULAR, ROOMS = range(8)  # of the room that an arm has; ROOMS: their number
NEWTON, FOUND = 3, 1e-6  # steps, of which the last turns the joints by less [rad]: from 2 mm off, by 1e-10
CATCHING_UP = 0.05  # of the tool's speed limits, above them: or joints that are late would stay so while it is at one


@kernel(PARAMS, (6,), (6,), (6,), (3, 3))
def without_weight(p, q, raw, reading, R_base_sensor):
    """reading = sign raw - [W; c x W], sensor frame (6,): a raw wrench at rest without the tool's weight."""
    R_base_tcp, position, jacobian = mat3(), vec3(), mat6()
    forward(p.chain_rotation, p.chain_position, q, R_base_tcp, position, jacobian)
    multiply(R_base_tcp, p.R_tcp_sensor, R_base_sensor)
    no_bias, weight = vec6(), vec6()
    no_bias[:] = 0.0
    load_of(no_bias, p.tool_weight_base, p.tool_com, R_base_sensor, weight)
    without(weight, p.sensor_sign, raw, reading)


@kernel(PARAMS, (6,), (6,), returns=float)
def spare_joint_speed(p, q, twist):
    """By how much every joint at q may be faster than in a motion of the TCP with this twist before one of the tool's
    speed limits is reached, whatever the directions [rad/s]; at the limit it is exceeded by CATCHING_UP."""
    rotation, position, jacobian = mat3(), vec3(), mat6()
    forward(p.chain_rotation, p.chain_position, q, rotation, position, jacobian)
    lever = 0.0
    for i in range(6):
        lever += math.sqrt(jacobian[0, i] ** 2 + jacobian[1, i] ** 2 + jacobian[2, i] ** 2)
    linear = max(p.max_velocity[0] - norm(twist[:3]), CATCHING_UP * p.max_velocity[0])
    angular = max(p.max_velocity[1] - norm(twist[3:]), CATCHING_UP * p.max_velocity[1])
    return min(linear / lever, angular / 6.0)


@kernel(PARAMS, (6,), (3, 3), (3,), (6, 6), (ROOMS,))
def look(p, q, R, position, jacobian, room):
    """TCP and Jacobian at the joint angles q, and the room left there, negative beyond a limit: of a joint [rad] and
    which, to the walls [m], to what the arm must not touch [m] and which two bodies, to a singular pose [m/rad]."""
    forward(p.chain_rotation, p.chain_position, q, R, position, jacobian)
    room[JOINT] = room[WALL] = math.inf
    for i in range(6):
        here = min(q[i] - p.joint_lower[i], p.joint_upper[i] - q[i])
        if here < room[JOINT]:
            room[JOINT], room[WHICH] = here, i
    for i in range(3):
        room[WALL] = min(room[WALL], min(position[i] - p.workspace_min[i], p.workspace_max[i] - position[i]))
    room[BODY], room[ONE], room[TWO] = math.inf, -1.0, -1.0
    if p.shapes.on != 0:
        distance, one, two = nearest_pair(p, q, APART)
        room[BODY], room[ONE], room[TWO] = distance - p.shapes.clearance, one, two
    C, U, sigma2 = mat6(), mat6(), vec6()
    sigma = inverse_factor(jacobian, C)
    if sigma < BENT:  # that is a lower bound
        set_identity(U)
        singular_directions(jacobian, U, sigma2)
        sigma = math.inf
        for i in range(6):
            sigma = min(sigma, math.sqrt(sigma2[i]))
    room[SINGULAR] = sigma - BENT
    if p.elbow_margin > 0.0:
        room[SINGULAR] = min(room[SINGULAR], abs(q[ELBOW]) - p.elbow_margin)


@kernel(PARAMS, (6,), (3, 3), (3,), returns=bool)
def reach(p, q, R_goal, p_goal):
    """q := the joint angles nearby with which the TCP is at the goal (Newton). False: there are none."""
    R, position, J, C, away = mat3(), vec3(), mat6(), mat6(), mat3()
    error, step, turned = vec6(), vec6(), math.inf
    for _ in range(NEWTON):
        forward(p.chain_rotation, p.chain_position, q, R, position, J)
        if inverse_factor(J, C) == 0.0:
            return False
        multiply_transposed(R_goal, R, away)
        log_so3(away, error[3:])
        for i in range(3):
            error[i] = p_goal[i] - position[i]
        damped_inverse(J, C, error, step)
        turned = 0.0
        for i in range(6):
            q[i] += step[i]
            turned += abs(step[i])
    return turned < FOUND
