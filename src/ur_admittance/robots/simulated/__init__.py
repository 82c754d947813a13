"""The built-in physics: a UR arm in MuJoCo with servo, wrist sensor, things to touch and a hand that pushes."""

from ur_admittance.robots.simulated.devices import GRAVITY, FtSensor, Servo, Tool
from ur_admittance.robots.simulated.environment import Environment
from ur_admittance.robots.simulated.hand import Hand
from ur_admittance.robots.simulated.second import SecondSensor
from ur_admittance.robots.simulated.simulated_robot import SimulatedRobot
from ur_admittance.robots.simulated.world import World

__all__ = [
    "GRAVITY",
    "Environment",
    "FtSensor",
    "Hand",
    "SecondSensor",
    "Servo",
    "SimulatedRobot",
    "Tool",
    "World",
]
