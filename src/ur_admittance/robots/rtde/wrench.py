"""actual_TCP_force -> a wrench in the axes of the flange about the flange's origin, what ``sample.wrench`` holds.

e-Series controllers report the wrench in UR base axes with its moment about the flange, CB3 about the TCP; the weight
of the configured payload is removed in both. Source: maintainers of Universal_Robots_ROS2_Driver, pull requests 1287
and 1615.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ur_admittance.core.chain import forward
from ur_admittance.core.spatial import cross, rotate_back
from ur_admittance.model import RobotModel
from ur_admittance.robots.rtde.ur_base import vectors_to_ur

Array = NDArray[np.float64]


class BuiltinWrench:
    """tcp: offset of the TCP in the flange frame (6,) when the moment is about the TCP (CB3), else None."""

    def __init__(self, model: RobotModel, tcp: ArrayLike | None = None) -> None:
        self._rotation, self._position = np.array(model.chain_rotation), np.array(model.chain_position)
        self._R, self._p, self._J = np.empty((3, 3)), np.empty(3), np.empty((6, 6))
        self._lever = None if tcp is None else np.array(tcp, dtype=float)[:3].copy()
        self._moment = np.empty(3)
        self.to_flange(model.home, np.zeros(6), np.zeros(6))  # compiled before the loop

    def to_flange(self, q: Array, tcp_force: Array, wrench: Array) -> None:
        """wrench := tcp_force in flange axes about the flange. q: measured angles (6,) [rad]."""
        forward(self._rotation, self._position, q, self._R, self._p, self._J)
        in_base = vectors_to_ur(tcp_force)
        rotate_back(self._R, in_base[:3], wrench[:3])
        rotate_back(self._R, in_base[3:], wrench[3:])
        if self._lever is not None:
            # t_flange = t_tcp + p_flange_tcp x f
            cross(self._lever, wrench[:3], self._moment)
            wrench[3:] += self._moment
