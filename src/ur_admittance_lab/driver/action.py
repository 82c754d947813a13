"""FollowJointTrajectory of one trajectory controller.

Rules: joint_trajectory_controller.cpp, goal_received_callback, goal_accepted_callback, goal_cancelled_callback; results
and feedback go out with action_monitor_rate, 20 Hz (ur_controllers.yaml). Humble marks a goal that another one replaces
as canceled without having been asked to, which no action server allows: it is aborted, as from Jazzy on.
"""

from collections.abc import Callable
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.task import Future

from ur_admittance_lab.driver.acceptance import refusal
from ur_admittance_lab.driver.driver import REFUSED, Driver
from ur_admittance_lab.driver.driver_messages import trajectory
from ur_admittance_lab.driver.trajectory_controller import Goal, Tolerances

MONITOR_S = 0.05


class Action:
    """The server; a goal's result is delivered by a timer that runs only while there is a goal."""

    def __init__(self, node: Node, kind: Any, driver: Driver, name: str, lock: Any, now_ns: Callable[[], int]) -> None:
        """kind: FollowJointTrajectory."""
        self._kind, self._driver, self._name, self._lock, self._now_ns = kind, driver, name, lock, now_ns
        self._controller = driver.controllers.trajectory[name]
        self._waiting: dict[bytes, tuple[Any, Goal, Any]] = {}
        self._server = ActionServer(
            node,
            kind,
            "~/follow_joint_trajectory",
            self._execute,
            goal_callback=self._received,
            cancel_callback=self._cancelled,
            callback_group=ReentrantCallbackGroup(),
        )
        self._timer = node.create_timer(MONITOR_S, self._monitor)
        self._timer.cancel()

    def _received(self, request: Any) -> Any:
        """Accept what the controller would take; it takes it in _execute."""
        controller = self._controller
        with self._lock:
            reason = "" if controller.active else "goal while the controller is not active"
            reason = REFUSED if self._driver.refusing else reason
            message = trajectory(request.trajectory)
            reason = reason or refusal(message, controller.joints, controller.rules.end_velocity, self._now_ns())
            if reason:
                self._driver.refuse(self._name, reason)
        return GoalResponse.REJECT if reason else GoalResponse.ACCEPT

    def _cancelled(self, handle: Any) -> Any:
        found = self._waiting.get(bytes(handle.goal_id.uuid))
        if found is not None:
            with self._lock:
                self._controller.cancel(found[1])
        return CancelResponse.ACCEPT

    async def _execute(self, handle: Any) -> Any:
        request, result, future = handle.request, self._kind.Result(), Future()
        goal = Goal(self._tolerances(request))
        with self._lock:
            reason = self._controller.offer_goal(trajectory(request.trajectory), goal, self._now_ns())
        if reason:
            goal.end("aborted", "INVALID_GOAL", reason)
        self._waiting[bytes(handle.goal_id.uuid)] = handle, goal, future
        self._timer.reset()
        await future
        result.error_code, result.error_string = getattr(result, goal.code), goal.text
        if goal.outcome == "succeeded":
            handle.succeed()
        elif goal.outcome == "canceled" and handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()
        return result

    def _tolerances(self, request: Any) -> Tolerances:
        time = request.goal_time_tolerance
        path = {tolerance.name: tolerance.position for tolerance in request.path_tolerance}
        goal = {tolerance.name: tolerance.position for tolerance in request.goal_tolerance}
        return Tolerances.of_goal(self._controller.joints, path, goal, time.sec + 1e-9 * time.nanosec)

    def _monitor(self) -> None:
        for key, (handle, goal, future) in list(self._waiting.items()):
            if goal.outcome:
                del self._waiting[key]
                future.set_result(None)
            else:
                handle.publish_feedback(self._feedback())
        if not self._waiting:
            self._timer.cancel()

    def _feedback(self) -> Any:
        feedback, controller = self._kind.Feedback(), self._controller
        with self._lock:
            desired, measured = controller.desired, self._driver.world.q.copy()
        feedback.joint_names = list(controller.joints)
        feedback.desired.positions = desired.q.tolist()
        feedback.actual.positions = measured.tolist()
        feedback.error.positions = (desired.q - measured).tolist()
        return feedback

    def destroy(self) -> None:
        self._server.destroy()
