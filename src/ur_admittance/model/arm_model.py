"""A six-joint arm as the controller sees it: a chain of constant poses and turns about z, its limits, its masses."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.errors import ModelError
from ur_admittance.model.frames import Array, rotation_z

JOINT_NAMES = (
    "shoulder_pan_joint",
    "shoulder_lift_joint",
    "elbow_joint",
    "wrist_1_joint",
    "wrist_2_joint",
    "wrist_3_joint",
)
HOME = (0.0, -np.pi / 2, np.pi / 2, -np.pi / 2, -np.pi / 2, 0.0)  # [rad] a UR's tool points down in front of the arm


def _frozen(values: ArrayLike, shape: tuple[int, ...], what: str) -> Array:
    """A read-only float copy of the given shape."""
    array = np.array(values, dtype=float)
    if array.shape != shape:
        raise ModelError(f"{what}: shape is {array.shape}, must be {shape}.")
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class Link:
    """A moving link, in the axes of its joint frame (the frame after the turn about z)."""

    name: str
    mass: float  # [kg]; 0 when the description gives none
    com: Array  # (3,) [m] centre of mass
    inertia: Array  # (3, 3) [kg m2] about the centre of mass

    def __post_init__(self) -> None:
        object.__setattr__(self, "com", _frozen(self.com, (3,), f"link {self.name}: com"))
        object.__setattr__(self, "inertia", _frozen(self.inertia, (3, 3), f"link {self.name}: inertia"))
        if not (np.isfinite(self.mass) and np.isfinite(self.com).all() and np.isfinite(self.inertia).all()):
            raise ModelError(f"link {self.name}: mass, com or inertia is not finite.")


@dataclass(frozen=True, eq=False)
class Capsule:
    """All points within ``radius`` [m] of the segment from ``start`` to ``end`` (3,) [m]: a link with its housing."""

    link: int  # 0: the base, in base_link axes; i: the link behind joint i - 1, in the axes of its joint frame
    start: Array
    end: Array
    radius: float


@dataclass(frozen=True, eq=False)
class RobotModel:
    """T_base_flange(q) = X0 Rz(q0) X1 Rz(q1) ... X5 Rz(q5) X6.

    ``base`` is ROS ``base_link`` (x forward; the UR controller's own base is turned by pi about z), ``flange`` is
    ``tool0``. X_i has the rotation ``chain_rotation[i]`` and the position ``chain_position[i]`` [m].
    The arrays are read-only; a joint without position limits has -inf and +inf.
    """

    name: str
    chain_rotation: Array  # (7, 3, 3)
    chain_position: Array  # (7, 3) [m]
    lower: Array  # (6,) [rad]
    upper: Array  # (6,) [rad]
    velocity: Array  # (6,) [rad/s] largest speed
    effort: Array  # (6,) [Nm] largest torque; inf when the description gives none
    links: tuple[Link, ...]  # six, each behind its joint
    joint_names: tuple[str, ...] = JOINT_NAMES
    home: Array = field(default_factory=lambda: np.array(HOME))  # (6,) [rad]
    body_offset: dict[str, float] = field(default_factory=dict)  # [m] tube offset along z, by link name
    capsules: tuple[Capsule, ...] = ()  # around base and links, seven; none: the sizes of this arm are not known
    payload_kg: float | None = None  # None: the description does not say
    reach_m: float | None = None
    source: str = ""
    inertia_source: str = ""
    notes: tuple[str, ...] = ()  # what a user of these numbers must know

    def __post_init__(self) -> None:
        shapes = {"chain_rotation": (7, 3, 3), "chain_position": (7, 3)}
        shapes |= dict.fromkeys(("lower", "upper", "velocity", "effort", "home"), (6,))
        for key, shape in shapes.items():
            object.__setattr__(self, key, _frozen(getattr(self, key), shape, f"model {self.name}: {key}"))
        if not (np.isfinite(self.chain_rotation).all() and np.isfinite(self.chain_position).all()):
            raise ModelError(f"model {self.name}: the chain has a number that is not finite.")
        if len(self.links) != 6 or len(self.joint_names) != 6:
            count = f"{len(self.links)} links and {len(self.joint_names)} joint names"
            raise ModelError(f"model {self.name}: has {count}, must have six of each.")

    def frames(self, q: ArrayLike) -> tuple[Array, Array]:
        """Poses of the six link frames and, last, of the flange: rotations (7, 3, 3), positions (7, 3) [m], in base."""
        angles = np.asarray(q, dtype=float)
        rotations, positions = np.empty((7, 3, 3)), np.empty((7, 3))
        R, p = np.eye(3), np.zeros(3)
        for i in range(7):
            p = R @ self.chain_position[i] + p
            R = R @ self.chain_rotation[i]
            if i < 6:
                R = R @ rotation_z(angles[i])
            rotations[i], positions[i] = R, p
        return rotations, positions

    def forward(self, q: ArrayLike) -> tuple[Array, Array]:
        """T_base_flange at the joint angles ``q`` [rad]: rotation (3, 3) and position (3,) [m]."""
        rotations, positions = self.frames(q)
        return rotations[6], positions[6]

    def jacobian(self, q: ArrayLike) -> Array:
        """[v; w] = J qd, (6, 6): velocity of the flange origin and angular velocity, both in base axes.

        Column i is [z_i x (p - p_i); z_i] with the axis z_i and the origin p_i of joint i.
        """
        rotations, positions = self.frames(q)
        axes = rotations[:6, :, 2]
        arms = positions[6] - positions[:6]
        return np.vstack([np.cross(axes, arms).T, axes.T])
