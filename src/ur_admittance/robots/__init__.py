"""Arms to drive: the protocol, and the simulated one."""

from ur_admittance.robots.robot import Robot, RobotInfo
from ur_admittance.robots.simulated import SimulatedRobot

__all__ = ["Robot", "RobotInfo", "SimulatedRobot"]
