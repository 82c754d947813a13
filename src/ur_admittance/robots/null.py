"""A robot that costs nothing: it is where it was told to be. For timing the loop, and for a first try of a program."""

from types import TracebackType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ur_admittance.core.views import Record, scalar, vector
from ur_admittance.model import RobotModel, robot_model
from ur_admittance.runtime.clock import Clock, LockstepClock
from ur_admittance.runtime.robot import RobotInfo


class NullRobot:
    """q := the last commanded q, wrench := ``self.wrench`` (sensor axes), period always nominal."""

    def __init__(self, period: float = 0.002, q: ArrayLike | None = None, model: RobotModel | None = None) -> None:
        self.period = period  # [s]
        self._period_ns = round(period * 1e9)
        self.model = model or robot_model("ur5e")
        self.q: NDArray[np.float64] = np.array(self.model.home if q is None else q, dtype=float)
        self.qd: NDArray[np.float64] = np.zeros(6)
        self.wrench: NDArray[np.float64] = np.zeros(6)  # [N, Nm]
        self.external_status = 0
        self.stopped = False
        self._sample: Record | None = None
        self._command: Record | None = None

    def connect(self) -> RobotInfo:
        sentence = "No robot: it is at once where it is told to be, and feels nothing."
        return RobotInfo("null", self.model, 1.0 / self.period, self.model.joint_names, True, (sentence,))

    def clock(self) -> Clock:
        return LockstepClock(1.0 / self.period)

    def read(self, sample: Record) -> None:
        if sample is not self._sample:
            self._bind(sample)
        self._q[:] = self.q
        self._qd[:] = self.qd
        self._wrench[:] = self.wrench
        self._dt[0] = self.period
        self._stamp[0] += self._period_ns
        self._status[0] = self.external_status

    def write(self, command: Record) -> NDArray[np.float64]:
        if command is not self._command:
            self._command = command
            self._q_command, self._qd_command = vector(command, "q"), vector(command, "qd")
        self.q[:] = self._q_command
        self.qd[:] = self._qd_command
        self.stopped = False
        return self.q

    def stop(self) -> None:
        self.qd[:] = 0.0
        self.stopped = True

    def zero_ft_sensor(self) -> None:
        self.wrench[:] = 0.0

    def __enter__(self) -> "NullRobot":
        self.connect()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _bind(self, sample: Record) -> None:
        self._sample = sample
        self._q, self._qd, self._wrench = (vector(sample, field) for field in ("q", "qd", "wrench"))
        self._dt, self._stamp = scalar(sample, "dt"), scalar(sample, "stamp_ns")
        self._status = scalar(sample, "external_status")
        scalar(sample, "joint_age")[0] = scalar(sample, "wrench_age")[0] = 0.0
