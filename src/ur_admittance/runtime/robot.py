"""What every arm can do, real or simulated: connect, tell its state, take a command, stop."""

from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, TypeVar, runtime_checkable

from ur_admittance.errors import LoopError, RobotError
from ur_admittance.model import RobotModel
from ur_admittance.runtime.clock import Clock

R = TypeVar("R", bound="Robot")

NO_OWN_ZERO = "the sensor does not zero itself: controller.zero_ft_sensor() takes its reading off, as sensor.bias."


@dataclass(frozen=True)
class RobotInfo:
    """Who answered at ``connect``."""

    name: str
    model: RobotModel
    rate: float  # [Hz] of the states it sends and the commands it expects
    joint_names: tuple[str, ...]
    simulated: bool
    sentences: tuple[str, ...] = ()  # what the user should know: mode, version, warnings


def check_second(controller: Any, robot: Any) -> None:
    """RobotError: the parameters name a second force sensor that the robot does not read."""
    parameters = getattr(controller, "parameters", None)
    source = getattr(getattr(parameters, "second", None), "source", "")
    if source and not getattr(robot, "reads_second", False):
        raise RobotError(f"second.source = {source}: this robot reads no second force sensor; leave it empty.")


@runtime_checkable
class Robot(Protocol):
    """One arm. ``with robot:`` connects; leaving the block stops the arm, whatever happened inside.

    ``read`` and ``write`` run in every cycle: they neither raise for what the arm or the network does (they set
    ``external_status`` and the ages) nor wait for more than a fraction of the period.
    """

    def connect(self) -> RobotInfo:
        """Open the connection; the arm does not move. RobotError tells what is in the way."""
        ...

    def clock(self) -> Clock:
        """The clock that goes with this arm, once it is connected: `run(controller, robot, robot.clock())`."""
        ...

    def read(self, sample: Any) -> None:
        """Fill q, qd, wrench (raw, sensor axes), joint_age, wrench_age, external_status, stamp_ns and dt;
        speed_driven where the arm is sent command.qd; second_* where there is a second force sensor (``reads_second``);
        drive where the robot carries commands on by itself."""
        ...

    def write(self, command: Any) -> Any:
        """Send command.q or command.qd; returns what was really sent (6,)."""
        ...

    def stop(self) -> None:
        """Brake to a standstill; returns when the arm stands. Allowed at any time, also twice."""
        ...

    def zero_ft_sensor(self) -> None:
        """Let the sensor itself read zero at its present load; RobotError where it cannot. `controller.zero_ft_sensor`
        zeroes any sensor: the tick takes sensor.bias off."""
        ...

    def close(self) -> None:
        """Let go of what connect has opened; the arm must be at rest already."""
        return

    def __enter__(self: R) -> R:
        self.connect()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.stop()
        except RobotError:
            # A loop that could not stop this arm has said so already, and its error carries the report.
            if not isinstance(error, LoopError) or error.stopped or error.robot is not self:
                raise
        finally:
            self.close()
