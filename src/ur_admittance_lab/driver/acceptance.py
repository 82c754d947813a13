"""Which trajectories joint_trajectory_controller takes, without ROS.

`validate_trajectory_msg` of joint_trajectory_controller/src/joint_trajectory_controller.cpp, ros2_controllers 2.54.0
(Humble), 4.42.1 (Jazzy), 6.9.0 (Lyrical); the order of the checks is that of Jazzy. Numbers that are not finite pass
there, and so they do here: the robot is the one that stops.
"""

from collections.abc import Sequence

from ur_admittance_lab.driver.trajectory import SECOND, Message

STANDING = 1.1920929e-07  # [rad/s] the epsilon of a float, above which a last point counts as moving


def refusal(message: Message, joints: Sequence[str], end_velocity: bool, now_ns: int) -> str:
    """Why the controller does not take it; empty: it does. end_velocity: allow_nonzero_velocity_at_trajectory_end."""
    given, points = message.joints, message.points
    if len(given) != len(joints):  # allow_partial_joints_goal is false in ur_controllers.yaml
        return f"{len(given)} joints, must be {len(joints)}"
    if not points:
        return "no points"
    for name in given:
        if name not in joints:
            return f"joint {name} is not one of this controller's"
    if not end_velocity:
        for name, speed in zip(given, points[-1].qd, strict=False):
            if abs(speed) > STANDING:
                return f"velocity of the last point is not zero ({name})"
    if message.stamp_ns and message.stamp_ns + points[-1].time_ns < now_ns:
        return "it ends in the past"
    before = 0
    for i, point in enumerate(points):
        if i and point.time_ns <= before:
            return f"time_from_start does not increase (point {i}: {point.time_ns / SECOND:g} s)"
        before = point.time_ns
        if len(point.q) != len(given):
            return f"point {i} has {len(point.q)} positions"
        for what, numbers in (("velocities", point.qd), ("accelerations", point.qdd)):
            if len(numbers) not in (0, len(given)):
                return f"point {i} has {len(numbers)} {what}"
        if len(point.effort):
            return f"point {i} has efforts, which a position interface does not take"
    if len(set(given)) != len(given):  # stricter: the controller would mix up its joints
        return "a joint is named twice"
    return ""
