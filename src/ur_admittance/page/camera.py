"""Where the camera stands: from a few sides, or close to the tool."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.model import RobotModel

Array = NDArray[np.float64]

CAMERA, LOOK_AT = (1.98, -1.42, 1.02), (0.32, 0.06, 0.26)  # [m] tool and wrist large, the base in view
FIELD_OF_VIEW = 0.68  # [rad] vertical
DRAWN_FOR = 0.8392  # [m] upper arm and forearm of the arm that these distances suit, a UR5e
START = "start"
VIEWS = {
    START: (CAMERA, LOOK_AT),
    "front": ((3.0, 0.0, 0.5), (0.3, 0.0, 0.25)),
    "side": ((0.35, -2.6, 0.5), (0.35, 0.0, 0.25)),
    "top": ((0.34, 0.0, 3.0), (0.35, 0.0, 0.25)),
}  # camera, and what it looks at
TOOL = "tool"
FROM_TOOL = (0.55, -0.45, 0.25)  # [m]


class Views:
    """A row of buttons. Anybody may look from where they like: each has a camera of their own."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._scale = 1.0
        self.p_tcp: Array = np.zeros(3)
        initial = server.initial_camera
        initial.position, initial.look_at, initial.fov = CAMERA, LOOK_AT, FIELD_OF_VIEW
        row = server.gui.add_button_group(
            "View", (*VIEWS, TOOL), hint="Moves your camera. Drag beside the arm to turn it."
        )
        row.on_click(lambda event: self._look(event.client, event.target.value))

    def show(self, model: RobotModel) -> None:
        """Another arm: everybody sees it whole, also those who come later."""
        self._scale = size(model) / DRAWN_FOR
        initial = self._server.initial_camera
        initial.position, initial.look_at = self._place(START)
        for client in self._server.get_clients().values():
            self._look(client, START)

    def _look(self, client: Any, name: str) -> None:
        with client.atomic():
            client.camera.position, client.camera.look_at = self._place(name)

    def _place(self, name: str) -> tuple[Array, Array]:
        """Camera, and what it looks at [m]."""
        if name == TOOL:
            return self.p_tcp + FROM_TOOL, self.p_tcp
        position, look_at = VIEWS[name]
        return self._scale * np.array(position), self._scale * np.array(look_at)


def size(model: RobotModel) -> float:
    """Length of upper arm and forearm [m]."""
    return float(np.linalg.norm(model.chain_position[2]) + np.linalg.norm(model.chain_position[3]))
