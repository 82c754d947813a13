"""What the nodes around the sensor share: parameters, options, and the arm, which is read or moved calmly."""

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rclpy.node import Node

from ur_admittance.calibration.calm_arm import CalmArm
from ur_admittance.errors import RobotError
from ur_admittance.params import Parameters
from ur_admittance.robots.ros import FOR_COMMANDS, warn_of_missing
from ur_admittance.robots.ros.known_frames import RobotSearch
from ur_admittance.robots.ros.ros_robot import RosRobot, RosSettings
from ur_admittance.ros.parameters import COMMANDING, PREFIX, Option, SchemaParameters

RAW_TOPIC = "netft/raw_sensor"


class ArmNode(SchemaParameters, Node):  # type: ignore[misc]
    """Parameters of the schema, and the arm for the thread that works."""

    def __init__(self, name: str, options: dict[str, Option]) -> None:
        super().__init__(name)
        self.told_to_end = threading.Event()
        self.declare_options({**PREFIX, **options})
        self.declare_schema(self.calibrated(self.prefixed(Parameters())))

    def robot(self, wrench_topic: str | None, driving: bool = False, timeout: float = math.inf) -> RosRobot:
        """Not yet connected. driving False: somebody else moves the arm, here it is only read."""
        commanding: dict[str, Any] = {"may_command": False, "driving": False}
        if driving:
            warn_of_missing(self, FOR_COMMANDS)
            commanding = {name: self.option(name) for name in COMMANDING}
        settings = RosSettings.of(self.parameters, wrench_topic=wrench_topic, **commanding)
        self.search = RobotSearch(self, timeout)
        return RosRobot(settings, self, self.search)

    @contextmanager
    def calm_arm(self, wrench_topic: str | None, driving: bool = True) -> Iterator[CalmArm]:
        """The arm, ready to move; leaving the block brings it to a standstill. RobotError when told to end."""
        robot = self.robot(wrench_topic, driving, RosSettings.timeout)
        with robot:
            clock = robot.clock()

            def wait() -> None:
                if self.told_to_end.is_set():
                    raise RobotError("interrupted.")
                clock.wait()

            yield CalmArm(robot, robot.model, clock.period, wait, commanding=driving)
