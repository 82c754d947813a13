"""The arm of a running ROS 2 system for a command such as `ur-admittance calibrate --robot ros`."""

from collections.abc import Iterator
from contextlib import contextmanager

import rclpy
from rclpy.signals import SignalHandlerOptions

from ur_admittance.calibration.arm import CalmArm
from ur_admittance.params import Parameters
from ur_admittance.robots.ros.robot import WRENCH_TOPIC
from ur_admittance.ros.commanding_node import COMMANDING, CommandingNode
from ur_admittance.ros.run import use_own_prefix


@contextmanager
def borrowed_arm(parameters: Parameters, wrench_topic: str = "", commanding: bool = True) -> Iterator[CalmArm]:
    """A node for as long as the block lasts; no topic: that of the admittance node. Ctrl-C leaves the block, and
    leaving it commands standstill."""
    use_own_prefix()
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = CommandingNode("ur_admittance_command", COMMANDING, parameters)
        try:
            with node.calm_arm(wrench_topic or WRENCH_TOPIC, commanding) as arm:
                assert arm is not None  # nobody tells this node to end
                yield arm
        finally:
            node.destroy_node()
    finally:
        rclpy.try_shutdown()
