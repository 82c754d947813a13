"""Commands as goals of the FollowJointTrajectory action: for controllers that take nothing else.

A goal per GOAL_PERIOD_S takes the place of the one before. It begins where that one will be when it arrives (half of
the time that the last answer took from now), joins the commanded motion after JOIN_S, follows it until HOLD_S, and
then comes to rest. A goal that is rejected or aborted is tried again with a new trajectory, MOST_RETRIES times in a row
at most.
"""

import itertools
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from ur_admittance.errors import RobotError
from ur_admittance.robots.ros.outputs import trajectory
from ur_admittance.robots.ros.seam import braking_time

Array = NDArray[np.float64]

ACTION = "/scaled_joint_trajectory_controller/follow_joint_trajectory"
GOAL_PERIOD_S = 0.05
JOIN_S = 0.08  # sooner, the speed with which a goal catches up would show
HOLD_S = 0.15  # one goal may be late
LONGEST_WAIT_S = 0.5  # for an answer: then the next goal goes out all the same
LONGEST_LEAD_S = 0.025
MOST_RETRIES = 5
ABORTED = 6  # action_msgs/GoalStatus
SENDING_S = 0.05  # for the last goal to leave before the client goes


class Splines:
    """Cubic splines between rows of angles, speeds and times, as the controllers have them; then rest."""

    def __init__(self) -> None:
        self.rows: list[tuple[Array, Array, float]] = []
        self._begun = 0.0

    def begin(self, rows: list[tuple[Array, Array, float]], now: float) -> None:
        self.rows, self._begun = rows, now

    def at(self, now: float) -> Array:
        return self.state(now)[0]

    def state(self, now: float) -> tuple[Array, Array]:
        """Angles (6,) [rad] and speeds (6,) [rad/s] at that time [s]."""
        t = max(now - self._begun, 0.0)
        for (qa, va, ta), (qb, vb, tb) in itertools.pairwise(self.rows):
            if t < tb:
                T, s = tb - ta, (t - ta) / (tb - ta)
                q = (2 * s**3 - 3 * s**2 + 1) * qa + (3 * s**2 - 2 * s**3) * qb
                q += T * ((s**3 - 2 * s**2 + s) * va + (s**3 - s**2) * vb)
                v = 6 * (s**2 - s) / T * (qa - qb) + (3 * s**2 - 4 * s + 1) * va + (3 * s**2 - 2 * s) * vb
                return q, v
        return self.rows[-1][0].copy(), np.zeros(6)


def rows_to_rest(old: Splines, q: Array, qd: Array, now: float, lead: float, shortest: float) -> list[Any]:
    """A goal that is sent now [s] and begins `lead` [s] later; old: without rows where there is none before it."""
    start = old.state(now + lead) if old.rows else (q + lead * qd, qd)
    joined, held = q + (lead + JOIN_S) * qd, q + (lead + HOLD_S) * qd
    braking = braking_time(qd, shortest)
    rest = held + 0.5 * braking * qd
    return [
        (*start, 0.0),
        (joined, qd.copy(), JOIN_S),
        (held, qd.copy(), HOLD_S),
        (rest, np.zeros(6), HOLD_S + braking),
    ]


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
        self.plan, self._shortest = Splines(), shortest
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
        self._number = 0
        self.plan.rows = []
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
        self._shortest = duration

    def problem(self) -> str:
        return self._problem

    def _on_timer(self) -> None:
        waiting = self._asked_at >= 0.0 and time.monotonic() - self._asked_at < LONGEST_WAIT_S
        if self._fresh and not waiting and not self._problem:
            self._fresh = False
            self._send_goal()

    def _send_goal(self) -> None:
        goal = self._kind.Goal()
        rows = rows_to_rest(self.plan, self._q, self._qd, self._now, self._lead, self._shortest)
        self.plan.begin(rows, self._now + self._lead)
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
