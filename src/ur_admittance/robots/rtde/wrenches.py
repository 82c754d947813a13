"""Where the wrenches of a UR come from: its own sensor, an external one, or both."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.views import SampleFields
from ur_admittance.errors import RobotError
from ur_admittance.robots.rtde.settings import RtdeSettings, WrenchSource
from ur_admittance.robots.rtde.tool import BuiltinWrench

Array = NDArray[np.float64]


class Wrenches:
    """sensor, second: the external ones, None where the robot's own is used, or none."""

    def __init__(self, settings: RtdeSettings, sensor: WrenchSource | None, second: WrenchSource | None) -> None:
        for name, device in (("sensor", sensor), ("second", second)):
            if (getattr(settings, name) == "external") != (device is not None):
                raise RobotError(f"an external sensor needs both: the setting {name}='external' and the sensor itself.")
        self.settings, self.sensor, self.second_sensor = settings, sensor, second
        self.devices = [device for device in (sensor, second) if device is not None]
        self.builtin: BuiltinWrench | None = None

    def read(self, fields: SampleFields, own: Any, silence: float) -> None:
        """Fill the wrench, and that of the second sensor if there is one, with their ages. own: what the robot sent."""
        fields.second_read[0] = bool(self.settings.second)
        if self.settings.second:
            fields.second_age[0] = self._take(self.second_sensor, fields.q, own, silence, fields.second_wrench)
        fields.wrench_age[0] = self._take(self.sensor, fields.q, own, silence, fields.wrench)

    def _take(self, device: WrenchSource | None, q: Array, own: Any, silence: float, wrench: Array) -> float:
        if device is not None:
            wrench[:], age = device.latest()
            return age
        if self.builtin is not None:
            self.builtin.to_flange(q, np.array(own), wrench)
        else:
            wrench[:] = own
        return silence
