"""Which tool the sensor carries, how the sensor is mounted, and what it reads when nothing touches the tool."""

from ur_admittance.calibration.identify import identify
from ur_admittance.calibration.readings import Reading
from ur_admittance.calibration.result import ToolCalibration

__all__ = ["Reading", "ToolCalibration", "identify"]
