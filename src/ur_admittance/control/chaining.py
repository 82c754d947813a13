"""Stages that come with the program. The loop runs them in every cycle: read, path, tick, follower, write.

    ua.run(controller, robot, stages=[CartesianPath(points, speed=0.05), JointFollower()])

What one writes the next one reads, in the same memory: `controller.sample["reference_twist"]` is a view into the record
that the tick reads, `command["q"]` one into the record that goes to the robot. No copy, no message.
A stage of your own has the same three members (runtime/interfaces.py: Stage).
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from ruckig import InputParameter, OutputParameter, Result, Ruckig, Synchronization

from ur_admittance import given
from ur_admittance.control.kernels import spare_joint_speed
from ur_admittance.core.tick import NOMINAL_PERIOD
from ur_admittance.core.views import scalar, vector, whole
from ur_admittance.errors import ParameterError, UrAdmittanceError

FloatArray = NDArray[np.float64]

PATH_GAIN = 2.0  # [1/s] pull of the reference back onto the path
PATH_END = 4.0  # [1/s] it slows down towards the last point, as towards a target pose (core/law/twist.py)
REACHED = 1e-4  # [m] from the last point
MAX_ACCELERATION = 25.0  # [rad/s2] somewhat more than the tick asks for, or the follower would fall behind
MAX_JERK = 500.0  # [rad/s3] a UR's own motion profiles stay below this
LONGEST_SMOOTHING = 0.1  # [s] the arm would lag by more than the law can tell from one that is stuck
LEAST_SPEED = 1e-4  # [rad/s] above a limit: Ruckig needs room for a joint that is at it


class CartesianPath:
    """Leads the reference along straight segments at constant speed, from where the reference *is*, not by the clock:
    when a limit slows the arm down, the path waits for it. It brakes at the end only, and passes corners by the
    distance in which the arm brakes. The orientation stays."""

    name, behind = "path", False

    def __init__(self, points: ArrayLike, speed: float, relative: bool = False) -> None:
        """points: (n, 3) [m], base frame; relative: seen from where the reference is at the start. It goes to the first
        one in a straight line too. speed [m/s]."""
        self.points: FloatArray = np.array(given.array("path points", points))
        if self.points.ndim != 2 or self.points.shape[0] < 1 or self.points.shape[1] != 3:
            raise ParameterError(f"path points: shape is {self.points.shape}, must be (n, 3).")
        if not np.isfinite(self.points).all():
            raise ParameterError("path points: must be finite numbers.")
        given.number("path speed", speed, "m/s", above=True)
        if not isinstance(relative, bool):  # "False" would be true
            raise ParameterError(f"path relative = {relative}: must be true or false.")
        self.speed, self.relative = speed, relative
        self.done = False

    def start(self, controller: Any, command: Any) -> None:
        self._twist, self._position = vector(controller.sample, "reference_twist"), vector(controller.state, "p_ref")
        here = self._position.copy()
        self._corners = np.vstack([here, self.points + here if self.relative else self.points])
        self._segment = 0
        self.done = False

    def update(self) -> None:
        self._twist[:] = 0.0
        if self.done:
            return
        start, end = self._corners[self._segment], self._corners[self._segment + 1]
        length = float(np.linalg.norm(end - start))
        along = (end - start) / length if length > 0.0 else np.zeros(3)
        travelled = float((self._position - start) @ along)
        last = self._segment == len(self._corners) - 2
        if length - travelled <= (REACHED if last else 0.0):
            self._segment += not last
            self.done = last
            return
        back = PATH_GAIN * (start + travelled * along - self._position)
        back *= min(1.0, self.speed / max(float(np.linalg.norm(back)), 1e-12))
        speed = min(self.speed, PATH_END * (length - travelled)) if last else self.speed
        self._twist[:3] = speed * along + back


class Smoother:
    """Mean of the last `time` seconds of the law's command: always late by half of that, but as every mean it keeps the
    law's limits: angles, walls (to second order), speeds, accelerations a; the jerk is at most 2 a / time."""

    name, behind = "smoother", True

    def __init__(self, time: float = 0.04) -> None:
        """time [s]."""
        given.number("smoother time", time, "s", above=True)
        if time > LONGEST_SMOOTHING:
            raise ParameterError(f"smoother time = {time} s: must be > 0, at most {LONGEST_SMOOTHING} s.")
        self.time = time

    def start(self, controller: Any, command: Any) -> None:
        self._q, self._qd = vector(command, "q"), vector(command, "qd")
        period = float(controller.state["period"])
        count = max(1, round(self.time / period))
        past = period * np.arange(count)[:, np.newaxis]  # it has always moved as it does now
        self._qs, self._qds, self._next = self._q - past * self._qd, np.tile(self._qd, (count, 1)), 0

    def update(self) -> None:
        self._qs[self._next], self._qds[self._next] = self._q, self._qd
        self._next = (self._next - 1) % len(self._qs)
        self._qs.mean(axis=0, out=self._q)
        self._qds.mean(axis=0, out=self._qd)


