"""Readers of external force/torque sensors for ``RtdeRobot(..., sensor=...)``: ATI NetFT and Robotiq FT 300.

They have no threads: ``latest()`` takes what has arrived since the last cycle.
"""

from ur_admittance.robots.sensors.netft import NetFt
from ur_admittance.robots.sensors.robotiq import RobotiqFt


def external_sensor(source: str) -> NetFt | RobotiqFt | None:
    """``netft:192.168.1.1`` or ``robotiq:/dev/ttyUSB0``, as sensor.source has them; None: it is none of these."""
    kind, _, place = source.partition(":")
    if kind == "netft" and place:
        return NetFt(place)
    return RobotiqFt(place) if kind == "robotiq" and place else None


__all__ = ["NetFt", "RobotiqFt", "external_sensor"]
