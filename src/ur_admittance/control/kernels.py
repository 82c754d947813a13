"""Small parts of the controller outside the tick that run in the loop, compiled."""

import math

from ur_admittance.core.chain import forward
from ur_admittance.core.kernel import kernel, mat3, mat6, vec3, vec6
from ur_admittance.core.records import PARAMS
from ur_admittance.core.spatial import multiply, norm
from ur_admittance.core.wrench.condition import load_of, without

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