class JointFollower:
    """Jerk-limited joints behind the law (Ruckig): smooths what would be too abrupt for the arm's own servo.

    The joints are planned as seen from the command, e = q - q_law and its rate, which are brought to zero in the least
    time: in a frame that moves at the command's speed the limits of acceleration and jerk are the same, those of speed
    are shifted by it. So a steady command is met without lag.
    """

    name, behind = "follower", True

    def __init__(self, acceleration: float = MAX_ACCELERATION, jerk: float = MAX_JERK) -> None:
        """acceleration [rad/s2]: at least what the tick may ask for; jerk [rad/s3]."""
        given.number("follower acceleration", acceleration, "rad/s2", above=True)
        given.number("follower jerk", jerk, "rad/s3", above=True)
        self._otg = Ruckig(6, NOMINAL_PERIOD)
        self._input, self._output = InputParameter(6), OutputParameter(6)
        self._acceleration = acceleration
        self._input.max_acceleration = [acceleration] * 6
        self._input.max_jerk = [jerk] * 6
        self._input.synchronization = Synchronization.No  # each joint follows as closely as it can

    def start(self, controller: Any, command: Any) -> None:
        params = controller.params
        self._q, self._qd, self._dt = vector(command, "q"), vector(command, "qd"), scalar(controller.state, "period")
        self._lower, self._upper = vector(params, "joint_lower"), vector(params, "joint_upper")
        self._limit = vector(params, "joint_velocity")
        self._spare = spare_joint_speed.on(whole(params), self._q, vector(command, "twist"))
        self._q_last, self._qd_last = self._q - self._qd * self._dt, self._qd.copy()
        self._input.current_acceleration = [0.0] * 6

    def update(self) -> None:
        q, qd, plan, dt = self._q, self._qd, self._input, float(self._dt[0])
        self._otg.delta_time = dt
        # a speed above the limit, which may just have been lowered, is brought down by the tick
        fastest = np.maximum(self._limit, np.abs(qd)) + LEAST_SPEED
        spare = self._spare()
        plan.max_velocity = np.minimum(fastest - qd, spare).tolist()
        plan.min_velocity = np.maximum(-fastest - qd, -spare).tolist()
        plan.current_position = (self._q_last - (q - qd * dt)).tolist()
        plan.current_velocity = (self._qd_last - qd).tolist()
        result = self._otg.update(plan, self._output)
        if result < Result.Working:
            raise UrAdmittanceError(f"Ruckig finds no motion ({result.name})")
        lower, upper = np.minimum(self._lower, q), np.maximum(self._upper, q)  # the law's, if it is outside
        q += self._output.new_position
        qd += self._output.new_velocity
        plan.current_acceleration = self._output.new_acceleration
        self._brake_in_time(q, qd, dt)
        np.clip(q, lower, upper, out=q)  # by less than 1e-4 rad: a cycle is not infinitely short
        self._q_last[:], self._qd_last[:] = q, qd

    def _brake_in_time(self, q: FloatArray, qd: FloatArray, dt: float) -> None:
        """Near the end of a joint's range the limit counts more than the jerk: so fast that it can still stop."""
        rooms = np.maximum(np.where(qd > 0.0, self._upper - self._q_last, self._q_last - self._lower), 0.0)
        step = self._acceleration * dt
        fastest = np.sqrt(step * step + 2.0 * self._acceleration * rooms) - step
        fastest = np.maximum(fastest, np.abs(self._qd_last) - step)  # never harder, should a limit have been moved
        late = np.abs(qd) > fastest
        if late.any():
            qd[late] = np.copysign(fastest, qd)[late]
            q[late] = (self._q_last + 0.5 * (self._qd_last + qd) * dt)[late]
            acceleration = np.where(late, (qd - self._qd_last) / dt, self._output.new_acceleration)
            self._input.current_acceleration = np.clip(acceleration, -self._acceleration, self._acceleration).tolist()
