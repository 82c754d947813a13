"""What the nodes around the sensor share: parameters, options, and the arm, which is read or moved calmly."""

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rclpy.node import Node

from ur_admittance.calibration.calm_arm import CalmArm
from ur_admittance.errors import RobotError
from ur_admittance.params import Parameters
from ur_admittance.robots.ros.ros_robot import FOR_COMMANDS, RosRobot, RosSettings, warn_of_missing
from ur_admittance.robots.ros.search import RobotSearch
from ur_admittance.ros.parameters import PREFIX, Option, SchemaParameters

RAW_TOPIC = "netft/raw_sensor"

COMMANDING: dict[str, Option] = {
    "output": ("trajectory", "where commands go: trajectory or velocity (topics)"),
    "controller": ("", "name of the controller that takes them; empty: the one that fits and is active"),
}


class ArmNode(SchemaParameters, Node):  # type: ignore[misc]
    """Parameters of the schema, and the arm for the thread that works."""

    def __init__(self, name: str, options: dict[str, Option]) -> None:
        super().__init__(name)
        self.told_to_end = threading.Event()
        self.declare_options({**PREFIX, **options})
        self.declare_schema(self.calibrated(self.prefixed(Parameters())))

    def robot(self, wrench_topic: str | None, driving: bool = False, timeout: float = math.inf) -> RosRobot:
        """Not yet connected. driving False: somebody else moves the arm, here it is only read."""
        p = self.parameters
        if driving:
            warn_of_missing(self, FOR_COMMANDS)
        settings = RosSettings(
            rate=p.control_rate,
            base_link=p.base_link,
            tip_link=p.tip_link,
            wrench_topic=wrench_topic,
            output=self.option("output") if driving else "trajectory",
            controller=self.option("controller") if driving else "",
            trajectory_duration=p.trajectory_duration,
            may_command=driving,
            driving=driving,
        )
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
