"""joint_trajectory_controller with a position interface, without ROS: what it takes, and what it commands each cycle.

Rules: `topic_callback`, `update`, `on_activate`, `on_deactivate`, `set_hold_position`, `set_success_trajectory_point`,
`preempt_active_goal`, `blend_with_active_trajectory` of joint_trajectory_controller.cpp (ros2_controllers 2.54.0,
4.42.1, 6.9.0) and `update` of scaled_joint_trajectory_controller.cpp (driver 2.12.0, 2.14.0, 3.8.0). Which of them
holds is in generations.py.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ur_admittance_lab.driver.acceptance import refusal
from ur_admittance_lab.driver.generations import TrajectoryRules
from ur_admittance_lab.driver.trajectory import EMPTY, SECOND, Message, Point, Sample, Trajectory

Array = NDArray[np.float64]

# ur_controllers.yaml of all generations: constraints.<joint>.trajectory, .goal, constraints.goal_time
PATH_TOLERANCE, GOAL_TOLERANCE, GOAL_TIME = (
    0.2,
    0.1,
    0.0,
)  # [rad], [rad], [s]; a goal time of 0: for as long as it takes
ERASED = -1.0  # in a goal: without this tolerance (control_msgs/JointTolerance)


@dataclass
class Tolerances:
    """As parameters have them; a tolerance of 0 is none."""

    path: Array = field(default_factory=lambda: np.full(6, PATH_TOLERANCE))  # [rad]
    goal: Array = field(default_factory=lambda: np.full(6, GOAL_TOLERANCE))  # [rad]
    goal_time: float = GOAL_TIME  # [s]

    @staticmethod
    def of_goal(
        joints: Sequence[str], path: Mapping[str, float], goal: Mapping[str, float], goal_time: float
    ) -> "Tolerances":
        """tolerances.hpp, get_segment_tolerances: 0 the default, -1 none, less or an unknown joint: all defaults."""
        given = Tolerances()
        if any(value < 0.0 and value != ERASED for value in (goal_time, *path.values(), *goal.values())):
            return given
        if any(name not in joints for name in (*path, *goal)):
            return given
        given.goal_time = _resolved(given.goal_time, goal_time)
        for values, into in ((path, given.path), (goal, given.goal)):
            for name, value in values.items():
                i = list(joints).index(name)
                into[i] = _resolved(float(into[i]), value)
        return given


def _resolved(default: float, given: float) -> float:
    return given if given > 0.0 else 0.0 if given == ERASED else default


@dataclass(eq=False)
class Goal:
    """An action's goal while the controller has it."""

    tolerances: Tolerances = field(default_factory=Tolerances)
    outcome: str = ""  # succeeded, aborted or canceled
    code: str = "SUCCESSFUL"  # name of the constant in FollowJointTrajectory.Result
    text: str = ""

    def end(self, outcome: str, code: str, text: str) -> None:
        self.outcome, self.code, self.text = outcome, code, text


