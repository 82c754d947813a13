"""One control period of the plant: delay, lag, joint PD, the hand, MuJoCo's steps and the sensor, compiled as one.

MuJoCo is called from inside the kernel through the addresses of its C functions, so that Python stays out of the
physics steps: a period costs little more than MuJoCo itself. Within a step of length h at time t
    mj_step1    positions and velocities of all bodies at t, gravity and Coriolis torque
    (here)      joint torques, the hand's wrench
    mj_step2    contacts, accelerations, sensors at t; then on to t + h
"""

import math

from ur_admittance.core.kernel import call_at, doubles_at, kernel, vec3, vec6
from ur_admittance.core.spatial import cross
from ur_admittance.robots.simulated.kernels.holding import push_tool
from ur_admittance.robots.simulated.kernels.plant_record import ENGINE, PLANT

MAX_SPEED = 1e3  # [rad/s] no arm is that fast: the simulation has diverged
MEAN_S = 0.1  # [s] over which a sensor averages before it zeroes itself


@kernel
def follow_command(plant, commands, share, q_start, q_end, h):
    """Straight line -> delay -> lag; leaves y, yd at the end of this step.

    First-order lag, input a straight line from u0 to u1 within h (exact):
        y1 = a y0 + u1 - a u0 - (u1 - u0) (1 - a) / (w h),  a = exp(-w h),   yd = w (u1 - y1)
    """
    slots = commands.shape[0]
    now = plant.steps % slots
    then = (plant.steps - plant.command_delay) % slots
    for j in range(6):
        commands[now, j] = q_start[j] + share * (q_end[j] - q_start[j])
    for j in range(6):
        u0 = plant.delayed[j]
        u1 = commands[then, j]
        plant.delayed[j] = u1
        if math.isinf(plant.lag):
            plant.y[j] = u1
            plant.yd[j] = (u1 - u0) / h
        else:
            wh = plant.lag * h
            a = math.exp(-wh)
            plant.y[j] = a * plant.y[j] + u1 - a * u0 - (u1 - u0) * (1.0 - a) / wh
            plant.yd[j] = plant.lag * (u1 - plant.y[j])


@kernel
def joint_torques(plant, q, qd, bias, axes, anchors, p_com, qfrc):
    """kp (y - q) + kd (yd - qd) + gravity and Coriolis torque, within the motors' limits."""
    arm = vec3()
    moment = vec3()
    for j in range(6):
        torque = plant.kp[j] * (plant.y[j] - q[j]) + plant.kd[j] * (plant.yd[j] - qd[j]) + bias[j]
        for i in range(3):
            arm[i] = p_com[i] - anchors[j, i]
        cross(arm, plant.payload_excess, moment)
        torque -= axes[j, 0] * moment[0] + axes[j, 1] * moment[1] + axes[j, 2] * moment[2]
        if torque > plant.effort[j]:  # written so that a NaN stays one
            torque = plant.effort[j]
        elif torque < -plant.effort[j]:
            torque = -plant.effort[j]
        plant.torque[j] = torque
        qfrc[j] = plant.torque[j]


@kernel
def keep_truth(plant, scale, origin, p_com, p_tcp, p_grip, wrench, external):
    """Add this step to the mean external wrench about the TCP, and to the part of it that the hand does not explain.
    The tool shakes itself: that is not external."""
    lever = vec3()
    f = vec3()
    moment = vec3()
    own = vec3()
    for i in range(3):
        lever[i] = p_com[i] - origin[i]
    cross(lever, plant.shake, own)
    for i in range(3):  # from MuJoCo's origin to the TCP
        lever[i] = origin[i] - p_tcp[i]
        f[i] = external[3 + i] - plant.shake[i]
    cross(lever, f, moment)
    for i in range(3):
        moment[i] += external[i] - own[i]
        plant.external[i] += scale * f[i]
        plant.external[3 + i] += scale * moment[i]
        plant.contact[i] += scale * (f[i] - wrench[i])
        lever[i] = p_grip[i] - p_tcp[i]
        plant.contact[3 + i] += scale * (moment[i] - wrench[3 + i])
    cross(lever, wrench[:3], moment)
    for i in range(3):
        plant.contact[3 + i] -= scale * moment[i]


@kernel
def sense(plant, readings, sensed, scale):
    """Add the reading of ``sensor_delay`` steps ago to the mean of this period."""
    slots = readings.shape[0]
    now = plant.steps % slots
    then = (plant.steps - plant.sensor_delay) % slots
    for k in range(6):
        readings[now, k] = -sensed[k]  # MuJoCo: what the wrist does to the tool
        plant.clean[k] += scale * readings[then, k]


@kernel(PLANT, (12,), float, name="plant_report")
def report(plant, noise, period):
    """The mean reading of this period as the sensor reports it; twelve normal random numbers for noise and drift."""
    for k in range(6):
        plant.drift[k] += plant.drift_rate[k] * math.sqrt(period) * noise[6 + k]
        value = plant.sign * plant.clean[k] + plant.bias[k] + plant.drift[k] + plant.noise[k] * noise[k]
        if plant.resolution[k] > 0.0:
            value = plant.resolution[k] * math.floor(value / plant.resolution[k] + 0.5)
        plant.wrench[k] = value
        plant.recent[k] += min(1.0, period / MEAN_S) * (value - plant.recent[k])


@kernel(ENGINE, PLANT, (6,), (12,), name="plant_advance", returns=bool)
def advance(e, plant, q_end, noise):
    """``count`` physics steps of ``h`` [s] towards ``q_end``. False when motion or command are out of all bounds."""
    q, qd, qfrc = doubles_at(e.q, (6,)), doubles_at(e.qd, (6,)), doubles_at(e.applied_torque, (6,))
    bias, axes = doubles_at(e.bias_torque, (6,)), doubles_at(e.axes, (6, 3))
    anchors, p_com = doubles_at(e.anchors, (6, 3)), doubles_at(e.p_com, (3,))
    p_tcp, origin = doubles_at(e.p_tcp, (3,)), doubles_at(e.origin, (3,))
    external, sensed = doubles_at(e.external, (6,)), doubles_at(e.sensed, (6,))
    commands = doubles_at(e.commands, (e.command_slots, 6))
    readings = doubles_at(e.readings, (e.reading_slots, 6))
    p_grip = vec3()
    wrench = vec6()  # of the hand, about the grip
    scale = 1.0 / e.count
    for k in range(6):
        plant.external[k] = 0.0
        plant.contact[k] = 0.0
        plant.hand_wrench[k] = 0.0
        plant.clean[k] = 0.0
    for step in range(e.count):
        call_at(e.mj_step1, e.model, e.data)
        joint_torques(plant, q, qd, bias, axes, anchors, p_com, qfrc)
        for j in range(6):  # before MuJoCo sees it: it would write a log file
            if not (abs(qfrc[j]) < math.inf and abs(qd[j]) < MAX_SPEED):
                return False
        follow_command(plant, commands, (step + 1) * scale, plant.setpoint, q_end, e.h)
        push_tool(plant, e, step * scale, scale, p_grip, wrench)
        call_at(e.mj_step2, e.model, e.data)
        keep_truth(plant, scale, origin, p_com, p_tcp, p_grip, wrench, external)
        sense(plant, readings, sensed, scale)
        plant.steps += 1
    for j in range(6):
        plant.setpoint[j] = q_end[j]
    report(plant, noise, e.count * e.h)
    return True
