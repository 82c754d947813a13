"""One control period of the plant: delay, lag, joint PD, the hand, MuJoCo's steps and the sensor, compiled as one.

MuJoCo is called from inside the kernel through its C functions, so that Python stays out of the physics steps: a
period costs little more than MuJoCo itself. Within a step of length h at time t
    mj_step1    positions and velocities of all bodies at t, gravity and Coriolis torque
    (here)      joint torques, the hand's wrench
    mj_step2    contacts, accelerations, sensors at t; then on to t + h
"""

import ctypes
import math
from pathlib import Path

import llvmlite.binding as llvm
import mujoco
import numpy as np
from numba import config, types

from ur_admittance.core.compile import kernel, vec3, vec6
from ur_admittance.core.spatial import cross
from ur_admittance.robots.simulated.kernels.holding import push_tool

F = np.float64
I = np.int64  # noqa: E741

MAX_SPEED = 1e3  # [rad/s] no arm is that fast: the simulation has diverged
MEAN_S = 0.1  # [s] over which a sensor averages before it zeroes itself

PLANT = np.dtype(
    [
        ("steps", I),  # physics steps since the reset
        # servo
        ("kp", F, 6),  # [Nm/rad]
        ("kd", F, 6),  # [Nms/rad]
        ("effort", F, 6),  # [Nm]
        ("lag", F),  # [rad/s], inf: none
        ("command_delay", I),  # [steps]
        ("setpoint", F, 6),  # end of the last straight line [rad]
        ("delayed", F, 6),  # the command that comes out of the delay [rad]
        ("y", F, 6),  # after the lag [rad]
        ("yd", F, 6),  # [rad/s]
        ("torque", F, 6),  # [Nm]
        ("payload_excess", F, 3),  # weight that the arm wrongly compensates, base axes [N]
        # the hand
        ("grip", F, 3),  # where the hand holds, in tool axes, from the tool's origin [m]
        ("hand", I),  # what it does: robots/simulated/kernels/holding.py
        ("p_grab", F, 3),  # where it took hold, base axes [m]
        ("R_grab", F, (3, 3)),
        ("hand_displacement", F, 6),  # how far it has led the tool since then [m, rad]
        ("hand_stiffness", F, 2),  # [N/m, Nm/rad]
        ("hand_damping", F, 2),  # [Ns/m, Nms/rad]
        ("hand_mass", F),  # of the hand's own body, 0: none [kg]
        ("p_hand", F, 3),  # where that body is, base axes [m]
        ("v_hand", F, 3),  # [m/s]
        ("hand_from", F, 3),  # hand position at the start and the end of the period [m]
        ("hand_to", F, 3),
        ("hand_velocity", F, 6),  # [m/s, rad/s]
        ("R_base_hand", F, (3, 3)),  # how the hand wants the tool turned
        ("push_from", F, 6),  # wrench about the grip, base axes, at the start and the end of the period
        ("push_to", F, 6),
        ("hand_wrench", F, 6),  # about the grip, base axes, mean over the period [N, Nm]
        ("hand_work", F),  # [J]
        # truth, mean over the period, about the TCP, base axes
        ("external", F, 6),  # hand and contacts
        ("contact", F, 6),  # contacts only
        # sensor
        ("sensor_delay", I),  # [steps]
        ("sign", F),
        ("bias", F, 6),
        ("drift", F, 6),  # where the random walk is [N, Nm]
        ("drift_rate", F, 6),  # [N/sqrt(s)]
        ("noise", F, 6),
        ("resolution", F, 6),
        ("clean", F, 6),  # before bias, drift, noise and resolution
        ("wrench", F, 6),  # the reading
        ("recent", F, 6),  # its mean over about the last 0.1 s, for zeroing
    ],
    align=True,
)


def new_plant() -> np.ndarray:
    """One zeroed record, as an array. Without the compiler its fields need a recarray to be read as attributes."""
    records = np.zeros(1, PLANT)
    return records.view(np.recarray) if config.DISABLE_JIT else records


