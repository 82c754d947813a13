"""Commands that no tick has made (a calibration, a robot's own stop) become fit to be sent, as those of the tick do."""

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.motion.sending import send
from ur_admittance.core.records import PARAMS, STATE, new
from ur_admittance.core.views import Record


class OwnCommands:
    """One stream of commands to one arm."""

    def __init__(self, top_speed: NDArray[np.float64]) -> None:
        """top_speed of the joints (6,) [rad/s]."""
        self._params, self._state = new(PARAMS), new(STATE)
        self._params["arm_velocity"] = top_speed

    def follow(self, q: NDArray[np.float64], qd: NDArray[np.float64]) -> None:
        """The command that was sent last, by somebody else (6,) [rad], [rad/s]."""
        sent = self._state["sent"][0]
        sent["q"], sent["qd"], sent["gain"], sent["valid"] = q, qd, 1.0, 1

    def fit(self, sample: Record, command: Record) -> None:
        """command, in place: what may be sent. sample: as the robot has just filled it."""
        send(self._params, self._state, sample, command)
