"""Small parts of the controller outside the tick that run in the loop, compiled."""

import math

from ur_admittance.core.chain import forward
from ur_admittance.core.compile import kernel, mat3, mat6, vec3, vec6
from ur_admittance.core.spatial import multiply, norm
from ur_admittance.core.wrench.condition import load_of, without

CATCHING_UP = 0.05  # of the tool's speed limits, above them: or joints that are late would stay so while it is at one


@kernel
def statistics(samples, mean_q, mean_wrench, spread):
    """Means and standard deviations (6,) of samples (n,); returns the fastest joint speed [rad/s]."""
    n = samples.shape[0]
    fastest = 0.0
    for i in range(6):
        sum_q, sum_w = 0.0, 0.0
        for k in range(n):
            sum_q += samples[k].q[i]
            sum_w += samples[k].wrench[i]
            speed = abs(samples[k].qd[i])
            if not speed <= fastest:  # NaN too
                fastest = speed
        mean_q[i], mean_wrench[i] = sum_q / n, sum_w / n
        square = 0.0
        for k in range(n):
            square += (samples[k].wrench[i] - mean_wrench[i]) ** 2
        spread[i] = math.sqrt(square / n)
    return fastest


@kernel
def without_weight(params, q, raw, reading, R_base_sensor):
    """reading = sign raw - [W; c x W], sensor frame (6,): a raw wrench at rest without the tool's weight."""
    p = params[0]
    R_base_tcp, position, jacobian = mat3(), vec3(), mat6()
    forward(p.chain_rotation, p.chain_position, q, R_base_tcp, position, jacobian)
    multiply(R_base_tcp, p.R_tcp_sensor, R_base_sensor)
    no_bias, weight = vec6(), vec6()
    no_bias[:] = 0.0
    load_of(no_bias, p.tool_weight_base, p.tool_com, R_base_sensor, weight)
    without(weight, p.sensor_sign, raw, reading)


@kernel
def spare_joint_speed(params, q, twist):
    """By how much every joint at q may be faster than in a motion of the TCP with this twist before one of the tool's
    speed limits is reached, whatever the directions [rad/s]; at the limit it is exceeded by CATCHING_UP."""
    p = params[0]
    rotation, position, jacobian = mat3(), vec3(), mat6()
    forward(p.chain_rotation, p.chain_position, q, rotation, position, jacobian)
    lever = 0.0
    for i in range(6):
        lever += math.sqrt(jacobian[0, i] ** 2 + jacobian[1, i] ** 2 + jacobian[2, i] ** 2)
    linear = max(p.max_velocity[0] - norm(twist[:3]), CATCHING_UP * p.max_velocity[0])
    angular = max(p.max_velocity[1] - norm(twist[3:]), CATCHING_UP * p.max_velocity[1])
    return min(linear / lever, angular / 6.0)
