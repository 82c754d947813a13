"""Parameters of sim_node, and the world they describe."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ur_admittance.model import RobotModel
from ur_admittance.robots.simulated import Environment, FtSensor, Tool, World
from ur_admittance_lab.driver.driver_program import UNLOCK_S
from ur_admittance_lab.driver.generations import DEFAULT, GENERATIONS

PARAMETERS: dict[str, tuple[Any, str]] = {
    "driver": (DEFAULT, f"whose rules it keeps: {', '.join(GENERATIONS)}"),
    "controller": ("default", "motion controller that is active from the start; default: as the driver's launch file"),
    "model": ("ur5e", "type of the arm"),
    "tf_prefix": ("", "of links, joints and frames, as the driver's launch argument"),
    "rate": (500.0, "states per second [Hz]"),
    "realtime_factor": (1.0, "simulated seconds per second; other than 1 needs publish_clock"),
    "publish_clock": (False, "simulated time on /clock, for nodes with use_sim_time"),
    "patience": (0.0, "how long simulated time waits for the next command of a client that has sent one [s, real]"),
    "publish_wrench": (True, "false: somebody else plays the force sensor"),
    "start": ([float("nan")] * 6, "joint angles at the start [rad]; NaN: home"),
    "unlock_delay": (UNLOCK_S, "from a protective stop to its end at the earliest [s]"),
    "tool.mass": (0.0, "[kg]; with a tool the controller needs the same tool.* or a calibration"),
    "tool.center_of_mass": ([0.0, 0.0, 0.0], "flange frame [m]"),
    "tool.tcp": ([0.0, 0.0, 0.0], "position of the TCP in the flange frame [m]"),
    "sensor.noise_force": (0.0, "standard deviation [N]"),
    "sensor.noise_torque": (0.0, "standard deviation [Nm]"),
    "sensor.bias": ([0.0] * 6, "[N, Nm]"),
    "seed": (0, "of the noise"),
    "realtime_priority": (0, "SCHED_FIFO priority, 1 to 99; 0: an ordinary process"),
}
LIVE: dict[str, tuple[Any, str]] = {
    "speed_scaling": (1.0, "0..1, as the speed slider of the pendant"),
    "digital_inputs": (0, "of the control box and the tool, bit by bit: 8 standard, 8 configurable, 2 of the tool"),
    "pendant.tcp": ([0.0] * 6, "TCP as set on the pendant, flange frame [m, rotation vector in rad]"),
    "pendant.payload": (0.0, "mass whose weight the robot takes off its readings [kg]"),
    "pendant.center_of_gravity": ([0.0, 0.0, 0.0], "of that payload, flange frame [m]"),
    "refuse": (False, "whether the controllers refuse all that they are told, as they do with what they do not like"),
    "switch.to": ("none", "motion controller that ~/switch makes the active one"),
    "push.wrench": ([10.0, 0.0, 0.0, 0.0, 0.0, 0.0], "what ~/push does to the tool, at the TCP, base axes [N, Nm]"),
    "push.duration": (1.0, "for how long [s]"),
    "environment.kind": ("none", "none, floor, wall, incline, cylinder or hole; put there by ~/set_environment"),
    "environment.stiffness": (1e4, "[N/m]"),
    "environment.gap": (0.02, "between the tool and the surface [m]"),
    "environment.angle": (0.0, "of the incline [rad]"),
}


def start_angles(value: Callable[[str], Any]) -> Any:
    """(6,) [rad], None: home."""
    start = np.array(value("start"), dtype=float)
    return None if np.isnan(start).any() else start


def new_world(value: Callable[[str], Any], model: RobotModel, environment: Environment | None, period: float) -> World:
    """The arm at its start; value: of a parameter by its name."""
    tool = Tool(mass=value("tool.mass"), com=tuple(value("tool.center_of_mass")), tcp=tuple(value("tool.tcp")))
    sensor = FtSensor(
        bias=tuple(value("sensor.bias")),
        noise_force=value("sensor.noise_force"),
        noise_torque=value("sensor.noise_torque"),
    )
    world = World(model, tool, environment, sensor=sensor, seed=value("seed"))
    world.reset(start_angles(value))
    world.step(None, np.zeros(6), period)  # compiles, before anybody listens
    world.reset(start_angles(value))
    return world
