"""Readers of external force/torque sensors for ``RtdeRobot(..., sensor=...)``: ATI NetFT and Robotiq FT 300.

They have no threads: ``latest()`` takes what has arrived since the last cycle.
"""

from ur_admittance.robots.sensors.netft import NetFt
from ur_admittance.robots.sensors.robotiq import RobotiqFt

__all__ = ["NetFt", "RobotiqFt"]
