"""Our side of every demonstration: the real controller on an arm that follows every command at once."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import COMMAND, new
from ur_admittance.model import RobotModel, robot_model
from ur_admittance.params import Parameters
from ur_admittance_lab.null_robot import NullRobot

Array = NDArray[np.float64]
DT = 0.002  # [s]
MASS, DAMPING = 8.0, 64.0  # [kg], [Ns/m] the defaults, used on both sides
UR5E: RobotModel = robot_model("ur5e")
IDEAL_ARM = {
    "admittance.min_motion_threshold": 0.0,
    "admittance.min_motion_threshold_torque": 0.0,
}  # nothing subtracted


def comply(
    wrench: Callable[[float], Any],
    seconds: float,
    changes: dict[str, Any] | None = None,
    q: Any = None,
    twist: Any = None,
    engage: float = 1.1,
) -> NDArray[Any]:
    """One COMMAND record per tick while `wrench(t)` (base axes, about the TCP, sensor at the flange) acts on the tool.

    engage: seconds before t = 0 in which the spring ramps up; twist: velocity of the reference.
    """
    controller = AdmittanceController(UR5E, Parameters().changed(changes or {}))
    controller.configure()
    robot = NullRobot(DT, q, UR5E)
    R_base_sensor = np.eye(3)
    trace = new(COMMAND, round((seconds + engage) / DT))
    controller.activate()
    for i in range(len(trace)):
        t = (i + 1) * DT - engage
        w = np.asarray(wrench(t) if t > 0.0 else np.zeros(6), dtype=float)
        robot.wrench[:3], robot.wrench[3:] = R_base_sensor.T @ w[:3], R_base_sensor.T @ w[3:]
        if twist is not None:
            controller.set_reference_twist(twist if t > 0.0 else np.zeros(6))
        robot.read(controller.sample)
        controller.update()
        robot.write(controller.command)
        trace[i] = controller.command
        R_base_sensor = np.array(controller.command["R_tcp"])
    return trace[round(engage / DT) :]


def times(trace: NDArray[Any]) -> Array:
    return np.arange(len(trace)) * DT


def cross(p: Array) -> Array:
    """[p] with [p] w = p x w."""
    return np.array([[0, -p[2], p[1]], [p[2], 0, -p[0]], [-p[1], p[0], 0.0]])


def jacobian(q: Array) -> Array:
    """(6, 6) about the flange, base axes, by central differences: independent of the code that it is compared with."""
    J, h = np.zeros((6, 6)), 1e-6
    R0 = UR5E.forward(q)[0]
    for i in range(6):
        step = np.eye(6)[i] * h
        (R_plus, p_plus), (R_minus, p_minus) = UR5E.forward(q + step), UR5E.forward(q - step)
        J[:3, i] = (p_plus - p_minus) / (2 * h)
        W = (R_plus - R_minus) / (2 * h) @ R0.T
        J[3:, i] = W[2, 1], W[0, 2], W[1, 0]
    return J