class TrajectoryController:
    """Everything in one thread. Times are ROS time [ns]."""

    def __init__(self, joints: Sequence[str], rules: TrajectoryRules, period_ns: int) -> None:
        self.joints, self.rules, self.period_ns = tuple(joints), rules, period_ns
        self.active = False
        self.holds = True  # tolerances do not count
        self.desired = Point(EMPTY)  # what it wants at the time of the last update
        self.why_held = ""  # the last reason for holding that was not asked for
        self.goal: Goal | None = None
        self._tolerances = Tolerances()  # those of the last goal count for messages of the topic, too (on_configure)
        self._trajectory: Trajectory | None = None
        self._new: Message | None = None
        self._deferred: Message | None = None  # until its time
        self._time_ns = 0  # traj_time_
        self._commanded = Point(EMPTY)
        self._measured = Point(EMPTY)

    # life

    def activate(self, q: Array) -> None:
        """q: what the command interface holds, which the driver sets to the measured angles when the mode starts
        (hardware_interface.cpp, perform_command_mode_switch)."""
        self._trajectory = None
        self._measured = self._commanded = self.desired = Point(np.array(q), np.zeros(len(q)))
        self.active = True
        self._hold()

    def deactivate(self) -> None:
        if self.goal is not None:
            self.goal.end("aborted", "INVALID_GOAL", "Current goal cancelled during deactivate transition.")
            self.goal = None
        self.active, self._trajectory, self._new, self._deferred = False, None, None, None

    # commands

    def offer(self, message: Message, now_ns: int) -> str:
        """A message of the topic. Why it is refused; an inactive controller drops it without a word."""
        reason = refusal(message, self.joints, self.rules.end_velocity, now_ns)
        if not reason and self.active:
            self._new, self.holds = self._sorted(message), False
        return reason

    def offer_goal(self, message: Message, goal: Goal, now_ns: int) -> str:
        """A goal of the action; it takes the place of the one before. Why it is rejected, or empty."""
        if not self.active:
            return "the controller is not active"
        reason = refusal(message, self.joints, self.rules.end_velocity, now_ns)
        if reason:
            return reason
        if self.goal is not None:
            self.goal.end("aborted", "INVALID_GOAL", "Current goal preempted by new incoming action.")
        self._new, self.holds = self._sorted(message), False
        self.goal, self._tolerances = goal, goal.tolerances
        return ""

    def cancel(self, goal: Goal) -> None:
        if goal is self.goal:
            goal.end("canceled", "SUCCESSFUL", "")
            self.goal, self._deferred = None, None
            self._hold()

    def _sorted(self, message: Message) -> Message:
        order = [message.joints.index(name) for name in self.joints]
        points = tuple(
            replace(p, q=p.q[order], qd=p.qd[order] if p.qd.size else p.qd, qdd=p.qdd[order] if p.qdd.size else p.qdd)
            for p in message.points
        )
        return Message(self.joints, points, message.stamp_ns)

    def _hold(self, at: Array | None = None) -> None:
        """One point without a stamp, due now. Without `at`: where the arm was measured last."""
        self._new = Message(self.joints, (Point(self._measured.q if at is None else at),))
        self.holds = True

    # the cycle

    def update(self, time_ns: int, q: Array, qd: Array, scaling: float) -> Array | None:
        """Command for the position interface (6,) [rad]; None: it keeps what it has."""
        self._take_new(time_ns, scaling)
        self._measured = Point(q.copy(), qd.copy())
        trajectory = self._trajectory
        if trajectory is None:
            return None
        first = not trajectory.sampled
        if first:
            trajectory.set_before(time_ns, self._measured)
            self._time_ns = time_ns
        else:
            self._time_ns += round(self.period_ns * (scaling if self.rules.scaled else 1.0))
        wanted, sample = self._sample(trajectory)
        if sample is None:
            return None
        if wanted is not None:
            self.desired = wanted
        return self._judge(trajectory, sample, first)

    def _sample(self, trajectory: Trajectory) -> tuple[Point | None, Sample | None]:
        """(what it wants now, what it commands)."""
        now, ahead = self._time_ns, self._time_ns + self.period_ns
        if self.rules.sampling == "now":
            sample = trajectory.sample(now)
            return (sample.point if sample else None), sample
        if self.rules.sampling == "ahead_late":
            return self._commanded, trajectory.sample(ahead)
        present = trajectory.sample(now)
        return (present.point if present else None), trajectory.sample(ahead)

    def _judge(self, trajectory: Trajectory, sample: Sample, first: bool) -> Array | None:
        """Tolerances, the end of a goal; the command if none is violated."""
        tolerances, goal = self._tolerances, self.goal
        start_ns = trajectory.start_ns + trajectory.message.points[sample.segment].time_ns
        late = (self._time_ns - start_ns) / SECOND
        error = np.abs(self.desired.q - self._measured.q)
        astray = outside = overdue = False
        if not self.holds:
            astray = (first or not sample.past_end) and bool(_exceeds(error, tolerances.path))
            outside = sample.past_end and bool(_exceeds(error, tolerances.goal))
            overdue = outside and tolerances.goal_time != 0.0 and late > tolerances.goal_time
        if astray:
            self._give_up("PATH_TOLERANCE_VIOLATED", "Aborted due to path tolerance violation")
            return None
        if overdue:
            self._give_up(
                "GOAL_TOLERANCE_VIOLATED", f"Aborted due to goal_time_tolerance exceeding by {late:.6f} seconds"
            )
            return None
        self._commanded = sample.point
        if goal is not None and sample.past_end and not outside:
            goal.end("succeeded", "SUCCESSFUL", "Goal successfully reached!")
            self.goal = None
            self._hold(trajectory.message.points[-1].q)
        return sample.point.q

    def _give_up(self, code: str, text: str) -> None:
        self.why_held = text
        if self.goal is not None:
            self.goal.end("aborted", code, text)
            self.goal = None
        self._hold()

    def _take_new(self, time_ns: int, scaling: float) -> None:
        new, self._new = self._new, None
        if new is not None and not self.holds and self.rules.replacing == "deferred":
            later = new.stamp_ns > time_ns and self._trajectory is not None
            self._deferred, new = (new, None) if later else (None, new)
        if self._deferred is not None and time_ns >= self._deferred.stamp_ns:
            new, self._deferred = self._deferred, None
        if new is not None:
            self._install(new, time_ns, scaling)

    def _install(self, message: Message, time_ns: int, scaling: float) -> None:
        old = self._trajectory
        if self.rules.replacing == "blended" and old is not None and old.nontrivial and not self.holds:
            message = self._blended(message, old, time_ns, scaling)
        self._trajectory = Trajectory(message)

    def _blended(self, message: Message, old: Trajectory, time_ns: int, scaling: float) -> Message:
        """What is left of the old trajectory until the new one starts, the old one's state then, the new points."""
        cursor = self._time_ns
        wait = max(0, round((message.stamp_ns - time_ns) * scaling)) if message.stamp_ns else 0
        points = []
        for point in old.message.points:
            after = old.start_ns + point.time_ns - cursor
            if 0 < after < wait:
                points.append(replace(point, time_ns=after))
        bridge = old.sample(cursor + wait)
        if bridge is not None and message.points[0].time_ns > 0:
            points.append(replace(bridge.point, time_ns=wait))
        points += [replace(point, time_ns=point.time_ns + wait) for point in message.points]
        return Message(message.joints, tuple(points))


def _exceeds(error: Array, tolerance: Array) -> bool:
    return bool(((tolerance > 0.0) & (error > tolerance)).any())
