"""Which tool the sensor carries, how the sensor is mounted, and what it reads when nothing touches the tool."""

from ur_admittance.calibration.calibration_result import ToolCalibration
from ur_admittance.calibration.identify_tool import identify
from ur_admittance.calibration.readings import Reading

__all__ = ["Reading", "ToolCalibration", "identify"]
