"""Which tool the sensor carries, how the sensor is mounted, and what it reads when nothing touches the tool."""

from ur_admittance.calibration.fit import Reading
from ur_admittance.calibration.identify_tool import identify
from ur_admittance.calibration.tool_calibration import ToolCalibration

__all__ = ["Reading", "ToolCalibration", "identify"]
