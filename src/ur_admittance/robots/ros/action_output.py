"""Commands as goals of the FollowJointTrajectory action: for controllers that take nothing else.

A goal per GOAL_PERIOD_S carries the commanded state on at its speed for HOLD_S and then to rest (seam.py). A new goal
takes the place of the old one. It begins where the old one will be when it arrives: half of the time that the last
answer took is added. A goal that is rejected or aborted is tried again with a new trajectory, MOST_RETRIES times in a
row at most.
"""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from ur_admittance.errors import RobotError
from ur_admittance.robots.ros.outputs import trajectory
from ur_admittance.robots.ros.seam import Plan

Array = NDArray[np.float64]

ACTION = "/scaled_joint_trajectory_controller/follow_joint_trajectory"
GOAL_PERIOD_S = 0.05
HOLD_S = 0.12  # two goals may be late
LONGEST_WAIT_S = 0.5  # for an answer: then the next goal goes out all the same
LONGEST_LEAD_S = 0.025
MOST_RETRIES = 5
ABORTED = 6  # action_msgs/GoalStatus
SENDING_S = 0.05  # for the last goal to leave before the client goes


class ActionOutput:
    """`send` only notes the newest command; a timer of the executor sends the goals."""

    def __init__(self, node: Node, names: Sequence[str], shortest: float, action: str = ACTION) -> None:
        """shortest: least time of the braking [s]."""
        try:
            from control_msgs.action import FollowJointTrajectory
        except ImportError:
            raise RobotError(
                "output = action: needs the package control_msgs, which is not installed; use trajectory or velocity."
            ) from None
        from rclpy.action import ActionClient

        self._node, self._names = node, list(names)
        self._kind = FollowJointTrajectory
        self.topic: str = node.resolve_service_name(action)
        self._client = ActionClient(node, FollowJointTrajectory, self.topic)
        self.plan = Plan(HOLD_S, shortest)
        self._q, self._qd = np.zeros(6), np.zeros(6)
        self._now = 0.0  # [s] of the newest command
        self._fresh = False
        self._asked_at = -1.0  # [s] when the goal was sent whose answer is awaited; negative: none
        self._lead = 0.0  # [s] from sending a goal to its beginning
        self._number = 0
        self._failures = 0
        self._problem = ""
        self._timer: Any = None

    def open(self) -> None:
        self._failures, self._problem, self._fresh, self._asked_at, self._lead = 0, "", False, -1.0, 0.0
        steady = Clock(clock_type=ClockType.STEADY_TIME)  # goals must go out whatever /clock does
        self._timer = self._node.create_timer(GOAL_PERIOD_S, self._on_timer, clock=steady)

    def close(self) -> None:
        """The last goal is a standstill, whatever is still on its way: goals arrive in the order in which they left."""
        if self._timer is None:
            return
        self._node.destroy_timer(self._timer)
        self._timer = None
        if self._number:
            self._qd[:] = 0.0
            self._send_goal()
            time.sleep(SENDING_S)

    def destroy(self) -> None:
        self.close()
        self._client.destroy()

    def listeners(self) -> int:
        return int(self._client.server_is_ready())

    def nobody(self) -> str:
        return f"no action server on {self.topic}; is that controller active?"

    def others(self) -> list[str]:
        return []  # any number of clients may exist; the controller tells by aborting goals

    def send(self, q: Array, qd: Array, now: float) -> None:
        self._q[:], self._qd[:], self._now = q, qd, now
        self._fresh = True

    def set_duration(self, duration: float) -> None:
        self.plan.shortest = duration

    def problem(self) -> str:
        return self._problem

    def _on_timer(self) -> None:
        waiting = self._asked_at >= 0.0 and time.monotonic() - self._asked_at < LONGEST_WAIT_S
        if self._fresh and not waiting and not self._problem:
            self._fresh = False
            self._send_goal()

    def _send_goal(self) -> None:
        goal, plan = self._kind.Goal(), self.plan
        plan.begin(self._q + self._lead * self._qd, self._qd, self._now + self._lead)
        end = plan.hold + plan.braking
        rows = [(plan.q, plan.qd, 0.0), (plan.after_hold, plan.qd, plan.hold), (plan.rest, np.zeros(6), end)]
        goal.trajectory = trajectory(self._names, rows)
        self._number += 1
        number, self._asked_at = self._number, time.monotonic()
        self._client.send_goal_async(goal).add_done_callback(lambda answer: self._answered(answer, number))

    def _answered(self, answer: Any, number: int) -> None:
        if number == self._number:
            self._lead = min(0.5 * (time.monotonic() - self._asked_at), LONGEST_LEAD_S)
            self._asked_at = -1.0
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
