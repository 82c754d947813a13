"""An arm behind ROS 2 topics; and what is installed of ROS 2."""

import importlib.util
import os
import sys
from collections.abc import Sequence
from typing import Any

# Message packages that everything runs without, only less well
WITHOUT = {
    "ur_dashboard_msgs": "the robot's safety mode and robot mode are not seen: a protective or emergency stop shows "
    "only when the robot's program ends",
    "controller_manager_msgs": "nobody can be asked whether the controller for the commands is active: one that drops "
    "them shows only when the arm does not follow",
    "tf2_msgs": "/tf and /tf_static are not read: a frame must be in robot_description, or be the driver's TCP",
    "diagnostic_msgs": "/diagnostics is not published",
}
FOR_COMMANDS = ("ur_dashboard_msgs", "controller_manager_msgs", "tf2_msgs")


def missing_packages(wanted: Sequence[str] = tuple(WITHOUT)) -> list[str]:
    """One sentence for each that is not installed."""
    distribution = os.environ.get("ROS_DISTRO") or "$ROS_DISTRO"
    return [
        f"{name} is not installed: {WITHOUT[name]}; with a ROS installation: "
        f"sudo apt install ros-{distribution}-{name.replace('_', '-')}"
        for name in wanted
        if importlib.util.find_spec(name) is None
    ]


def warn_of_missing(node: Any, wanted: Sequence[str] = tuple(WITHOUT)) -> None:
    for sentence in missing_packages(wanted):
        node.get_logger().warning(sentence)


def use_own_prefix() -> None:
    """The wheels do not set AMENT_PREFIX_PATH; a ROS installation does."""
    os.environ.setdefault("AMENT_PREFIX_PATH", sys.prefix)
