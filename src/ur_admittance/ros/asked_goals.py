"""Where ROS programs send the arm: ~/go_to_joints and ~/go_to_pose. Not polled by the loop, as references are: the
executor reads them, and the loop is asked once. The log answers; ~/state says how it goes on."""

from collections.abc import Callable
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped
from sensor_msgs.msg import JointState

from ur_admittance.control.go_to import Goal
from ur_admittance.errors import ParameterError
from ur_admittance.robots.ros.known_frames import pose_from_quaternion
from ur_admittance.ros.node_run import say


def offer_goals(node: Any, go: Callable[[Goal], str]) -> None:
    """node: AdmittanceNode; go returns the sentence of the answer, or raises that of a refusal."""

    def to_joints(message: JointState) -> None:
        say(node, lambda: go(joints_of(message, tuple(node.parameters.joints))))

    def to_pose(message: PoseStamped) -> None:
        say(node, lambda: go(pose_of(message, node.parameters.base_link)))

    node.create_subscription(JointState, "~/go_to_joints", to_joints, 1)
    node.create_subscription(PoseStamped, "~/go_to_pose", to_pose, 1)


def joints_of(message: JointState, names: tuple[str, ...]) -> Goal:
    """names: of the arm's joints; the message has them in any order."""
    angles = dict(zip(message.name, message.position, strict=False))
    missing = [name for name in names if name not in angles]
    if missing:
        raise ParameterError(f"~/go_to_joints: has no position of {', '.join(missing)}.")
    return Goal(joints=[angles[name] for name in names])


def pose_of(message: PoseStamped, base_link: str) -> Goal:
    frame, p, o = message.header.frame_id, message.pose.position, message.pose.orientation
    if frame not in ("", base_link):
        raise ParameterError(f"~/go_to_pose: frame_id is {frame!r}, must be {base_link!r} or empty.")
    pose = pose_from_quaternion(np.array([p.x, p.y, p.z]), np.array([o.x, o.y, o.z, o.w]))
    if pose is None:
        raise ParameterError("~/go_to_pose: must be finite, with a unit quaternion (x y z w).")
    return Goal(position=pose.position, rotation=pose.rotation)
