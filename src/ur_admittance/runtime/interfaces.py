"""What the loop needs from a controller and from a robot, and what it tells about each cycle."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.records import Mode, Status

Record = np.void | NDArray[np.void]  # one record: array[0], or the array of length 1 that holds it


class Controller(Protocol):
    """One tick over four records; ``control.AdmittanceController`` is the real one."""

    params: Any  # Record
    state: Any  # Record
    sample: Any  # Record
    command: Any  # Record

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
    def deactivate(self) -> None: ...
    def reset_fault(self) -> None: ...
    def latch_reference(self) -> None: ...
    def zero_ft_sensor(self) -> object: ...
    def set_parameters(self, changes: dict[str, Any]) -> None: ...
    def set_reference_twist(self, twist: NDArray[np.float64]) -> None: ...
    def set_reference_wrench(self, wrench: NDArray[np.float64]) -> None: ...
    def set_target_pose(self, position: NDArray[np.float64], rotation: NDArray[np.float64]) -> None: ...


class LoopRobot(Protocol):
    """The part of ``robots.Robot`` that runs in every cycle, and the stop."""

    def read(self, sample: Any) -> None: ...
    def write(self, command: Any) -> Any: ...
    def stop(self) -> None: ...


LOOP = np.dtype(
    [
        ("sequence", np.int64),  # cycles since the start, first is 1
        ("time_ns", np.int64),  # wall clock at the start of the cycle (simulated time in lock-step)
        ("params_revision", np.int64),  # of the parameters this cycle was computed with
        ("period", np.float64),  # since the start of the last cycle [s]
        ("lateness", np.float64),  # start of the cycle after its deadline [s]
        ("latency", np.float64),  # from the start of reading the robot to the end of writing to it [s]
        ("publish", np.float64),  # time that publishing the last cycle took [s]
        ("missed", np.int64),  # deadlines skipped since the start
        ("overruns", np.int64),  # cycles that took longer than the period, since the start
    ],
    align=True,
)


class Publisher(Protocol):
    """Who sees each cycle: the shared-memory ring, or a recorder in the same process. Must neither block nor raise."""

    def publish(self, controller: Controller, loop: Any) -> None: ...


def whole(record: Record) -> NDArray[Any]:
    """A record as the array of length 1 that holds it: a view, whatever form the record has."""
    base = record if isinstance(record, np.ndarray) else record.base
    if not isinstance(base, np.ndarray) or base.shape != (1,) or base.dtype != record.dtype:
        raise TypeError("a record of the loop must come from core.records.new()")
    return base


def scalar(record: Record, field: str) -> NDArray[Any]:
    """One number of a record as an array of one element: ``view[0]`` reads and writes the record in 0.05 us."""
    return whole(record)[field]


def vector(record: Record, field: str) -> NDArray[Any]:
    """A field with several numbers, live."""
    return whole(record)[field][0]  # type: ignore[no-any-return]


def record_bytes(record: Record) -> memoryview:
    """The bytes of a record, live: copying them costs 0.1 us, copying field by field 0.5 us."""
    return whole(record).view(np.uint8).data
