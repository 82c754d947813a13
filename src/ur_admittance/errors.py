"""One family of errors: each message is one sentence that says which, what, and what is allowed.

Code that runs in the control loop never raises; it returns a status (core/records.py).
"""


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


class LogError(UrAdmittanceError):
    """A recording that cannot be written, read or replayed."""


class CalibrationError(UrAdmittanceError):
    """Measurements that do not determine the tool or the sensor."""


class Unconfirmed(CalibrationError):
    """A zero that is safe only if nothing touches the tool: somebody must confirm that (zero_free_tool)."""


class SimulationError(UrAdmittanceError):
    """A world or scenario that cannot be built or has diverged."""
