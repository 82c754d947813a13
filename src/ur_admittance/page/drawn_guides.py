"""What guides a hand, drawn where the tool is: what a lock holds, notches, the soft box with corners to drag."""

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.model.frames import frame_with_z_along, rotation_from_rpy
from ur_admittance.page.drawn_arm import cylinder, wxyz
from ur_admittance.page.gate import Clients
from ur_admittance.page.loop_link import LoopLink
from ur_admittance.page.marks import edges
from ur_admittance.params import Parameters
from ur_admittance.params.locks import ALONG, AXES
from ur_admittance.params.parameters import notches

Array = NDArray[np.float64]

HELD, SHAPE = (112, 72, 232), (18, 184, 134)  # what is held is violet, what is felt is green
PLANE, LINE, BALL = 0.22, 0.5, 0.016  # [m] radius, half a length, radius
DRAGGED_S = 0.7  # a corner that somebody drags is not put back for this long


class DrawnLock:
    """At the reference: what is held stays there."""

    def __init__(self, scene: Any) -> None:
        up = np.array([0.0, 0.0, 1.0])
        self._plane = _solid(scene, "/lock/plane", *cylinder(-0.0005 * up, 0.0005 * up, PLANE), 0.35)
        self._line = _solid(scene, "/lock/line", *cylinder(-LINE * up, LINE * up, 0.003), 0.6)
        self._ball = scene.add_icosphere("/lock/point", radius=BALL, color=HELD, opacity=0.75, visible=False)

    def update(self, command: Any, parameters: Parameters) -> None:
        guiding, p_ref = parameters.guiding, np.array(command["p_ref"])
        for name, handle in (("plane", self._plane), ("line", self._line)):
            handle.visible = guiding.lock == name
        self._ball.visible = guiding.lock in ("rotation", "point")
        self._ball.position = p_ref
        if guiding.lock in ALONG:
            axes = {
                "tcp": np.array(command["R_ref"]),
                "base": np.eye(3),
                "task": rotation_from_rpy(parameters.task_rotation),
            }[guiding.lock_frame]
            turn = wxyz(frame_with_z_along(axes[:, AXES.index(guiding.lock_axis)]))
            for handle in (self._plane, self._line):
                handle.position, handle.wxyz = p_ref, turn


def _solid(scene: Any, name: str, vertices: Array, faces: Any, opacity: float) -> Any:
    return scene.add_mesh_simple(
        name, vertices.astype(np.float32), faces, color=HELD, opacity=opacity, visible=False, cast_shadow=False
    )


class DrawnShapes:
    def __init__(self, scene: Any, link: LoopLink, clients: Clients) -> None:
        self._scene, self._link, self._clients = scene, link, clients
        self._notches = [
            scene.add_icosphere(f"/shapes/notch_{i}", 1.0, color=SHAPE, opacity=0.3, visible=False) for i in range(4)
        ]
        self._box: Any = None
        self._shown: Any = None
        self._dragged = -np.inf
        self._corners = [self._corner(name) for name in ("guiding.box_min", "guiding.box_max")]

    def update(self, parameters: Parameters) -> None:
        guiding = parameters.guiding
        shown = (notches(parameters), guiding.notch_radius, guiding.box_min, guiding.box_max)
        if shown == self._shown or time.monotonic() - self._dragged < DRAGGED_S:
            return
        self._shown = shown
        for handle, place in zip(self._notches, shown[0], strict=True):
            handle.visible = place is not None
            if place is not None:
                handle.position, handle.scale = place, (guiding.notch_radius,) * 3
        if self._box is not None:
            self._box.remove()
            self._box = None
        if guiding.box_min is not None or guiding.box_max is not None:
            lines = edges(guiding.box_min, guiding.box_max)
            self._box = self._scene.add_line_segments("/shapes/box", lines, SHAPE, thickness=0.004)
        for handle, corner in zip(self._corners, (guiding.box_min, guiding.box_max), strict=True):
            handle.visible = corner is not None and None not in corner
            if handle.visible:
                handle.position = corner

    def _corner(self, name: str) -> Any:
        handle = self._scene.add_transform_controls(
            f"/shapes/{name}", scale=0.12, disable_rotations=True, disable_sliders=True, visible=False
        )

        def moved(event: Any) -> None:
            if self._clients.may(event.client):
                self._dragged = time.monotonic()
                self._link.change({name: [round(float(v), 4) for v in handle.position]})

        handle.on_update(moved)
        return handle
