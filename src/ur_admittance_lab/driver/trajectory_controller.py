"""joint_trajectory_controller with a position interface, without ROS: what it takes, and what it commands each cycle.

Rules: `topic_callback`, `update`, `on_activate`, `on_deactivate`, `set_hold_position`,
`blend_with_active_trajectory` of joint_trajectory_controller.cpp (ros2_controllers 2.54.0,
4.42.1, 6.9.0) and `update` of scaled_joint_trajectory_controller.cpp (driver 2.12.0, 2.14.0, 3.8.0). Which of them
holds is in generations.py.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ur_admittance_lab.driver.acceptance import refusal
from ur_admittance_lab.driver.generations import TrajectoryRules
from ur_admittance_lab.driver.trajectory import EMPTY, Message, Point, Sample, Trajectory

Array = NDArray[np.float64]

# ur_controllers.yaml of all generations: constraints.<joint>.trajectory, .goal, constraints.goal_time
PATH_TOLERANCE, GOAL_TOLERANCE = 0.2, 0.1  # [rad]; that of the goal counts for goals of the action only
GOAL_TIME = 0.0  # [s]: for as long as it takes


class TrajectoryController:
    """Everything in one thread. Times are ROS time [ns]."""

    def __init__(self, joints: Sequence[str], rules: TrajectoryRules, period_ns: int) -> None:
        self.joints, self.rules, self.period_ns = tuple(joints), rules, period_ns
        self.active = False
        self.holds = True  # tolerances do not count
        self.desired = Point(EMPTY)  # what it wants at the time of the last update
        self.why_held = ""  # the last reason for holding that was not asked for
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
        self.active, self._trajectory, self._new, self._deferred = False, None, None, None

    # commands

    def offer(self, message: Message, now_ns: int) -> str:
        """A message of the topic. Why it is refused; an inactive controller drops it without a word."""
        reason = refusal(message, self.joints, self.rules.end_velocity, now_ns)
        if not reason and self.active:
            self._new, self.holds = self._sorted(message), False
        return reason

    def _sorted(self, message: Message) -> Message:
        order = [message.joints.index(name) for name in self.joints]
        points = tuple(
            replace(p, q=p.q[order], qd=p.qd[order] if p.qd.size else p.qd, qdd=p.qdd[order] if p.qdd.size else p.qdd)
            for p in message.points
        )
        return Message(self.joints, points, message.stamp_ns)

    def _hold(self) -> None:
        """One point without a stamp, due now: where the arm was measured last."""
        self._new = Message(self.joints, (Point(self._measured.q),))
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
        return self._judge(sample, first)

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

    def _judge(self, sample: Sample, first: bool) -> Array | None:
        """The command, unless the arm is too far from the path."""
        error = np.abs(self.desired.q - self._measured.q)
        if not self.holds and (first or not sample.past_end) and bool((error > PATH_TOLERANCE).any()):
            self.why_held = "Aborted due to path tolerance violation"
            self._hold()
            return None
        self._commanded = sample.point
        return sample.point.q

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
