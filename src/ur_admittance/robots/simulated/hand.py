"""A person's hand: it grabs the tool and leads it along a path, or pushes with a given force, and lets go.

A hand that holds is a spring and a damper between the tool and where the hand wants to be, with or without a mass of
its own. ``work`` is the work that the hand has done on the tool so far; a negative change means that the arm has pushed
the hand.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ur_admittance.errors import SimulationError
from ur_admittance.robots.simulated.devices import need_number, need_vector
from ur_admittance.robots.simulated.kernels import holding as kernels

Array = NDArray[np.float64]
Path = Callable[[float], ArrayLike]  # time since the grab [s] -> displacement (6,) [m, rad], base axes
Profile = Callable[[float], ArrayLike]  # time since the start of the push [s] -> wrench (6,) [N, Nm], base axes


class Hand:
    """``world.hand``. Its wrench acts at the grip: the TCP, or ``grip`` away from it in TCP axes [m]."""

    def __init__(self, plant: Any, p_tool_tcp: Array, R_tool_tcp: Array) -> None:
        self._plant = plant
        self._p_tool_tcp, self._R_tool_tcp = p_tool_tcp, R_tool_tcp
        self._path: Path | None = None
        self._profile: Profile | None = None
        self._since = 0.0
        self._grip_at((0.0, 0.0, 0.0))

    @property
    def active(self) -> bool:
        """True while the hand holds or pushes."""
        return self._path is not None or self._profile is not None

    @property
    def work(self) -> float:
        """Work done on the tool since the reset [J]."""
        return float(self._plant["hand_work"])

    @property
    def wrench(self) -> Array:
        """On the tool, about the grip, base axes, mean over the last period (6,) [N, Nm]."""
        return np.array(self._plant["hand_wrench"])

    def grab(
        self,
        path: Path,
        *,
        time: float,
        p_base_tool: Array,
        R_base_tool: Array,
        grip: ArrayLike = (0.0, 0.0, 0.0),
        stiffness: tuple[float, float] = (2000.0, 30.0),
        damping: tuple[float, float] = (60.0, 1.0),
        mass: float = 0.0,
    ) -> None:
        """Hold the tool where it is now and follow ``path``. Use ``World.grab``, which fills in time and pose.
        mass: of the hand's own body [kg]."""
        if not callable(path):
            raise SimulationError(f"grab: path = {path!r}: must be a function of the time [s].")
        need_number("grab: mass", mass, "kg")
        springs = need_vector("grab: stiffness", stiffness, 2, "N/m, Nm/rad")
        dampers = need_vector("grab: damping", damping, 2, "Ns/m, Nms/rad")
        self._grip_at(grip)
        self._plant["hand_stiffness"], self._plant["hand_damping"] = springs, dampers
        self._path, self._profile, self._since = path, None, time
        self._plant["hand_mass"] = mass
        kernels.take_hold(self._plant, p_base_tool, R_base_tool)

    def push(self, profile: Profile, *, time: float, grip: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        """Push with ``profile(t)`` without holding. Use ``World.push``."""
        start = _six(profile(0.0), "wrench")  # a refused push changes nothing
        self._grip_at(grip)
        self._path, self._profile, self._since = None, profile, time
        kernels.start_pushing(self._plant, start)

    def let_go(self) -> None:
        """No force from the next step on."""
        self._path = self._profile = None
        kernels.let_go(self._plant)

    def prepare(self, time: float, period: float) -> None:
        """Set hand position or force for the end of the period that starts at ``time``."""
        end = time + period - self._since
        if self._profile is not None:
            kernels.lead(self._plant, _six(self._profile(end), "wrench"), period)
        elif self._path is not None:
            kernels.lead(self._plant, _six(self._path(end), "displacement"), period)

    def _grip_at(self, grip: ArrayLike) -> None:
        found = need_vector("hand: grip", grip, 3, "m")
        self._plant["grip"] = self._p_tool_tcp + self._R_tool_tcp @ found


def _six(values: ArrayLike, what: str) -> Array:
    return need_vector(f"hand: {what}", values, 6)
