"""The force that no controller could have avoided when a tool hit something.

Commands are as they were until the first sample that can show the touch. From then on they are the best there are: they
brake as hard as the limits of acceleration allow, and go back as fast as they came. The hand keeps pressing as it did.
The arm in joint space, about the pose of the start,

    M q'' = kp (y - q) + kd (y' - q') + J^T F,    F = hand + n K x + friction

y: command after delay and lag; F: on the tool; x: how deep it is in the surface. Friction matters: a tool that sticks
cannot give way sideways, which makes the arm a fourth stiffer. With the commands that a simulated arm really got, this
gives its peak within 12 %.
"""

import math

import mujoco
import numpy as np
from numpy.typing import NDArray

from ur_admittance.model import robot_model
from ur_admittance.robots.simulated import Environment
from ur_admittance_lab.campaign.draw import tcp_jacobian
from ur_admittance_lab.episodes import Case, Trace

Array = NDArray[np.float64]

STEP = 1e-4  # [s]
HORIZON = 0.15  # [s] within which the best braking has stopped any tool
APPROACH = 0.1  # [s] before the touch from which the arm is followed


def unavoidable(case: Case, trace: Trace, first: int, unknown: float | None = None) -> float:
    """Largest force [N] in the sensor after the touch in row ``first``, of a controller that knows of the touch from
    the first sample that can show it, or ``unknown`` [s] after it."""
    model, world, period = robot_model(case.robot), case.world(), case.script.period
    M = np.zeros((6, 6))
    mujoco.mj_fullM(world.mj_model, world.mj_data, M)
    kp, kd, inverse = world.plants[0]["kp"], world.plants[0]["kd"], np.linalg.inv(M)
    J = tcp_jacobian(model, np.array(case.q), case.tool)
    normal, stiffness, lag = case.environment.normal, case.environment.stiffness, 2.0 * math.pi * case.servo.lag_hz
    way = np.linalg.lstsq(J, np.r_[-normal, np.zeros(3)], rcond=None)[0]  # joints for 1 m straight in
    limits = np.array(case.parameters.joint_limits.acceleration) / np.maximum(np.abs(way), 1e-9)
    brake = min(case.parameters.max_linear_acceleration, float(limits.min()))
    before = min(first, round(APPROACH / period))
    late = case.sensor.delay if unknown is None else unknown
    rates = (-trace.command["twist"][first - before :, :3] @ normal)[: before + math.ceil(late / period - 1e-9)]
    hand, J = trace.hand[first, :3], J[:3]
    rate, peak, y = float(rates[0]), 0.0, 0.0
    command = rate / lag
    q, qd, surface, stuck = J.T @ hand / kp, way * rate, np.zeros(3), np.zeros(3)  # bent by the hand
    for i in range(round((before * period + HORIZON) / STEP)):
        row = max(0, math.floor((i * STEP - case.servo.delay) / period))
        rate = float(rates[row]) if row < len(rates) else max(rate - brake * STEP, -float(rates[-1]))
        command += rate * STEP
        yd = lag * (command - y)
        y += yd * STEP
        force = hand
        if i * STEP < before * period:
            surface = stuck = J @ q + normal * float(trace.contact[first, :3] @ normal) / stiffness
        else:
            touch, stuck = contact_force(case.environment, J @ q - surface, J @ q - stuck)
            force, stuck = hand + touch, J @ q - stuck
        qdd = inverse @ (kp * (way * y - q) + kd * (way * yd - qd) + J.T @ force)
        qd += qdd * STEP
        q += qd * STEP
        if force is not hand:
            peak = max(peak, float(np.linalg.norm(force - case.tool.mass * J @ qdd)))
    return peak


def contact_force(surface: Environment, moved: Array, slid: Array) -> tuple[Array, Array]:
    """Force on a tool that moved that far [m] since it touched, and how far it is now from where it stuck [m]."""
    normal = surface.normal
    pressed = max(0.0, -surface.stiffness * float(moved @ normal))
    slid = slid - normal * float(slid @ normal)
    holds = surface.friction * pressed / surface.stiffness
    slid = slid * min(1.0, holds / max(float(np.linalg.norm(slid)), 1e-12))
    return pressed * normal - surface.stiffness * slid, slid
