"""What the loop needs from a controller (for robots see robot.py), and what it tells about each cycle."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.records import Mode, Status


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
    def retreat(self) -> None: ...
    def latch_reference(self) -> None: ...
    def zero_ft_sensor(self) -> object: ...
    def set_parameters(self, changes: dict[str, Any]) -> None: ...
    def set_reference_twist(self, twist: NDArray[np.float64]) -> None: ...
    def set_reference_wrench(self, wrench: NDArray[np.float64]) -> None: ...
    def set_target_pose(self, position: NDArray[np.float64], rotation: NDArray[np.float64]) -> None: ...


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
        ("stalls", np.int64),  # pauses of more than 0.1 s, each a fault, since the start
    ],
    align=True,
)


class Publisher(Protocol):
    """Who sees each cycle: the shared-memory ring, or a recorder in the same process. Must neither block nor raise."""

    def publish(self, controller: Controller, loop: Any) -> None: ...
