"""What the nodes around the sensor share: the robot's model, its joint states and wrench, without commanding anything.

The description is waited for with growing pauses; until it is there the node says for what it waits.
"""

import threading
import time
from typing import Any

import numpy as np
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.node import Node

from ur_admittance.calibration.file import with_calibration
from ur_admittance.errors import UrAdmittanceError
from ur_admittance.model import RobotModel
from ur_admittance.params import Parameters
from ur_admittance.robots.ros.description import Description
from ur_admittance.robots.ros.robot import RosArm
from ur_admittance.ros.parameters import SchemaParameters

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 2.0  # [s]
RAW_TOPIC = "/netft/raw_sensor"


class ReaderNode(SchemaParameters, Node):  # type: ignore[misc]
    """Parameters of the schema, and `open_arm()` for the thread that works."""

    def __init__(self, name: str, options: dict[str, tuple[Any, str]], parameters: Parameters | None = None) -> None:
        super().__init__(name)
        self.told_to_end = threading.Event()
        for option, (default, text) in options.items():
            self.declare_parameter(option, default, ParameterDescriptor(description=text, read_only=True))
        base = parameters or Parameters()
        if self.has_parameter("calibration_file") and self.option("calibration_file"):
            base = with_calibration(base, self.option("calibration_file"))
        self.declare_schema(base)
        self._description = Description(self)

    def option(self, name: str) -> Any:
        value = self.get_parameter(name).value
        return list(value) if hasattr(value, "__len__") and not isinstance(value, str) else value

    def open_arm(self, wrench_topic: str | None, patience: float = np.inf) -> tuple[RobotModel, RosArm] | None:
        """Wait for the description and the first data. None: told to end. RobotError after ``patience`` [s]."""
        p = self.parameters
        pause, said, model, arm = FIRST_PAUSE, "", None, None
        end = time.monotonic() + patience
        while not self.told_to_end.is_set():
            self._description.poll()
            missing = self._description.missing()
            if not missing and model is None:
                model = self._description.model(p.base_link, p.tip_link)
                sim_time = bool(self.get_parameter("use_sim_time").value)
                arm = RosArm(self, model.joint_names, 1.0 / p.control_rate, wrench_topic, sim_time)
            if arm is not None and model is not None:
                arm.poll()
                missing = arm.missing()
                if not missing:
                    arm.begin()
                    return model, arm
            if time.monotonic() > end:
                raise UrAdmittanceError(f"still {missing}")
            if missing != said:
                self.get_logger().info(missing)
                said = missing
            self.told_to_end.wait(pause)
            pause = min(2.0 * pause, LONGEST_PAUSE)
        return None
