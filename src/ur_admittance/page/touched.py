"""What the tool touches in a simulation: where, and with which force. A disc on the surface, with its number."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from viser.transforms import SO3

from ur_admittance.model.frames import frame_with_z_along
from ur_admittance.page.drawn_arm import cylinder, wxyz

Array = NDArray[np.float64]
Shape = list[Any]  # [kind, size, position, wxyz] as the simulation tells it

COLOUR = (214, 40, 10)
NEAR = 0.003  # [m] between tip and surface that still counts as touching: what is shown is a moment old
FELT_N = 0.7  # [N] less is noise
SMALLEST, METRES_PER_NEWTON, LARGEST = 0.012, 0.0012, 0.05  # [m] radius of the disc


class Touched:
    def __init__(self, scene: Any) -> None:
        vertices, faces = cylinder(np.zeros(3), np.array([0.0, 0.0, 0.002]), 1.0)
        self._disc = scene.add_mesh_simple(
            "/touched", vertices.astype(np.float32), faces, color=COLOUR, opacity=0.55, visible=False
        )
        self._label = scene.add_label("/touched_value", "", anchor="top-center", visible=False)
        self.shapes: list[Shape] = []
        self.tip = 0.01  # [m] radius of the tip

    def update(self, p_tcp: Array, R_tcp: Array, force: Array) -> None:
        """force on the tool, base axes [N]."""
        place = touching(self.shapes, p_tcp - self.tip * R_tcp[:, 2], self.tip)
        pressed = float(force @ place[1]) if place is not None else 0.0
        shown = place is not None and pressed > FELT_N
        if shown and place is not None:
            point, normal = place
            radius = min(SMALLEST + METRES_PER_NEWTON * pressed, LARGEST)
            self._disc.position, self._disc.wxyz = point, wxyz(frame_with_z_along(normal))
            self._disc.scale = (radius, radius, 1.0)
            self._label.position, self._label.text = point - 0.02 * normal, f"pressed with {pressed:.1f} N"
        self._disc.visible = self._label.visible = shown


def touching(shapes: list[Shape], centre: Array, radius: float) -> tuple[Array, Array] | None:
    """Point and outward normal where a sphere touches the nearest of the shapes; None: it touches none."""
    found = [nearest(shape, centre) for shape in shapes]
    if not found:
        return None
    distance, point, normal = min(found, key=lambda place: place[0])
    return (point, normal) if distance < radius + NEAR else None


def nearest(shape: Shape, p: Array) -> tuple[float, Array, Array]:
    """Signed distance of p from the surface [m], the nearest point of the surface, its outward normal; base frame."""
    kind, size, position, turn = shape
    R = SO3(np.array(turn)).as_matrix()
    local = R.T @ (p - np.array(position))
    if kind == "plane":
        normal = np.array([0.0, 0.0, 1.0])
        distance = float(local[2])
    elif kind == "cylinder":
        across = float(np.hypot(local[0], local[1]))
        round_side, end = across - size[0], abs(float(local[2])) - size[1]
        if round_side > end:
            normal, distance = np.array([local[0], local[1], 0.0]) / max(across, 1e-9), round_side
        else:
            normal, distance = np.array([0.0, 0.0, np.copysign(1.0, local[2])]), end
    else:
        out = np.abs(local) - np.array(size)
        beyond = np.maximum(out, 0.0)
        if beyond.any():  # outside: also over an edge or a corner
            distance = float(np.linalg.norm(beyond))
            normal = np.copysign(beyond, local) / distance
        else:
            i = int(np.argmax(out))
            normal, distance = np.copysign(1.0, local[i]) * np.eye(3)[i], float(out[i])
    outward = R @ normal
    return distance, p - distance * outward, outward
