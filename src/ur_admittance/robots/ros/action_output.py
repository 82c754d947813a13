"""Commands as goals of the FollowJointTrajectory action: for controllers that take nothing else.

A goal per GOAL_PERIOD_S takes the place of the one before. All of them are pieces of one path, which is that of the
commands DELAY_S later: a goal has the commands of the last DELAY_S, goes on at the last speed for HOLD_S, and comes to
rest. So the arm does what was commanded, no faster and no farther, as long as goals come in time. After a late one the
path is joined again, at JOIN_SPEED. Goals carry the time at which they begin, on the clock of whoever publishes the
joint states: how long a goal travels does not matter. A controller that blends (ros2_controllers after 6.9) takes times
in the past for now; there a goal without a time leads from what is being executed to the newer end of the path, and the
time that its answer took says how late it began.

A goal that is rejected or aborted is tried again with a new trajectory, MOST_RETRIES times in a row at most.
"""

import itertools
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rcl_interfaces.srv import DescribeParameters
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from ur_admittance.core.compile import load
from ur_admittance.core.motion.sending import CATCH_UP, braking_time
from ur_admittance.errors import RobotError
from ur_admittance.robots.ros.asking import Question
from ur_admittance.robots.ros.command_outputs import trajectory

Array = NDArray[np.float64]
Row = tuple[Array, Array, float]  # angles [rad], speeds [rad/s], time [s]

ACTION = "scaled_joint_trajectory_controller/follow_joint_trajectory"
GOAL_PERIOD_S = 0.05
DELAY_S = 0.08  # a goal may be 30 ms late
HOLD_S = 0.05  # one goal may be lost
STEP_S = 0.01  # between two points of a goal
PAUSE_S = 0.05  # between two commands: after a longer one the path begins anew
OVERLAP = 3.0  # goals that follow each other add up what each of them catches up
JOIN_SPEED = 0.01 / OVERLAP  # [rad/s] with which a goal closes a gap in motion: 8 mm/s at the end of a UR5e's reach
BLEND_SHARE = 0.02  # of the speed: what a goal may add to make up for the cycle that blending loses at its beginning
BLEND_S = 0.06  # from the beginning of a goal to its first point, where the controller blends
SAME_RAD = 2e-5  # two ways to interpolate the same commands
BLENDS = "allow_trajectory_replacement"  # parameter of joint_trajectory_controller: since 6.8 it defers, and after 6.9
BLENDED = "blend"  # a word of its description, it blends
AWAY_RAD = 0.005  # from the last command at rest: more than a load bends an arm that is driven
ANSWER_S = 1.0
LONGEST_WAIT_S = 0.5  # for an answer: then the next goal goes out all the same
MOST_RETRIES = 5
ABORTED = 6  # action_msgs/GoalStatus
SENDING_S = 0.05  # for the last goal to leave before the client goes


class Splines:
    """Cubic splines between rows, as the controllers have them; then rest."""

    def __init__(self, rows: list[Row] | None = None) -> None:
        """Times of the rows are those of the loop."""
        self.rows: list[Row] = rows or []

    def shift(self, late: float) -> None:
        """It has begun that much later [s]."""
        self.rows = [(q, qd, t + late) for q, qd, t in self.rows]

    def at(self, now: float) -> Array:
        return self.state(now)[0]

    def state(self, now: float) -> tuple[Array, Array]:
        """Angles (6,) [rad] and speeds (6,) [rad/s] at that time [s]."""
        t = max(now, self.rows[0][2])
        for (qa, va, ta), (qb, vb, tb) in itertools.pairwise(self.rows):
            if t < tb:
                T, s = tb - ta, (t - ta) / (tb - ta)
                q = (2 * s**3 - 3 * s**2 + 1) * qa + (3 * s**2 - 2 * s**3) * qb
                q += T * ((s**3 - 2 * s**2 + s) * va + (s**3 - s**2) * vb)
                v = 6 * (s**2 - s) / T * (qa - qb) + (3 * s**2 - 4 * s + 1) * va + (3 * s**2 - 2 * s) * vb
                return q, v
        return self.rows[-1][0].copy(), np.zeros(6)


