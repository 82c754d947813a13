"""What happens to the arm in an episode, written down beforehand: one row per control period.

script = Script(seconds=4.0)
script.activate(at=0.1)
script.push(at=0.5, seconds=1.0, wrench=[0, 10, 0, 0, 0, 0])
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ur_admittance import given
from ur_admittance.core.records import Request
from ur_admittance.errors import SimulationError
from ur_admittance.robots.simulated.devices import need_number
from ur_admittance.robots.simulated.kernels import holding as hand
from ur_admittance_lab.episodes import kernels as episode

FAULTS = {
    "wrench_lost": episode.WRENCH_LOST,
    "joints_lost": episode.JOINTS_LOST,
    "nan_wrench": episode.NAN_WRENCH,
    "nan_joints": episode.NAN_JOINTS,
    "frozen": episode.FROZEN,
    "protective_stop": episode.STOPPED,
}


class Script:
    """``rows`` (n,) ROW is all there is to it: fill them directly where the methods are not enough.

    Times ``at`` are since the start [s]. What lies beyond the end is left out."""

    def __init__(self, seconds: float, period: float = 0.002) -> None:
        """seconds: length of the episode; period of a cycle [s]."""
        need_number("script: seconds", seconds, "s", above=True)
        need_number("script: period", period, "s", above=True)
        if seconds > 86400.0 or period > 0.1:
            raise SimulationError(
                f"script: {seconds} s in periods of {period} s: must be at most a day in periods of at most 0.1 s."
            )
        self.period = period
        self.rows: NDArray[Any] = np.zeros(max(1, round(seconds / period)), episode.ROW)

    @property
    def seconds(self) -> float:
        return len(self.rows) * self.period

    # requests

    def activate(self, at: float, accept_load: bool = False) -> None:
        """accept_load: whatever presses on the tool then."""
        self._request(at, Request.ACTIVATE | (Request.ACCEPT_LOAD if accept_load else Request.NONE))

    def deactivate(self, at: float) -> None:
        self._request(at, Request.DEACTIVATE)

    def reset_fault(self, at: float) -> None:
        self._request(at, Request.RESET_FAULT)

    def retreat(self, at: float, seconds: float) -> None:
        self._part(at, seconds)["request"] |= int(Request.RETREAT)

    def latch_reference(self, at: float) -> None:
        self._request(at, Request.LATCH_REFERENCE)

    def parameters(self, at: float, index: int) -> None:
        """From ``at`` on set number ``index`` of the case: 0 is its ``parameters``, 1 the first of its ``changes``."""
        self.rows["parameters"][self._row(at) :] = index

    # the hand

    def push(self, at: float, seconds: float, wrench: ArrayLike) -> None:
        """The hand pushes with a wrench (6,), or (n, 6) one for each period [N, Nm], base axes, about the TCP."""
        part = self._part(at, seconds)
        part["hand"] = hand.PUSHES
        _fill(part["hand_values"], wrench, "push")

    def grab(
        self,
        at: float,
        displacements: ArrayLike,
        stiffness: tuple[float, float] = (2000.0, 30.0),
        damping: tuple[float, float] = (60.0, 1.0),
        mass: float = 0.0,
    ) -> None:
        """The hand holds the tool and leads it by displacements (n, 6) [m, rad], base axes, one for each period.
        mass: of the hand's own body [kg]."""
        need_number("script: grab: mass", mass, "kg")
        values = np.atleast_2d(given.array("script: grab", displacements, SimulationError))
        part = self._part(at, len(values) * self.period)
        part["hand"] = hand.HOLDS
        part["hand_stiffness"], part["hand_damping"], part["hand_mass"] = stiffness, damping, mass
        _fill(part["hand_values"], values, "grab")

    # references and faults

    def twist(self, at: float, seconds: float, twist: ArrayLike) -> None:
        """Velocity of the reference (6,) or (n, 6) [m/s, rad/s], base axes."""
        _fill(self._part(at, seconds)["reference_twist"], twist, "twist")

    def wrench(self, at: float, seconds: float, wrench: ArrayLike) -> None:
        """Desired wrench on top of admittance.desired_wrench (6,) or (n, 6) [N, Nm], control axes."""
        _fill(self._part(at, seconds)["reference_wrench"], wrench, "wrench")

    def fault(self, at: float, seconds: float, kind: str) -> None:
        """One of wrench_lost, joints_lost, nan_wrench, nan_joints, frozen, protective_stop."""
        if kind not in FAULTS:
            raise SimulationError(f"script: fault {kind!r}: must be one of {', '.join(FAULTS)}.")
        self._part(at, seconds)["fault"] = FAULTS[kind]

    # inside

    def _row(self, at: float) -> int:
        need_number("script: at", at, "s", infinite=True)
        return len(self.rows) if math.isinf(at) else round(at / self.period)

    def _request(self, at: float, request: Request) -> None:
        self.rows["request"][self._row(at) : self._row(at) + 1] |= request

    def _part(self, at: float, seconds: float) -> NDArray[Any]:
        need_number("script: seconds", seconds, "s", infinite=True)
        return self.rows[self._row(at) : self._row(at + seconds)]


def _fill(part: NDArray[Any], values: ArrayLike, what: str) -> None:
    """One row of six numbers for all, or one for each; a longer one is cut at the end of the script."""
    array = given.array(f"script: {what}", values, SimulationError)
    if array.ndim not in (1, 2) or array.shape[-1] != 6 or (array.ndim == 2 and len(array) < len(part)):
        raise SimulationError(f"script: {what} has shape {array.shape}: must be (6,), or (n, 6) with n = {len(part)}.")
    if not np.isfinite(array).all():
        raise SimulationError(f"script: {what}: must be finite numbers.")
    part[:] = array if array.ndim == 1 else array[: len(part)]
