"""What the loop needs from a robot, from a controller and from those around it, and what it tells about each cycle."""

from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.records import Mode, Status
from ur_admittance.errors import LoopError, RobotError, UrAdmittanceError
from ur_admittance.model import RobotModel
from ur_admittance.runtime.clock import Clock

if TYPE_CHECKING:
    from ur_admittance.control.references import References

R = TypeVar("R", bound="Robot")

NO_OWN_ZERO = "the sensor does not zero itself: controller.zero_ft_sensor() takes its reading off, as sensor.bias."


class Controller(Protocol):
    """One tick over four records; ``control.AdmittanceController`` is the real one."""

    params: Any  # Record
    state: Any  # Record
    sample: Any  # Record
    command: Any  # Record

    references: "References"

    @property
    def parameters(self) -> Any: ...
    @property
    def mode(self) -> Mode: ...
    @property
    def status(self) -> Status: ...
    @property
    def reason(self) -> str: ...

    def update(self) -> None: ...
    def activate(self) -> None: ...
    def activate_with_load(self) -> None: ...
    def deactivate(self) -> None: ...
    def reset_fault(self) -> None: ...
    def retreat(self) -> None: ...
    def latch_reference(self) -> None: ...
    def resume_stages(self) -> None: ...
    def go_to(self, goal: Any) -> Any: ...
    def enable(self, held: bool = True) -> None: ...
    def zero_ft_sensor(self) -> object: ...
    def zero_free_tool(self) -> object: ...
    def set_parameters(self, changes: dict[str, Any]) -> None: ...
    def set_reference_twist(self, twist: NDArray[np.float64]) -> None: ...
    def set_reference_wrench(self, wrench: NDArray[np.float64]) -> None: ...
    def set_target_pose(self, position: NDArray[np.float64], rotation: NDArray[np.float64]) -> None: ...


MAX_PERIOD_S = 0.1  # a longer pause is a fault: the arm has moved on without being watched

LOOP = np.dtype(
    [
        ("sequence", np.int64),  # cycles since the start, first is 1
        ("time_ns", np.int64),  # wall clock of the cycle (simulated time in lock-step)
        ("params_revision", np.int64),  # of the parameters this cycle was computed with
        ("period", np.float64),  # since the start of the last cycle [s]
        ("lateness", np.float64),  # start of the cycle after its deadline [s]; 0 where the robot itself sets the pace
        ("latency", np.float64),  # from the start of reading the robot to the end of writing to it [s]
        ("publish", np.float64),  # time that publishing the last cycle took [s]
        ("missed", np.int64),  # deadlines skipped since the start
        ("overruns", np.int64),  # cycles that took longer than the period, since the start
        ("stalls", np.int64),  # pauses of more than 0.1 s, each a fault, since the start
        ("leader", np.int64),  # of the reference: core.leader.Leader
        ("stages", np.int64),  # behind the law; 0: command.q and command.qd are what was sent
        ("q_sent", np.float64, 6),  # behind stages, what was sent [rad]
        ("qd_sent", np.float64, 6),  # [rad/s]
        ("q_shaped", np.float64, 6),  # behind stages, what the last one made of them [rad]
        ("qd_shaped", np.float64, 6),  # [rad/s]
    ],
    align=True,
)


class Mailbox(Protocol):
    def poll(self, controller: Controller) -> object: ...


OnTick = Callable[[Any], bool | None]


class Stage(Protocol):
    """A part of every cycle, in front of the law (it leads the reference) or behind it (it shapes what is sent).

    One that has `prepare(controller, robot)` is asked before the loop begins, and may refuse; one that has `finished`
    ends it when that is True."""

    behind: bool

    def start(self, controller: Any, command: Any) -> None:
        """Begin, or begin again, with the records as they are: keep views of what `update` reads and writes.

        In front: whenever the controller becomes active. Behind: in the first cycle, and whenever the tick's command
        did not get where it is by its own speed (an arm that others have moved, a robot that comes back after a stop).
        command: in front the last one; behind the one to be sent, as the tick or the stage before has left it.
        """
        ...

    def update(self) -> None:
        """One cycle. In front: write controller.sample["reference_twist"], or call set_target_pose; only while the
        controller is active and nobody outside leads. Behind: change command["q"] and command["qd"] in place."""
        ...


class StageError(UrAdmittanceError):
    """A stage that failed, by its name."""


class Publisher(Protocol):
    """Who sees each cycle: the shared-memory ring, or a recorder in the same process. Must neither block nor raise."""

    def publish(self, controller: Controller, loop: Any) -> None: ...


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


def check_enabling(controller: Any, robot: Any) -> None:
    """RobotError: the parameters name an enabling signal that the robot does not read."""
    guiding = getattr(getattr(controller, "parameters", None), "guiding", None)
    source = getattr(guiding, "source", "software")
    known = ("software", *getattr(robot, "enabling", ()))
    if source.partition(":")[0] not in known:
        raise RobotError(f"guiding.source = {source}: this robot has no such signal; it has {', '.join(known)}.")


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
        """Fill q, qd, wrench (as it comes, in sensor axes), joint_age, wrench_age, external_status, stamp_ns and dt;
        speed_driven where a real arm is sent command.qd; second_* where there is a second force sensor
        (``reads_second``); drive where the robot carries commands on by itself."""
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
