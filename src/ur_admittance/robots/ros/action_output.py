"""Commands as goals of the FollowJointTrajectory action: for controllers that take nothing else.

A goal per GOAL_PERIOD_S carries the commanded state forward by ``duration`` [s]:  q + qd T. A new goal takes the place
of the old one, so the arm follows the present velocity. Much slower than a topic: the response lags by a part of T.
A goal that is rejected or aborted is tried again with a new trajectory, MOST_RETRIES times in a row at most.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node

from ur_admittance.errors import RobotError
from ur_admittance.robots.ros.outputs import trajectory

Array = NDArray[np.float64]

ACTION = "/scaled_joint_trajectory_controller/follow_joint_trajectory"
GOAL_PERIOD_S = 0.05
MOST_RETRIES = 5
ABORTED = 6  # action_msgs/GoalStatus


class ActionOutput:
    """`send` only notes the newest command; a timer of the executor sends the goals."""

    def __init__(self, node: Node, names: Sequence[str], duration: float, action: str = ACTION) -> None:
        try:
            from control_msgs.action import FollowJointTrajectory
        except ImportError:
            raise RobotError(
                "output = action: needs the package control_msgs, which is not installed; use trajectory or velocity."
            ) from None
        from rclpy.action import ActionClient

        self._node, self._names, self._duration = node, list(names), duration
        self._kind = FollowJointTrajectory
        self.topic: str = node.resolve_service_name(action)
        self._client = ActionClient(node, FollowJointTrajectory, self.topic)
        self._q, self._qd = np.zeros(6), np.zeros(6)
        self._fresh = False
        self._waiting = False  # for the answer to a goal
        self._number = 0
        self._failures = 0
        self._problem = ""
        self._timer: Any = None

    def open(self) -> None:
        self._failures, self._problem, self._fresh, self._waiting = 0, "", False, False
        self._timer = self._node.create_timer(GOAL_PERIOD_S, self._send_goal)

    def close(self) -> None:
        if self._timer is not None:
            self._waiting = False  # whatever is still on its way: the last one is the standstill
            self._send_goal()
            self._node.destroy_timer(self._timer)
            self._timer = None

    def listeners(self) -> int:
        return int(self._client.server_is_ready())

    def nobody(self) -> str:
        return f"no action server on {self.topic}; is that controller active?"

    def others(self) -> list[str]:
        return []  # any number of clients may exist; the controller tells by aborting goals

    def send(self, q: Array, qd: Array) -> None:
        self._q[:], self._qd[:] = q, qd
        self._fresh = True

    def set_duration(self, duration: float) -> None:
        self._duration = duration

    def problem(self) -> str:
        return self._problem

    def _send_goal(self) -> None:
        if not self._fresh or self._waiting or self._problem:
            return
        self._fresh = False
        goal = self._kind.Goal()
        q = self._q + self._qd * self._duration
        goal.trajectory = trajectory(self._names, q, self._qd, self._duration)
        self._number += 1
        number = self._number
        self._waiting = True
        self._client.send_goal_async(goal).add_done_callback(lambda answer: self._answered(answer, number))

    def _answered(self, answer: Any, number: int) -> None:
        self._waiting = False
        handle = answer.result()
        if handle is None or not handle.accepted:
            self._failed("rejected")
            return
        handle.get_result_async().add_done_callback(lambda result: self._ended(result, number))

    def _ended(self, result: Any, number: int) -> None:
        response = result.result()
        if number != self._number:
            self._failures = 0  # it ended because a newer goal took its place
        elif response is not None and response.status == ABORTED:
            self._failed(f"aborted: {response.result.error_string or response.result.error_code}")
        else:
            self._failures = 0

    def _failed(self, why: str) -> None:
        """Tried again with the next goal, from the command of that moment."""
        self._failures += 1
        self._node.get_logger().warning(f"trajectory goal {why} ({self._failures} of at most {MOST_RETRIES + 1})")
        if self._failures > MOST_RETRIES:
            self._problem = f"{self.topic}: {self._failures} goals in a row were {why}"
