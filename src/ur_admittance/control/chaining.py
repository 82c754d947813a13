"""Controllers in a chain that share their reference arrays: what one writes, the next one reads. No copy, no message.

    path = CartesianPath(controller.sample["reference_twist"], controller.state["p_ref"], points, speed=0.05)
    follower = JointFollower(controller.command["q"], controller.command["qd"], model, period=0.002)
    chain = Chain([path, controller, follower])
    chain.update()              # one cycle, front to back

`controller.sample["reference_twist"]` is a view into the record that the tick reads, `controller.command["q"]` one into
the record that it writes: passing on a view is the whole interface.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from ruckig import InputParameter, OutputParameter, Result, Ruckig, Synchronization

from ur_admittance.errors import ParameterError
from ur_admittance.model import RobotModel

FloatArray = NDArray[np.float64]

PATH_GAIN = 2.0  # [1/s] pull of the reference back onto the path
MAX_JERK = 500.0  # [rad/s3] a UR's own motion profiles stay below this
MEETING = 0.03  # [s] aim at most this far ahead: the time to meet depends on the aim, and further out it oscillates
UNLIMITED_SPEED_FACTOR = 1.02  # a follower that is no faster than its input never catches up


class Stage(Protocol):
    """Anything that does its part of a cycle when called."""

    def update(self) -> None: ...


class Chain:
    """Stages run in order, once per cycle."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        self.stages = tuple(stages)

    def update(self) -> None:
        for stage in self.stages:
            stage.update()


class CartesianPath:
    """Moves a reference along straight segments at constant speed, from where the reference *is*, not by the clock:
    when a limit slows the arm down, the path waits for it."""

    def __init__(self, twist: FloatArray, position: FloatArray, points: ArrayLike, speed: float) -> None:
        """twist: view to write to (6,) [m/s, rad/s]; position: view of the reference (3,) [m]; points (n, 3) [m]."""
        self.points: FloatArray = np.array(points, dtype=float)
        if self.points.ndim != 2 or self.points.shape[0] < 2 or self.points.shape[1] != 3:
            raise ParameterError(f"path points: shape is {self.points.shape}, must be (n, 3) with n >= 2.")
        if not speed > 0.0:
            raise ParameterError(f"path speed = {speed} m/s: must be > 0.")
        self.speed = speed
        self.done = False
        self._twist = twist
        self._position = position
        self._segment = 0

    def update(self) -> None:
        if self.done:
            self._twist[:3] = 0.0
            return
        start, end = self.points[self._segment], self.points[self._segment + 1]
        length = float(np.linalg.norm(end - start))
        along = (end - start) / length if length > 0.0 else np.zeros(3)
        travelled = float((self._position - start) @ along)
        if travelled >= length:
            self._segment += 1
            self.done = self._segment >= len(self.points) - 1
            if self.done:
                self._twist[:3] = 0.0
            return
        aside = start + travelled * along - self._position
        self._twist[:3] = self.speed * along + PATH_GAIN * aside


class JointFollower:
    """Jerk-limited joints behind the controller (Ruckig): smooths what would be too abrupt for the arm's own servo."""

    def __init__(self, q: FloatArray, qd: FloatArray, model: RobotModel, period: float, acceleration: float = 25.0):
        """q, qd: views of the commanded joints [rad, rad/s]; period [s]; acceleration [rad/s2]."""
        self.q, self.qd, self.qdd = np.zeros(6), np.zeros(6), np.zeros(6)
        self._q_in, self._qd_in = q, qd
        self._otg = Ruckig(6, period)
        self._input, self._output = InputParameter(6), OutputParameter(6)
        self._input.max_velocity = (UNLIMITED_SPEED_FACTOR * model.velocity).tolist()
        self._input.max_acceleration = [acceleration] * 6
        self._input.max_jerk = [MAX_JERK] * 6
        self._input.synchronization = Synchronization.No  # each joint follows as closely as it can
        self._started = False
        self._meeting_time = np.zeros(6)  # [s]

    def update(self) -> None:
        if not self._started:
            self._started = True
            self.q[:] = self._q_in
            self._input.current_position = self._q_in.tolist()
            self._input.current_velocity = [0.0] * 6
            self._input.current_acceleration = [0.0] * 6
        # The input keeps moving while a joint catches up: aim at where they will meet.
        self._input.target_position = (self._q_in + self._meeting_time * self._qd_in).tolist()
        self._input.target_velocity = np.clip(
            self._qd_in, [-v for v in self._input.max_velocity], self._input.max_velocity
        ).tolist()
        result = self._otg.update(self._input, self._output)
        if result < Result.Working:  # an impossible target: brake from the last motion, never jump
            self._input.target_velocity = [0.0] * 6
            self._otg.update(self._input, self._output)
        self._meeting_time[:] = np.minimum(self._output.trajectory.independent_min_durations, MEETING)
        self.q[:] = self._output.new_position
        self.qd[:] = self._output.new_velocity
        self.qdd[:] = self._output.new_acceleration
        self._output.pass_to_input(self._input)
