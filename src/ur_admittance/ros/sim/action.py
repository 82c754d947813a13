"""The FollowJointTrajectory action of the simulated arm, where control_msgs is installed."""

from typing import Any

import numpy as np

from ur_admittance.errors import UrAdmittanceError
from ur_admittance.ros.sim.messages import points

ACTION = "/scaled_joint_trajectory_controller/follow_joint_trajectory"
POLL_S = 0.01


def serve_action(node: Any) -> Any:
    """The action server, or None without control_msgs. A new goal takes the place of the old one, as in the real
    controller."""
    try:
        from control_msgs.action import FollowJointTrajectory
    except ImportError:
        node.get_logger().info("control_msgs is not installed: no FollowJointTrajectory action")
        return None
    from rclpy.action import ActionServer, CancelResponse, GoalResponse
    from rclpy.callback_groups import ReentrantCallbackGroup

    def accept(goal: Any) -> Any:
        try:
            _points(node, goal)
        except UrAdmittanceError as error:
            node.get_logger().warning(str(error))
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    async def execute(handle: Any) -> Any:
        result = FollowJointTrajectory.Result()
        drive = node.drive
        try:
            with node.lock:
                drive.follow(_points(node, handle.request))
                number = drive.trajectories
        except UrAdmittanceError as error:
            handle.abort()
            result.error_code, result.error_string = FollowJointTrajectory.Result.INVALID_GOAL, str(error)
            return result
        while drive.mode == "trajectory" and drive.trajectories == number:
            if handle.is_cancel_requested:
                with node.lock:
                    drive.stop()
                handle.canceled()
                return result
            await _sleep(node, POLL_S)
        if drive.trajectories != number:
            handle.abort()
            result.error_string = "another trajectory took the place of this one"
            return result
        handle.succeed()
        return result

    return ActionServer(
        node,
        FollowJointTrajectory,
        ACTION,
        execute,
        goal_callback=accept,
        cancel_callback=lambda handle: CancelResponse.ACCEPT,
        callback_group=ReentrantCallbackGroup(),
    )


async def _sleep(node: Any, seconds: float) -> None:
    """Let the executor do other things meanwhile."""
    from rclpy.task import Future

    future = Future()
    timer = node.create_timer(seconds, lambda: future.done() or future.set_result(None))
    try:
        await future
    finally:
        node.destroy_timer(timer)


def _points(node: Any, goal: Any) -> Any:
    trajectory = goal.trajectory
    rows = []
    for point in trajectory.points:
        time_s = point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec
        rows.append((np.array(point.positions), np.array(point.velocities), time_s))
    return points(trajectory.joint_names, rows, node.model.joint_names)
