"""The built-in physics: a UR arm in MuJoCo with servo, wrist sensor, things to touch and a hand that pushes."""

from ur_admittance.simulation.batch import Case, simulate
from ur_admittance.simulation.devices import GRAVITY, FtSensor, Servo, Tool
from ur_admittance.simulation.environment import Contact, Environment
from ur_admittance.simulation.hand import Hand, waypoints
from ur_admittance.simulation.robot import SimulatedRobot
from ur_admittance.simulation.script import Script
from ur_admittance.simulation.second import SecondSensor
from ur_admittance.simulation.trace import Trace
from ur_admittance.simulation.world import World

__all__ = [
    "GRAVITY",
    "Case",
    "Contact",
    "Environment",
    "FtSensor",
    "Hand",
    "Script",
    "SecondSensor",
    "Servo",
    "SimulatedRobot",
    "Tool",
    "Trace",
    "World",
    "simulate",
    "waypoints",
]
