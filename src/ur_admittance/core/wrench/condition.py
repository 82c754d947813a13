"""1  Raw sensor wrench -> what the environment does to the tool, about the TCP.

w = sign raw - bias - [W; c x W] + m [a; c x a]     W: weight, a: acceleration of the tool, sensor axes
w -> without the tool's vibration (vibration.py) -> low-pass -> moved to the TCP -> control axes -> soft deadband
(the last two in law/twist.py: contact is observed before the deadband)

The tick subtracts zeros in this file only: SAMPLE has what the sensors report, PARAMS the bias of each.
"""

import math

from ur_admittance.core.kernel import kernel, mat3, vec3, vec6
from ur_admittance.core.spatial import cross, multiply, norm, rotate, rotate_back, wrench_to_point

ACCELERATION_CUTOFF_HZ = 10.0  # of the estimate used for inertial compensation; above it the estimate is mostly noise
FADE_TIME = 0.5  # [s] time constant with which the load at an activation after a fault becomes felt
NOTHING = 1e-3  # [N, Nm]


@kernel
def smoothing(cutoff_hz, dt):
    """Weight of the new sample in a first-order low-pass with a fixed cutoff: 1 - exp(-2 pi f dt)."""
    return -math.expm1(-2.0 * math.pi * cutoff_hz * dt)


@kernel
def compensated_inertia(tool, virtual):
    """Part m' of the tool's mass m whose inertial force may be removed: m' = min(m, M - m), M: the virtual mass.

    The law sees M a_c = f - m G a_c + m' L a_c, G: the arm's response, L: the low-pass of the commanded acceleration,
    both with a gain of at most one. With m + m' <= M the loop gain stays below one whatever the delay."""
    return min(tool, max(0.0, virtual - tool))


@kernel
def condition(p, s, u, R_tcp, c):
    """Fills c.wrench_sensor (compensated, filtered) and c.wrench_tcp (about the TCP, base axes).
    Returns force [N] and torque about the TCP [Nm] before the filters: a spike must not hide behind them."""
    R_base_sensor = mat3()
    multiply(R_tcp, p.R_tcp_sensor, R_base_sensor)
    w = vec6()
    unload(p, s, u, R_base_sensor, w)

    weight_of_new = smoothing(p.filter_cutoff_hz, u.dt)
    if s.filter_ready == 0:
        weight_of_new = 1.0
        s.filter_ready = 1
    for i in range(6):
        calm = w[i] - p.sensor_sign * s.vibration.tone[i]
        s.wrench_filtered[i] += weight_of_new * (calm - s.wrench_filtered[i])
    lever, torque, torque_at_tcp = vec3(), vec3(), vec3()
    rotate_back(p.R_tcp_sensor, p.p_tcp_sensor, lever)
    wrench_to_point(w[:3], w[3:], lever, torque_at_tcp)

    rotate(R_tcp, p.p_tcp_sensor, lever)
    rotate(R_base_sensor, s.wrench_filtered[:3], c.wrench_tcp[:3])
    rotate(R_base_sensor, s.wrench_filtered[3:], torque)
    wrench_to_point(c.wrench_tcp[:3], torque, lever, c.wrench_tcp[3:])
    for i in range(6):
        c.wrench_sensor[i] = s.wrench_filtered[i]
    return norm(w[:3]), norm(torque_at_tcp)


@kernel
def unload(p, s, u, R_base_sensor, w):
    """w: the reading without bias, weight and inertia of the tool, not filtered, sensor frame. p: PARAMS or KNOWN."""
    inertia = compensated_inertia(p.tool_inertia_mass, min(s.mass[0], s.mass[1], s.mass[2]))
    load_base, load, load_torque = vec3(), vec3(), vec3()
    for i in range(3):
        load_base[i] = p.tool_weight_base[i] - inertia * s.acceleration[i]
    rotate_back(R_base_sensor, load_base, load)
    cross(p.tool_com, load, load_torque)
    for i in range(3):
        w[i] = p.sensor_sign * s.reading[i] - p.sensor_bias[i] - load[i]
        w[3 + i] = p.sensor_sign * s.reading[3 + i] - p.sensor_bias[3 + i] - load_torque[i]


@kernel
def load_of(bias, weight_base, com, R_base_sensor, out):
    """What a sensor reads, after its sign, when nothing touches the tool: bias + [W; c x W], sensor axes (6,)."""
    weight, moment = vec3(), vec3()
    rotate_back(R_base_sensor, weight_base, weight)
    cross(com, weight, moment)
    for i in range(3):
        out[i] = bias[i] + weight[i]
        out[3 + i] = bias[3 + i] + moment[i]


@kernel
def without(load, sign, raw, own):
    """own: a raw reading after its sign, without the load, sensor axes (6,)."""
    for i in range(6):
        own[i] = sign * raw[i] - load[i]


@kernel
def soft(value, threshold):
    """Continuous deadband: the threshold is subtracted, so that nothing jumps."""
    if value > threshold:
        return value - threshold
    if value < -threshold:
        return value + threshold
    return 0.0


@kernel
def fade(pressed, dt):
    for part in range(2):
        pressed[part] -= pressed[part] * min(1.0, dt / FADE_TIME)
        if pressed[part] < NOTHING:
            pressed[part] = 0.0


@kernel
def deadband(p, pressed, w):
    """Soft deadband in control axes, in place: norm thresholds for force and torque, then per axis.
    Axes under force control have none: it would bias the force. Returns whether all enabled axes are silent.

    pressed: [N, Nm] added to the thresholds. A contact that stopped the arm may still press on the tool when it is
    activated again: this load counts only as the addition fades, so that the arm lets go of it and does not leap."""
    silent = True
    for part in range(2):
        threshold = pressed[part] + (p.deadband_force if part == 0 else p.deadband_torque)
        square = 0.0
        for i in range(3 * part, 3 * part + 3):
            if p.force_axes[i] == 0.0:
                square += w[i] * w[i]
        magnitude = math.sqrt(square)
        keep = 1.0 - threshold / magnitude if magnitude > threshold else 0.0
        for i in range(3 * part, 3 * part + 3):
            if p.force_axes[i] == 0.0:
                w[i] = soft(keep * w[i], p.deadband_axis[i])
            if w[i] != 0.0 and p.enabled[i] != 0.0:
                silent = False
    return silent
