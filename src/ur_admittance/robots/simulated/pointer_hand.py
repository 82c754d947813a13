"""A hand that follows somebody's pointer: soft, of limited strength and speed, however the pointer jumps."""

import math

import numpy as np
from numpy.typing import NDArray

from ur_admittance.model.frames import rotation_vector
from ur_admittance.robots.simulated.world import World

Array = NDArray[np.float64]

STIFFNESS = (400.0, 8.0)  # [N/m, Nm/rad] of an arm that is held loosely
DAMPING = (25.0, 0.5)  # [Ns/m, Nms/rad]
STRENGTH = 40.0, 2.5  # [N], [Nm] that a person exerts easily; far below the default over-force stop
FOLLOW_S = 0.06  # [s] smoothing of a pointer that reports twenty times a second
FASTEST = 1.0, 2.0  # [m/s], [rad/s]


class PointerHand:
    """Grabs the tool at once; ``wants`` says where the tool should go."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._R_grab, self._p_grab = world.pose()
        self._wanted = np.zeros(6)  # displacement since the grab [m, rad], base axes
        self._at = np.zeros(6)
        self._time = 0.0
        world.grab(self._path, stiffness=STIFFNESS, damping=DAMPING)

    def wants(self, position: Array, turn: Array) -> None:
        """position of the TCP in the base frame [m]; turn since the grab as rotation vector [rad]."""
        self._wanted[:3], self._wanted[3:] = position - self._p_grab, turn

    def rehearse(self) -> None:
        """Load everything that a pull needs, before the loop runs."""
        self._world.hand.prepare(self._world.time, 0.002)
        self._world.let_go()

    def _path(self, time: float) -> Array:
        """Displacement of the hand: the wanted one, smoothed, with limits on its speed and on its lead over the tool.

        The lead is what stretches the spring, so that |force| <= STRENGTH + DAMPING * FASTEST."""
        dt, self._time = time - self._time, time
        if dt <= 0.0:
            return self._at
        R, p = self._world.pose()
        tool, turned = p - self._p_grab, rotation_vector(R @ self._R_grab.T)
        step = (1.0 - math.exp(-dt / FOLLOW_S)) * (self._wanted - self._at)
        _shorten(step[:3], FASTEST[0] * dt)
        _shorten(step[3:], FASTEST[1] * dt)
        self._at += step
        for part, now, i in ((slice(0, 3), tool, 0), (slice(3, 6), turned, 1)):
            lead = self._at[part] - now
            _shorten(lead, STRENGTH[i] / STIFFNESS[i])
            self._at[part] = now + lead
        return self._at


def _shorten(vector: Array, length: float) -> None:
    """In place, to at most that length."""
    norm = math.sqrt(float(vector @ vector))
    if norm > length:
        vector *= length / norm
