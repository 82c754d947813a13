"""Zeroing the force sensor: the recent readings, and whether they may become the new zero."""

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.chain import forward
from ur_admittance.errors import CalibrationError

LENGTH = 250  # samples: 0.5 s at 500 Hz
MOVING = 0.01  # [rad/s]
UNSTEADY_FORCE = 0.5  # [N] standard deviation above the noise of common sensors: a hand, a contact
UNSTEADY_TORQUE = 0.05  # [Nm]


class WrenchWindow:
    """The last half second of samples. Adding one costs well under a microsecond."""

    def __init__(self) -> None:
        self._wrench = np.zeros((LENGTH, 6))
        self._q = np.zeros((LENGTH, 6))
        self._qd = np.zeros((LENGTH, 6))
        self._count = 0

    def add(self, sample: np.void) -> None:
        row = self._count % LENGTH
        self._wrench[row] = sample["wrench"]
        self._q[row] = sample["q"]
        self._qd[row] = sample["qd"]
        self._count += 1

    def residual(self, params: np.void) -> NDArray[np.float64]:
        """Mean compensated wrench in the sensor frame [N, Nm], or CalibrationError with the reason why not."""
        if self._count < LENGTH:
            raise CalibrationError(
                f"zeroing refused: only {self._count} of {LENGTH} readings so far; wait half a second."
            )
        speed = float(np.abs(self._qd).max())
        if not speed <= MOVING:
            raise CalibrationError(f"zeroing refused: the arm moves ({speed:.3f} rad/s, allowed {MOVING} rad/s).")
        spread = self._wrench.std(axis=0)
        force, torque = float(spread[:3].max()), float(spread[3:].max())
        if not force <= UNSTEADY_FORCE:
            raise CalibrationError(
                f"zeroing refused: the force varies by {force:.2f} N (allowed {UNSTEADY_FORCE} N); is the tool touched?"
            )
        if not torque <= UNSTEADY_TORQUE:
            raise CalibrationError(
                f"zeroing refused: the torque varies by {torque:.3f} Nm (allowed {UNSTEADY_TORQUE} Nm); is the tool touched?"
            )
        return compensated(params, self._q.mean(axis=0), self._wrench.mean(axis=0))


def compensated(params: np.void, q: NDArray[np.float64], raw: NDArray[np.float64]) -> NDArray[np.float64]:
    """A raw reading at rest minus bias and tool gravity, sensor frame [N, Nm]: zero when nothing touches the tool."""
    R_base_tcp, position, jacobian = np.empty((3, 3)), np.empty(3), np.empty((6, 6))
    forward(params["chain_rotation"], params["chain_position"], q, R_base_tcp, position, jacobian)
    weight = (R_base_tcp @ params["R_tcp_sensor"]).T @ params["tool_weight_base"]
    load = np.concatenate([weight, np.cross(params["tool_com"], weight)])
    wrench: NDArray[np.float64] = params["sensor_sign"] * raw - params["sensor_bias"] - load
    return wrench
