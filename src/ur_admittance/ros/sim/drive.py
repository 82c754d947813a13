"""What drives the simulated arm: a trajectory, joint speeds, or nothing. Takes the place of ros2_control's controllers.

A trajectory is followed with cubic splines from the present set-point, its time runs with the speed scaling, and its
end is held. Speeds are integrated; when they are not renewed for WATCHDOG_S the arm brakes by itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ur_admittance.errors import RobotError
from ur_admittance.runtime.braking import BRAKING, WATCHDOG_S, Watchdog, slow_down

Array = NDArray[np.float64]

LONGEST_JUMP = 0.2  # [rad] a point farther than this from the arm, due within a period, is refused


@dataclass(frozen=True, eq=False)
class Point:
    time: float  # [s] from the start
    q: Array  # (6,) [rad]
    qd: Array | None  # (6,) [rad/s]


class Drive:
    """Target of the arm's servo, one period after the other."""

    def __init__(self, q: Array, velocity: Array, period: float) -> None:
        """velocity: largest joint speeds (6,) [rad/s]; period [s]."""
        self.q, self.qd = np.array(q), np.zeros(6)
        self.period, self.limit = period, np.array(velocity)
        self.scaling = 1.0  # 0..1
        self.refused = ""  # why the last command was not taken
        self._points: list[Point] = []
        self._time = 0.0
        self._start = Point(0.0, self.q.copy(), np.zeros(6))
        self._speeds = np.zeros(6)
        self._watchdog = Watchdog(period)
        self._mode = "hold"
        self.trajectories = 0  # accepted so far: shows an action server whether its goal is still the current one

    @property
    def mode(self) -> str:
        """hold, trajectory, velocity or brake."""
        return self._mode

    def follow(self, points: Sequence[Point]) -> None:
        """Take a trajectory, or raise RobotError and carry on as before."""
        if not points:
            self._mode, self._speeds[:] = "brake", self.qd
            return
        last = 0.0
        for i, point in enumerate(points):
            if not (np.isfinite(point.q).all() and (point.qd is None or np.isfinite(point.qd).all())):
                raise RobotError(f"trajectory refused: point {i} has a number that is not finite.")
            if not point.time >= last or (i and point.time == last):
                raise RobotError(f"trajectory refused: time_from_start of point {i} is {point.time:g} s, must rise.")
            last = point.time
        distance = np.abs(points[0].q - self.q)
        allowed = self.limit * max(points[0].time, self.period) + LONGEST_JUMP
        if (distance > allowed).any():
            raise RobotError(
                f"trajectory refused: a joint would have to move {distance.max():.2f} rad in {points[0].time:g} s."
            )
        self._start = Point(0.0, self.q.copy(), self.qd.copy())
        self._points, self._time, self._mode = list(points), 0.0, "trajectory"
        self.trajectories += 1

    def drive(self, speeds: Array) -> None:
        """Take joint speeds [rad/s], or raise RobotError."""
        if speeds.shape != (6,) or not np.isfinite(speeds).all():
            raise RobotError(f"velocity command refused: {speeds.tolist()[:8]}: must be six finite numbers.")
        self._speeds[:] = np.clip(speeds, -self.limit, self.limit)
        self._watchdog.kick()
        self._mode = "velocity"

    def stop(self) -> None:
        self._mode, self._speeds[:] = "brake", self.qd

    def place(self, q: Array) -> None:
        """Hold here, at once: after a reset of the world."""
        self.q[:], self.qd[:], self._mode = q, 0.0, "hold"

    def advance(self) -> Array:
        """Target at the end of the coming period (6,) [rad]."""
        if self._mode == "trajectory":
            self._time += self.period * self.scaling
            self._on_spline()
        elif self._mode == "velocity":
            if self._watchdog.tick():
                self._mode = "brake"
            self.qd[:] = self._speeds * self.scaling
            self.q += self.qd * self.period
        elif self._mode == "brake":
            slow_down(self._speeds, BRAKING * self.period)
            self.qd[:] = self._speeds
            self.q += self.qd * self.period
            if not self._speeds.any():
                self._mode = "hold"
        else:
            self.qd[:] = 0.0
        return self.q

    def _on_spline(self) -> None:
        points, time = self._points, self._time
        before = self._start
        for point in points:
            if time < point.time:
                self._between(before, point, time)
                return
            before = point
        self.q[:] = points[-1].q
        self.qd[:] = 0.0 if points[-1].qd is None else points[-1].qd * self.scaling
        if time >= points[-1].time + WATCHDOG_S:
            self.qd[:] = 0.0
            self._mode = "hold"

    def _between(self, a: Point, b: Point, time: float) -> None:
        """Cubic Hermite spline; without speeds a straight line."""
        T = b.time - a.time
        s = (time - a.time) / T
        if a.qd is None or b.qd is None:
            self.q[:] = a.q + s * (b.q - a.q)
            self.qd[:] = (b.q - a.q) / T * self.scaling
            return
        h00, h10 = 2 * s**3 - 3 * s**2 + 1, s**3 - 2 * s**2 + s
        h01, h11 = -2 * s**3 + 3 * s**2, s**3 - s**2
        self.q[:] = h00 * a.q + h10 * T * a.qd + h01 * b.q + h11 * T * b.qd
        d00, d10, d11 = 6 * s**2 - 6 * s, 3 * s**2 - 4 * s + 1, 3 * s**2 - 2 * s
        self.qd[:] = (d00 * (a.q - b.q) / T + d10 * a.qd + d11 * b.qd) * self.scaling
