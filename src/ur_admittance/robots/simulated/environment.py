"""Things to touch: floor, wall, incline, cylinder, a block with a hole.

Stiffness is in N/m as one would measure it.

MuJoCo's contact force with a constant impedance d and direct solref (-k, -b) is, at rest and per contact point,
    F = k r / ((1 - d) A)        r: penetration [m], A: inverse weight of the tool body [1/kg]
so that k = K (1 - d) A gives the stiffness K [N/m], and b likewise the damping [Ns/m]. A small d keeps the contact a
spring: a larger one adds inertia to it (https://mujoco.readthedocs.io/en/stable/modeling.html#solver-parameters).
Friction is viscous at first, IMPRATIO * STICTION_DAMPING per slip speed, and then Coulomb's: friction * F.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ur_admittance.errors import SimulationError
from ur_admittance.robots.simulated.devices import need_number, need_vector

Array = NDArray[np.float64]
Kind = Literal["none", "floor", "wall", "incline", "cylinder", "hole"]
KINDS = get_args(Kind)

IMPEDANCE = 0.01  # d
IMPRATIO = (
    100.0  # friction this many times stiffer than the normal direction; at 1 the tool creeps already at a third of mu
)
STICTION_DAMPING = 50.0  # [Ns/m] 10 N at mu = 0.2 slip fully from 0.4 mm/s on
PATCH = 0.25  # [m] half size of what is drawn of an endless plane


@dataclass(frozen=True)
class Environment:
    """One object. The tool would touch it ``gap`` in front of the start pose, or at ``at`` in the base frame.

    Use the constructors ``floor``, ``wall``, ``incline``, ``cylinder``, ``hole``, ``none``.
    """

    kind: Kind = "none"
    stiffness: float = 1e4  # [N/m] per contact point
    damping: float = 8.0  # [Ns/m] per contact point; little, fitted to the same reference as the rotor inertia
    friction: float = 0.2  # Coulomb coefficient
    gap: float = 0.02  # [m] between the tool's surface and the object at the start pose
    at: tuple[float, float, float] | None = None  # [m] point of contact in the base frame; overrides gap
    angle: float = 0.0  # [rad] of the incline, rising along +x
    radius: float = 0.3  # [m] of the cylinder
    hole_half: float = 0.0105  # [m] half width of the square hole
    depth: float = 0.04  # [m] of the hole
    chamfer: float = 0.002  # [m]

    def __post_init__(self) -> None:
        def need(condition: bool, name: str, unit: str, allowed: str) -> None:
            if not condition:
                raise SimulationError(f"environment.{name} = {getattr(self, name)}{unit}: must be {allowed}.")

        need(self.kind in KINDS, "kind", "", f"one of {', '.join(KINDS)}")
        need_number("environment.stiffness", self.stiffness, "N/m", above=True)
        need_number("environment.damping", self.damping, "Ns/m")
        need_number("environment.friction", self.friction)
        need_number("environment.angle", self.angle, "rad", low=-np.inf)
        need(abs(self.angle) < np.pi / 2, "angle", " rad", "between -pi/2 and pi/2")
        need_number("environment.gap", self.gap, "m", low=-np.inf)
        for name in ("radius", "hole_half", "depth", "chamfer"):
            need_number(f"environment.{name}", getattr(self, name), "m", above=True)
        need(self.chamfer < self.depth, "chamfer", " m", "less than the depth")
        if self.at is not None:
            need_vector("environment.at", self.at, 3, "m")

    @classmethod
    def none(cls) -> "Environment":
        """Free space."""
        return cls()

    @classmethod
    def floor(cls, stiffness: float = 1e4, **options: Any) -> "Environment":
        """A horizontal plane under the tool."""
        return cls("floor", stiffness, **options)

    @classmethod
    def wall(cls, stiffness: float = 1e4, **options: Any) -> "Environment":
        """A vertical plane in front of the tool, facing the arm (normal -x)."""
        return cls("wall", stiffness, **options)

    @classmethod
    def incline(cls, angle: float, stiffness: float = 1e4, **options: Any) -> "Environment":
        """A plane that rises along +x by ``angle`` [rad]."""
        return cls("incline", stiffness, angle=angle, **options)

    @classmethod
    def cylinder(cls, radius: float = 0.3, stiffness: float = 1e4, **options: Any) -> "Environment":
        """A horizontal cylinder, axis along y, its top under the tool."""
        return cls("cylinder", stiffness, radius=radius, **options)

    @classmethod
    def hole(
        cls, peg_radius: float = 0.01, clearance: float = 0.0005, stiffness: float = 1e4, **options: Any
    ) -> "Environment":
        """A block with a square hole that leaves ``clearance`` [m] around a centred peg."""
        return cls("hole", stiffness, hole_half=peg_radius + clearance, **options)

    @property
    def normal(self) -> Array:
        """Outward normal at the point of contact, base axes (3,)."""
        if self.kind == "wall":
            return np.array([-1.0, 0.0, 0.0])
        return np.array([-np.sin(self.angle), 0.0, np.cos(self.angle)])

    def place(self, p_tip: Array, tip_radius: float) -> Array:
        """Point of contact in the base frame [m], for a tool whose tip sphere is centred at ``p_tip`` at the start."""
        if self.at is not None:
            return np.array(self.at)
        return p_tip - (tip_radius + self.gap) * self.normal

    def solref(self, inverse_weight: float) -> tuple[tuple[float, float], tuple[float, float]]:
        """MuJoCo's (-k, -b) along the normal and along the surface, ``inverse_weight`` of the tool body [1/kg]."""
        scale = (1.0 - IMPEDANCE) * inverse_weight
        return (-self.stiffness * scale, -self.damping * scale), (-self.stiffness * scale, -STICTION_DAMPING * scale)

    def pairs(self) -> list[str]:
        """MJCF contact pairs of the tool's tip with each geom: a pair can have a friction of its own."""
        mu = max(self.friction, 1e-5)  # the smallest that MuJoCo accepts
        return [
            f'<pair geom1="tip" geom2="surface{i}" condim="3" friction="{mu} {mu} 0.005 0.0001 0.0001" '
            f'solimp="{IMPEDANCE} {IMPEDANCE} 0.001 0.5 1"/>'
            for i in range(len(self.geoms()))
        ]

    def geoms(self) -> list[str]:
        """MJCF geoms in the frame of the object: origin at the point of contact, base axes."""
        return [f'<geom name="surface{i}" {shape}/>' for i, shape in enumerate(self._shapes())]

    def _shapes(self) -> list[str]:
        if self.kind == "none":
            return []
        if self.kind == "cylinder":
            r = self.radius
            return [f'type="cylinder" size="{r} {PATCH}" pos="0 0 {-r}" zaxis="0 1 0"']
        if self.kind == "hole":
            return self._block_with_hole()
        x, y, z = self.normal
        return [f'type="plane" size="{PATCH} {PATCH} 0.01" zaxis="{x} {y} {z}"']

    def _block_with_hole(self) -> list[str]:
        """Four boxes around the chamfer, four around the hole under it, four tilted ones between, and the bottom."""
        a, c, depth, outer = self.hole_half, self.chamfer, self.depth, self.hole_half + 0.05
        boxes = []
        for turn in range(4):  # boxes laid like a pinwheel leave neither gap nor overlap: one contact per touch
            boxes.append(_box(turn, (a + c, outer), (-a - c, outer), (-depth, 0.0)))
            boxes.append(_box(turn, (a, a + c), (-a, a + c), (-depth, -c)))
            # 45 degrees, from (r = a, z = -c) to (r = a + c, z = 0); its body lies behind that face
            half, thick = c / np.sqrt(2.0), c / 4.0
            centre_r = a + c / 2 + thick / np.sqrt(2.0)
            centre_z = -c / 2 - thick / np.sqrt(2.0)
            cos, sin = ((1, 0), (0, 1), (-1, 0), (0, -1))[turn]
            boxes.append(
                f'type="box" size="{half} {a + c} {thick}" pos="{centre_r * cos} {centre_r * sin} {centre_z}" '
                f'xyaxes="{cos} {sin} 1 {-sin} {cos} 0"'
            )
        boxes.append(f'type="box" size="{outer} {outer} 0.01" pos="0 0 {-depth - 0.01}"')
        return boxes


def _box(turn: int, x: tuple[float, float], y: tuple[float, float], z: tuple[float, float]) -> str:
    """A box given by its extents, turned by quarter turns about z."""
    cx, cy = (x[0] + x[1]) / 2, (y[0] + y[1]) / 2
    hx, hy = (x[1] - x[0]) / 2, (y[1] - y[0]) / 2
    for _ in range(turn):
        cx, cy, hx, hy = -cy, cx, hy, hx
    size, position = f"{hx} {hy} {(z[1] - z[0]) / 2}", f"{cx} {cy} {(z[0] + z[1]) / 2}"
    return f'type="box" size="{size}" pos="{position}"'
