"""Where the camera stands: from a few sides, or close to the tool."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.model import RobotModel

Array = NDArray[np.float64]

CAMERA, LOOK_AT = (1.98, -1.42, 1.02), (0.32, 0.06, 0.26)  # [m] tool and wrist large, the base in view
FIELD_OF_VIEW = 0.68  # [rad] vertical
DRAWN_FOR = 0.82  # [m] upper arm and forearm of the arm that these distances suit, a UR5e
VIEWS = {
    "start": (CAMERA, LOOK_AT),
    "front": ((3.0, 0.0, 0.5), (0.3, 0.0, 0.25)),
    "side": ((0.35, -2.6, 0.5), (0.35, 0.0, 0.25)),
    "top": ((0.34, 0.0, 3.0), (0.35, 0.0, 0.25)),
}  # camera, and what it looks at
TOOL = "tool"
FROM_TOOL = (0.55, -0.45, 0.25)  # [m]


class Views:
    """A row of buttons. Anybody may look from where they like: each has a camera of their own."""

    def __init__(self, gui: Any) -> None:
        self.model: RobotModel | None = None
        self.p_tcp: Array = np.zeros(3)
        row = gui.add_button_group("View", (*VIEWS, TOOL), hint="Moves your camera. Drag beside the arm to turn it.")
        row.on_click(lambda event: self._look(event.client, event.target.value))

    def _look(self, client: Any, name: str) -> None:
        scale = size(self.model) / DRAWN_FOR if self.model is not None else 1.0
        if name == TOOL:
            position, look_at = self.p_tcp + FROM_TOOL, self.p_tcp
        else:
            position, look_at = (scale * np.array(place) for place in VIEWS[name])
        with client.atomic():
            client.camera.position, client.camera.look_at = position, look_at


def size(model: RobotModel) -> float:
    """Length of upper arm and forearm [m]."""
    return float(np.linalg.norm(model.chain_position[2]) + np.linalg.norm(model.chain_position[3]))
