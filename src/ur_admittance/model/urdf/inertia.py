"""Rigid bodies that are moved and joined: what becomes of mass, centre of mass and inertia tensor."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ur_admittance.model.frames import Array, Pose


@dataclass(frozen=True, eq=False)
class Body:
    """Mass [kg], centre of mass [m] and inertia tensor about it [kg m2], in one frame. The default weighs nothing."""

    mass: float = 0.0
    com: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))

    def seen_from(self, T_parent_body: Pose) -> "Body":
        """The same body in the parent's frame: c' = R c + p, I' = R I R^T."""
        R, p = T_parent_body.rotation, T_parent_body.position
        return Body(self.mass, R @ self.com + p, R @ self.inertia @ R.T)


def joined(bodies: Iterable[Body]) -> Body:
    """One rigid body out of several in the same frame: I = sum I_k + m_k (|d_k|^2 1 - d_k d_k^T), d_k = c_k - c."""
    parts = list(bodies)
    mass = sum(part.mass for part in parts)
    com = np.zeros(3)
    if mass > 0.0:
        com = np.sum([part.mass / mass * part.com for part in parts], axis=0)
    inertia = np.zeros((3, 3))
    for part in parts:
        d = part.com - com
        inertia += part.inertia + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return Body(mass, com, inertia)
