"""A robot that costs no time: it is wherever it was told to be. For timing the loop and for trying out a program."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ur_admittance.core.views import Record, SampleFields, vector
from ur_admittance.model import RobotModel, robot_model
from ur_admittance.runtime.clock import Clock, LockstepClock
from ur_admittance.runtime.interfaces import Robot, RobotInfo


class NullRobot(Robot):
    """q := the last commanded q, wrench := ``self.wrench`` (sensor axes), period always nominal. The first reading is
    that of a free tool: a controller does not comply while it is already pushed."""

    def __init__(self, period: float = 0.002, q: ArrayLike | None = None, model: RobotModel | None = None) -> None:
        self.period = period  # [s]
        self._period_ns = round(period * 1e9)
        self.model = model or robot_model("ur5e")
        self.q: NDArray[np.float64] = np.array(self.model.home if q is None else q, dtype=float)
        self.qd: NDArray[np.float64] = np.zeros(6)
        self.wrench: NDArray[np.float64] = np.zeros(6)  # [N, Nm]
        self.external_status = 0
        self.stopped = False
        self._fields: SampleFields | None = None
        self._command: Record | None = None

    def connect(self) -> RobotInfo:
        sentence = "No robot: it is instantly where it is told to be, and feels nothing."
        return RobotInfo("null", self.model, 1.0 / self.period, self.model.joint_names, True, (sentence,))

    def clock(self) -> Clock:
        return LockstepClock(1.0 / self.period)

    def read(self, sample: Record) -> None:
        fields = self._fields
        if fields is None or fields.sample is not sample:
            fields = self._fields = SampleFields(sample)
            fields.joint_age[0] = fields.wrench_age[0] = 0.0
            fields.wrench[:] = 0.0
        else:
            fields.wrench[:] = self.wrench
        fields.q[:] = self.q
        fields.qd[:] = self.qd
        fields.dt[0] = self.period
        fields.stamp_ns[0] += self._period_ns
        fields.external_status[0] = self.external_status
        fields.simulated[0] = 1

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
