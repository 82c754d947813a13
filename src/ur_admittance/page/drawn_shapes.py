"""What is kept apart, drawn: capsules of the arm (on request), boxes, the table; two bodies that are near in red."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.core.limits.shapes_record import BOXES, CAPSULES, FIRST_BOX, TABLE
from ur_admittance.core.records import PARAMS, Limit, new
from ur_admittance.model import RobotModel
from ur_admittance.model.frames import frame_with_z_along
from ur_admittance.page.drawn_arm import ROOT, wxyz
from ur_admittance.params import Parameters
from ur_admittance.params.record import fill

Array = NDArray[np.float64]

CALM, NEAR = (232, 150, 40), (224, 30, 30)
OPACITY, BOX_OPACITY = 0.3, 0.45
TABLE_SIZE = (1.8, 1.8, 0.004)  # [m]
AROUND, UP = 24, 6  # points of a capsule: on each ring, rings of each round end


class Shapes:
    """``build`` when arm or parameters change, ``update`` in each frame."""

    def __init__(self, scene: Any) -> None:
        self._scene = scene
        self._nodes: dict[int, Any] = {}  # body -> node
        self._red: set[int] = set()
        self._built: tuple[Any, ...] = ()
        self.capsules_shown = False

    def build(self, model: RobotModel, parameters: Parameters) -> None:
        """After the arm: capsules are parts of its nodes."""
        wanted = (model, parameters.collision, parameters.tool.tcp, parameters.gravity)
        if wanted == self._built:
            return
        self.clear()
        self._built = wanted
        if not parameters.collision.enabled:
            return
        params = new(PARAMS)
        fill(params[0], parameters, model)
        shapes = params["shapes"][0]
        for body in range(CAPSULES):
            if shapes["radius"][body] >= 0.0:
                self._add_capsule(body, shapes)
        for k in range(min(int(shapes["boxes"]), BOXES)):
            body = FIRST_BOX + int(shapes["box"][k])
            self._nodes[body] = self._scene.add_box(
                f"/kept_apart/{body}", color=CALM, dimensions=tuple(2.0 * shapes["box_half"][k]), opacity=BOX_OPACITY,
                wxyz=wxyz(shapes["box_rotation"][k]), position=tuple(shapes["box_position"][k]),
            )  # fmt: skip
        if shapes["table"]:
            up = shapes["table_normal"]
            self._nodes[TABLE] = self._scene.add_box(
                f"/kept_apart/{TABLE}", color=CALM, dimensions=TABLE_SIZE, opacity=BOX_OPACITY,
                wxyz=wxyz(frame_with_z_along(up)), position=tuple((shapes["table_height"] - 0.002) * up),
            )  # fmt: skip

    def clear(self) -> None:
        """Before the arm goes: capsules are parts of it."""
        for node in self._nodes.values():
            node.remove()
        self._nodes, self._red, self._built = {}, set(), ()

    def _add_capsule(self, body: int, shapes: Any) -> None:
        parent = ROOT + "".join(f"/x{i}/j{i}" for i in range(int(shapes["link"][body])))
        vertices, faces = capsule(shapes["start"][body], shapes["end"][body], float(shapes["radius"][body]))
        self._nodes[body] = self._scene.add_mesh_simple(
            f"{parent}/capsule{body}", vertices.astype(np.float32), faces, color=CALM, opacity=OPACITY, visible=False
        )

    def update(self, command: Any) -> None:
        """Red: the two bodies because of which the arm slows down."""
        acting = bool(int(command["limits"]) & Limit.COLLISION)
        red = {int(body) - 1 for body in command["near"]} & set(self._nodes) if acting else set()
        for body, node in self._nodes.items():
            if (body in red) != (body in self._red):
                node.color = NEAR if body in red else CALM
            shown = body >= FIRST_BOX or self.capsules_shown or body in red
            if node.visible != shown:
                node.visible = shown
        self._red = red


def capsule(start: Array, end: Array, radius: float) -> tuple[Array, NDArray[np.uint32]]:
    """Vertices and triangles: rings from one pole to the other."""
    length = float(np.linalg.norm(end - start))
    R = frame_with_z_along((end - start) / length) if length > 0.0 else np.eye(3)
    tilt = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 2 * UP)
    height = radius * np.sin(tilt) + np.where(np.arange(2 * UP) < UP, 0.0, length)
    turn = np.linspace(0.0, 2.0 * np.pi, AROUND, endpoint=False)
    ring = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    points = [
        np.column_stack([r * ring, np.full(AROUND, z)]) for r, z in zip(radius * np.cos(tilt), height, strict=True)
    ]
    i, following = np.arange(AROUND), (np.arange(AROUND) + 1) % AROUND
    faces = []
    for k in range(2 * UP - 1):
        low, high = k * AROUND, (k + 1) * AROUND
        faces.append(np.stack([low + i, low + following, high + following], axis=1))
        faces.append(np.stack([low + i, high + following, high + i], axis=1))
    return np.concatenate(points) @ R.T + start, np.concatenate(faces).astype(np.uint32)
