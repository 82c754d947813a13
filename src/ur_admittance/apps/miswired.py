"""A robot whose force sensor is wired wrongly: for learning what that does, and for testing the push test."""

from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ur_admittance.errors import RobotError
from ur_admittance.runtime.clock import Clock
from ur_admittance.runtime.robot import Robot, RobotInfo

FAULTS = "reaction, swap-xy, swap-yz, swap-zx, flip-x, flip-y, flip-z, or one of these with force- or torque- in front"


class Miswired:
    """``robot`` with the force channels multiplied by ``force`` and the torque channels by ``torque`` (3, 3)."""

    def __init__(self, robot: Robot, force: ArrayLike, torque: ArrayLike) -> None:
        self.robot = robot
        self._force: NDArray[np.float64] = np.array(force, dtype=float)
        self._torque: NDArray[np.float64] = np.array(torque, dtype=float)

    def connect(self) -> RobotInfo:
        return self.robot.connect()

    def clock(self) -> Clock:
        return self.robot.clock()

    def read(self, sample: Any) -> None:
        self.robot.read(sample)
        wrench = np.array(sample["wrench"]).reshape(6)
        sample["wrench"] = np.concatenate([self._force @ wrench[:3], self._torque @ wrench[3:]])

    def write(self, command: Any) -> Any:
        return self.robot.write(command)

    def stop(self) -> None:
        self.robot.stop()

    def zero_ft_sensor(self) -> None:
        self.robot.zero_ft_sensor()

    def __enter__(self) -> "Miswired":
        self.robot.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.robot.__exit__(kind, error, trace)


def with_fault(robot: Robot, fault: str) -> Miswired:
    """The robot with a fault by name, such as `reaction`, `swap-xy`, `flip-z`, `torque-flip-x`."""
    part, _, rest = fault.partition("-")
    name = rest if part in ("force", "torque") else fault
    matrix = _matrix(name)
    if matrix is None:
        raise RobotError(f"fault = {fault!r}: must be {FAULTS}.")
    keep = np.eye(3)
    return Miswired(robot, keep if part == "torque" else matrix, keep if part == "force" else matrix)


def _matrix(name: str) -> NDArray[np.float64] | None:
    if name == "reaction":
        return -np.eye(3)
    kind, _, axes = name.partition("-")
    if kind == "swap" and len(axes) == len(set(axes)) == 2 and set(axes) < set("xyz"):
        order = list(range(3))
        i, k = ("xyz".index(axis) for axis in axes)
        order[i], order[k] = order[k], order[i]
        return np.eye(3)[order]
    if kind == "flip" and axes and set(axes) <= set("xyz"):
        return np.diag([-1.0 if axis in axes else 1.0 for axis in "xyz"])
    return None
