"""One family of errors: each message is one sentence that says which, what, and what is allowed.

Code that runs in the control loop never raises; it returns a status (core/records.py).
"""

from typing import Any


class UrAdmittanceError(Exception):
    """Base of every error this package raises on purpose. The command line shows it as one sentence."""


class ParameterError(UrAdmittanceError):
    """A value, name or file of parameters was refused; the old parameters stay in force.

    `name` is the dotted name with its index (`admittance.mass[2]`); empty when the file itself is at fault.
    """

    def __init__(self, message: str, name: str = "") -> None:
        super().__init__(message)
        self.name = name


class LifecycleError(UrAdmittanceError):
    """An action that does not fit the controller's present state; nothing was changed."""


class ModelError(UrAdmittanceError):
    """A robot type, URDF or chain that cannot be used."""


class RobotError(UrAdmittanceError):
    """The arm, its controller or the connection refused or failed."""


class LoopError(UrAdmittanceError):
    """The control loop failed, or the arm did not come to rest when it ended.

    `report` is what `run` would have returned: how the loop ran until then; `stopped`: whether the robot took the stop;
    `robot`: which one it was, None in another process.
    """

    def __init__(self, message: str, report: Any, stopped: bool, robot: Any = None) -> None:
        super().__init__(message)
        self.report, self.stopped, self.robot = report, stopped, robot

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.report, self.stopped)  # a connection to an arm cannot be sent


class LogError(UrAdmittanceError):
    """A recording that cannot be written, read or replayed."""


class CalibrationError(UrAdmittanceError):
    """Measurements that do not determine the tool or the sensor."""


class Unconfirmed(CalibrationError):
    """A zero that is safe only if nothing touches the tool: somebody must confirm that (zero_free_tool)."""


class Doubt(LifecycleError):
    """An activation that is safe only if somebody knows the force that the tool reads at rest (activate_with_load)."""


class LibraryError(UrAdmittanceError):
    """The compiled controller is missing and cannot be made here."""


class SimulationError(UrAdmittanceError):
    """A world or scenario that cannot be built or has diverged."""


def sentence_of(error: BaseException) -> str:
    """Any error for people; one that is not of this family with its kind."""
    text = str(error).strip().rstrip(".") or "no message"
    return text if isinstance(error, UrAdmittanceError) else f"{type(error).__name__}: {text}"