def _mujoco_library():
    folder = Path(mujoco.__file__).parent
    names = [path for pattern in ("libmujoco*", "mujoco.dll") for path in folder.glob(pattern)]
    return ctypes.CDLL(str(names[0]))


def _engine_function(name):
    """A MuJoCo function f(model address, data address) that kernels can call."""
    function = getattr(_mujoco_library(), name)
    if config.DISABLE_JIT:
        function.argtypes, function.restype = (ctypes.c_void_p, ctypes.c_void_p), None
        return function
    llvm.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)
    return types.ExternalFunction(name, types.void(types.uintp, types.uintp))


mj_step1 = _engine_function("mj_step1")
mj_step2 = _engine_function("mj_step2")
mj_kinematics = _engine_function("mj_kinematics")


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
def keep_truth(plant, scale, origin, p_tcp, p_grip, wrench, external):
    """Add this step to the mean external wrench about the TCP, and to the part of it that the hand does not explain."""
    lever = vec3()
    f = vec3()
    moment = vec3()
    for i in range(3):  # from MuJoCo's origin to the TCP
        lever[i] = origin[i] - p_tcp[i]
        f[i] = external[3 + i]
    cross(lever, f, moment)
    for i in range(3):
        plant.external[i] += scale * external[3 + i]
        plant.external[3 + i] += scale * (external[i] + moment[i])
        plant.contact[i] += scale * (external[3 + i] - wrench[i])
        lever[i] = p_grip[i] - p_tcp[i]
        plant.contact[3 + i] += scale * (external[i] + moment[i] - wrench[3 + i])
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


@kernel
def report(plant, noise, period):
    """The mean reading of this period as the sensor reports it; twelve normal random numbers for noise and drift."""
    for k in range(6):
        plant.drift[k] += plant.drift_rate[k] * math.sqrt(period) * noise[6 + k]
        value = plant.sign * plant.clean[k] + plant.bias[k] + plant.drift[k] + plant.noise[k] * noise[k]
        if plant.resolution[k] > 0.0:
            value = plant.resolution[k] * math.floor(value / plant.resolution[k] + 0.5)
        plant.wrench[k] = value
        plant.recent[k] += min(1.0, period / MEAN_S) * (value - plant.recent[k])


@kernel
def advance(engine, q_end, noise):
    """``count`` physics steps of ``h`` [s] towards ``q_end``. False when motion or command are out of all bounds.

    engine (World.engine): addresses of MuJoCo's structs, the plant, count and h, what is delayed, views into the
    structs. velocity, external: MuJoCo's spatial vectors, angular first, about ``origin`` (the arm's centre of mass),
    base axes.
    """
    model, data, records, count, h, commands, readings, views = engine
    q, qd, qfrc, bias, axes, anchors, _, _, p_com, p_tcp, _, origin, _, external, sensed = views
    plant = records[0]
    p_grip = vec3()
    wrench = vec6()  # of the hand, about the grip
    scale = 1.0 / count
    for k in range(6):
        plant.external[k] = 0.0
        plant.contact[k] = 0.0
        plant.hand_wrench[k] = 0.0
        plant.clean[k] = 0.0
    for step in range(count):
        mj_step1(model, data)
        joint_torques(plant, q, qd, bias, axes, anchors, p_com, qfrc)
        for j in range(6):  # before MuJoCo sees it: it would write a log file
            if not (abs(qfrc[j]) < math.inf and abs(qd[j]) < MAX_SPEED):
                return False
        follow_command(plant, commands, (step + 1) * scale, plant.setpoint, q_end, h)
        push_tool(plant, step * scale, scale, h, views, p_grip, wrench)
        mj_step2(model, data)
        keep_truth(plant, scale, origin, p_tcp, p_grip, wrench, external)
        sense(plant, readings, sensed, scale)
        plant.steps += 1
    for j in range(6):
        plant.setpoint[j] = q_end[j]
    report(plant, noise, count * h)
    return True
