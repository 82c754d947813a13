"""The embedded physics: a UR arm in MuJoCo with servo, wrist sensor, things to touch and a hand that pushes."""

from ur_admittance.simulation.contact import Contact
from ur_admittance.simulation.devices import FtSensor, Servo, Tool
from ur_admittance.simulation.environment import Environment
from ur_admittance.simulation.hand import Hand, waypoints
from ur_admittance.simulation.robot import SimulatedRobot
from ur_admittance.simulation.world import GRAVITY, World

__all__ = [
    "GRAVITY",
    "Contact",
    "Environment",
    "FtSensor",
    "Hand",
    "Servo",
    "SimulatedRobot",
    "Tool",
    "World",
    "waypoints",
]