def rows_to_rest(old: Splines, commands: Sequence[Row], begin: float, shortest: float, share: float = 0.0) -> list[Row]:
    """A goal that begins at that time [s] where the old one is then. Old: without rows where there is none before it;
    shortest: least time of the braking [s]; share: of the speed, by which a gap may be closed faster."""
    path = [(q, qd, t + DELAY_S) for q, qd, t in commands]
    start = old.state(begin) if old.rows else (path[0][0], np.zeros(6))
    gap = float(np.abs(start[0] - Splines(path).at(begin)).max())
    q, qd, end = path[-1]
    ahead = [row for row in path if row[2] > begin + 0.5 * STEP_S]
    if gap > SAME_RAD:  # the same speed first, then the place
        T = end - begin
        steady = start[0] + 0.5 * T * (start[1] + qd)
        most = T * np.maximum(JOIN_SPEED + share * np.abs(qd), CATCH_UP / OVERLAP - np.abs(qd))
        q = steady + np.clip(q - steady, -most, most)
        ahead = [(q, qd, end)]
    braking = braking_time(qd, shortest)
    held = q + HOLD_S * qd
    rest = held + 0.5 * braking * qd
    return [(*start, begin), *ahead, (held, qd, end + HOLD_S), (rest, np.zeros(6), end + HOLD_S + braking)]


class ActionOutput:
    """`send` only notes the newest command; a timer of the executor sends the goals."""

    def __init__(
        self,
        node: Node,
        names: Sequence[str],
        shortest: float,
        action: str = ACTION,
        stamp_ns: Callable[[float], int] = lambda now: 0,
    ) -> None:
        """shortest: least time of the braking [s]; stamp_ns: the controller's time at a time of the loop [s], 0 where
        it is not known."""
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
        self._parameters = Question(node, DescribeParameters, self.topic.rsplit("/", 1)[0] + "/describe_parameters")
        self._goal, self._shortest = Splines(), shortest
        load(braking_time, np.zeros(6), shortest)
        self._stamp_ns, self._blends = stamp_ns, False
        self._knots: deque[Row] = deque(maxlen=round(DELAY_S / STEP_S) + 2)  # the commands, one per STEP_S
        self._newest: Row = (np.zeros(6), np.zeros(6), 0.0)
        self._fresh = False
        self._asked_at = -1.0  # [s] when the goal was sent whose answer is awaited; negative: none
        self._number = 0
        self._failures = 0
        self._problem = ""
        self._timer: Any = None

    def open(self) -> None:
        self._failures, self._problem, self._fresh, self._asked_at = 0, "", False, -1.0
        self._number = 0
        self._knots.clear()
        self._goal.rows = []
        answer = self._parameters.ask(ANSWER_S, DescribeParameters.Request(names=[BLENDS]))
        self._blends = answer is not None and any(BLENDED in one.description for one in answer.descriptors)
        steady = Clock(clock_type=ClockType.STEADY_TIME)  # goals must go out whatever /clock does
        self._timer = self._node.create_timer(GOAL_PERIOD_S, self._on_timer, clock=steady)

    def close(self, q_arm: Array | None = None) -> None:
        """The last goal is a standstill, whatever is still on its way: goals arrive in the order in which they left. An
        arm that has not followed stays where it is."""
        if self._timer is None:
            return
        self._node.destroy_timer(self._timer)
        self._timer = None
        if self._number:
            q, _, now = self._newest
            if q_arm is not None and float(np.abs(q_arm - q).max()) > AWAY_RAD:
                q, self._goal.rows = q_arm, []
                self._knots.clear()
            self._newest = q, np.zeros(6), now
            self._send_goal()
            time.sleep(SENDING_S)

    def destroy(self) -> None:
        self.close()
        self._client.destroy()
        self._parameters.destroy()

    def listeners(self) -> int:
        return int(self._client.server_is_ready())

    def nobody(self) -> str:
        return f"no action server on {self.topic}; is that controller active?"

    def others(self) -> list[str]:
        return []  # any number of clients may exist; the controller tells by aborting goals

    def send(self, q: Array, qd: Array, now: float) -> None:
        if now - self._newest[2] > PAUSE_S:
            self._knots.clear()
        self._newest = command = q.copy(), qd.copy(), now
        if not self._knots or now >= self._knots[-1][2] + STEP_S:
            self._knots.append(command)
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
        newest = self._newest
        begin = newest[2]
        commands = [row for row in tuple(self._knots) if row[2] < begin - 0.5 * STEP_S]
        share = BLEND_SHARE if self._blends else 0.0
        rows = self._goal.rows = rows_to_rest(self._goal, [*commands, newest], begin, self._shortest, share)
        first = BLEND_S if self._blends and self._number else 0.0
        given = [(q, qd, t - begin) for q, qd, t in rows if t - begin >= first]
        goal = self._kind.Goal()
        goal.trajectory = trajectory(self._names, given)
        stamp = goal.trajectory.header.stamp
        stamp.sec, stamp.nanosec = divmod(0 if self._blends else self._stamp_ns(begin), 1_000_000_000)
        self._number += 1
        number, self._asked_at = self._number, time.monotonic()
        self._client.send_goal_async(goal).add_done_callback(lambda answer: self._answered(answer, number))

    def _answered(self, answer: Any, number: int) -> None:
        if number == self._number:
            if self._blends:
                self._goal.shift(0.5 * (time.monotonic() - self._asked_at))
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
