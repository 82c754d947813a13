"""Sampling of a trajectory as joint_trajectory_controller does it, without ROS.

Rules of ros2_controllers 2.54.0 (Humble), 4.42.1 (Jazzy) and 6.9.0 (Lyrical),
joint_trajectory_controller/src/trajectory.cpp, which sample positions alike:
`set_point_before_trajectory_msg`, `sample`, `interpolate_between_points`. `deduce_from_derivatives` is left out: it
needs allow_integration_in_goal_trajectories, which UR's ur_controllers.yaml does not set.
"""

import itertools
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SECOND = 1_000_000_000  # [ns]
EMPTY: Array = np.empty(0)


@dataclass(frozen=True, eq=False)
class Point:
    """trajectory_msgs/JointTrajectoryPoint; an empty array: not given."""

    q: Array  # [rad]
    qd: Array = field(default_factory=lambda: EMPTY)  # [rad/s]
    qdd: Array = field(default_factory=lambda: EMPTY)  # [rad/s2]
    effort: Array = field(default_factory=lambda: EMPTY)
    time_ns: int = 0  # from the start


@dataclass(frozen=True, eq=False)
class Message:
    """trajectory_msgs/JointTrajectory. stamp_ns 0: it starts when it is first sampled."""

    joints: tuple[str, ...]
    points: tuple[Point, ...]
    stamp_ns: int = 0


@dataclass(frozen=True, eq=False)
class Sample:
    point: Point
    past_end: bool  # the last point is reached


class Trajectory:
    """A message while it is being followed. Its points are in the controller's order of joints."""

    def __init__(self, message: Message) -> None:
        self.message = message
        self.start_ns = message.stamp_ns
        self.sampled = False
        self._before = Point(EMPTY)
        self._before_ns = 0

    @property
    def nontrivial(self) -> bool:
        """More than one point: has_nontrivial_msg."""
        return len(self.message.points) > 1

    def set_before(self, time_ns: int, state: Point) -> None:
        """The state from which the first point is approached."""
        first = self.message.points[0]
        qd, qdd = state.qd, state.qdd
        if not qd.size and first.qd.size:
            qd = np.zeros(first.qd.size)
        if not qdd.size and first.qdd.size:
            qdd = np.zeros(first.qdd.size)
        self._before, self._before_ns = Point(state.q, qd, qdd), time_ns

    def sample(self, time_ns: int) -> Sample | None:
        """None: the time is before the state from which it starts."""
        points = self.message.points
        if not self.sampled:
            if self.start_ns == 0:
                self.start_ns = time_ns
            self.sampled = True
        if time_ns < self._before_ns:
            return None
        first_ns = self.start_ns + points[0].time_ns
        if time_ns < first_ns:
            return Sample(between(self._before_ns, self._before, first_ns, points[0], time_ns), False)
        for a, b in itertools.pairwise(points):
            a_ns, b_ns = self.start_ns + a.time_ns, self.start_ns + b.time_ns
            if a_ns <= time_ns < b_ns:
                return Sample(between(a_ns, a, b_ns, b, time_ns), False)
        last = points[-1]
        qd, qdd = (x if x.size else np.zeros(last.q.size) for x in (last.qd, last.qdd))
        return Sample(Point(last.q, qd, qdd), True)


def between(a_ns: int, a: Point, b_ns: int, b: Point, time_ns: int) -> Point:
    """Linear, cubic or quintic in time, by what both ends carry.

    q(t) = sum c_i t^i with q, qd (and qdd) of both ends; a side without velocity makes it a straight line, one without
    acceleration a cubic.
    """
    t, T = (time_ns - a_ns) / SECOND, (b_ns - a_ns) / SECOND
    with_qd, with_qdd = bool(a.qd.size and b.qd.size), bool(a.qdd.size and b.qdd.size)
    d = b.q - a.q
    if with_qdd and not with_qd:  # no branch of the source fits, and its answer is zero for every joint
        return Point(np.zeros(d.size), np.zeros(d.size), np.zeros(d.size))
    if not with_qd:
        slope = d / T if T else np.zeros(d.size)
        return Point(a.q + slope * t, slope, np.zeros(d.size))
    if not with_qdd:
        c2, c3 = np.zeros(d.size), np.zeros(d.size)
        if T:
            c2 = (3 * d - (2 * a.qd + b.qd) * T) / T**2
            c3 = (-2 * d + (a.qd + b.qd) * T) / T**3
        return Point(a.q + t * (a.qd + t * (c2 + t * c3)), a.qd + t * (2 * c2 + t * (3 * c3)), 2 * c2 + t * (6 * c3))
    c2, c3, c4, c5 = 0.5 * a.qdd, np.zeros(d.size), np.zeros(d.size), np.zeros(d.size)
    if T:
        c3 = (20 * d - (3 * a.qdd - b.qdd) * T**2 - (12 * a.qd + 8 * b.qd) * T) / (2 * T**3)
        c4 = (-30 * d + (3 * a.qdd - 2 * b.qdd) * T**2 + (16 * a.qd + 14 * b.qd) * T) / (2 * T**4)
        c5 = (12 * d - (a.qdd - b.qdd) * T**2 - 6 * (a.qd + b.qd) * T) / (2 * T**5)
    return Point(
        a.q + t * (a.qd + t * (c2 + t * (c3 + t * (c4 + t * c5)))),
        a.qd + t * (2 * c2 + t * (3 * c3 + t * (4 * c4 + t * 5 * c5))),
        2 * c2 + t * (6 * c3 + t * (12 * c4 + t * 20 * c5)),
    )
