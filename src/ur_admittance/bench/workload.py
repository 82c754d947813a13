"""What everybody computes: a UR5e with a tool, pushed with 10 N, that moves so that its Jacobian changes every tick."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.records import PARAMS, new
from ur_admittance.model import RobotModel, robot_model
from ur_admittance.model.frames import rotation_from_rpy
from ur_admittance.params import Parameters
from ur_admittance.params.record import fill

Array = NDArray[np.float64]

PERIOD = 0.002  # [s]
PUSH = 10.0  # [N]
TWISTING = 1.0  # [Nm]
TURN_TICKS = 1000  # the push turns once around the tool axis in 2 s: the arm goes in a circle of 4 cm
TWISTS_PER_TURN = 3  # another frequency than the push, or their product would make the arm drift away

# Every step of the wrench conditioning has something to do: bias, weight, lever arm, turned sensor, walls.
SETTINGS = {
    "sensor.bias": [1.0, -2.0, 3.0, 0.05, -0.1, 0.02],
    "sensor.rotation": [0.0, 0.0, 0.3],
    "tool.mass": 0.8,
    "tool.center_of_mass": [0.0, 0.01, 0.05],
    "tool.tcp": [0.0, 0.0, 0.12, 0.0, 0.0, 0.0],
    "workspace.min": [-0.8, -0.8, 0.0],
    "workspace.max": [0.8, 0.8, 1.2],
}


@dataclass(frozen=True)
class Workload:
    model: RobotModel
    parameters: Parameters
    params: NDArray[np.void]  # one PARAMS record
    pushes: Array  # (n, 6) raw sensor readings, repeated [N, Nm]

    @property
    def home(self) -> Array:
        return np.asarray(self.model.home)


def circling(rows: int = TURN_TICKS) -> Workload:
    """The push turns around the tool axis while the tool is twisted to and fro."""
    phase = 2.0 * np.pi * np.arange(rows) / rows
    zero = np.zeros(rows)
    wrench_tcp = np.column_stack(
        [PUSH * np.cos(phase), PUSH * np.sin(phase), zero, zero, zero, TWISTING * np.sin(TWISTS_PER_TURN * phase)]
    )
    return _workload(wrench_tcp)


def steady() -> Workload:
    """10 N along the tool's x axis, held: the arm reaches (10 N - deadband) / damping."""
    return _workload(np.array([[PUSH, 0.0, 0.0, 0.0, 0.0, 0.0]]))


def _workload(wrench_tcp: Array) -> Workload:
    """wrench_tcp: (n, 6) about the TCP in sensor axes -> what the sensor would read with the arm at home."""
    model = robot_model("ur5e")
    parameters = Parameters().changed(SETTINGS)
    params = new(PARAMS)
    p = params[0]
    fill(p, parameters, model)
    p["revision"] = 1

    R_base_flange, _ = model.forward(model.home)
    R_base_tcp = R_base_flange @ rotation_from_rpy(parameters.tool.tcp[3:])
    R_base_sensor = R_base_tcp @ p["R_tcp_sensor"]
    weight = R_base_sensor.T @ p["tool_weight_base"]
    load = np.concatenate([weight, np.cross(p["tool_com"], weight)])
    sensor_to_tcp = -p["R_tcp_sensor"].T @ p["p_tcp_sensor"]
    pushes = wrench_tcp + load + p["sensor_bias"]
    pushes[:, 3:] += np.cross(sensor_to_tcp, wrench_tcp[:, :3])
    return Workload(model, parameters, params, pushes)
