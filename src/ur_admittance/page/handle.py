"""The ball on the tool: drag it and the simulated hand pulls the arm; let go and the hand lets go."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.page.clients import Clients
from ur_admittance.page.loop_link import LoopLink

Array = NDArray[np.float64]

COLOUR, RADIUS = (255, 146, 43), 0.034  # [m]
KEEP_ALIVE_S = 0.1  # the hand lets go by itself after 0.5 s: a pointer that rests still holds


class Handle:
    def __init__(self, scene: Any, link: LoopLink, clients: Clients) -> None:
        self._link, self._clients = link, clients
        self.ball = scene.add_icosphere("/handle", radius=RADIUS, color=COLOUR, opacity=0.85, visible=False)
        self._label = scene.add_label("/handle_label", "drag me", anchor="bottom-center", visible=False)
        self._band = scene.add_line_segments(
            "/band", np.zeros((1, 2, 3), np.float32), COLOUR, thickness=0.006, visible=False
        )
        self._used = False
        self._client: int | None = None  # who drags
        self._grip = np.zeros(3)  # where the ball was grabbed, from its centre [m]
        self._p_tcp_ball = np.zeros(3)  # the ball sits on the rod, clear of what the tip touches; base axes
        self._to = np.zeros(3)  # where the TCP is to go
        self._sent = 0.0
        self.ball.on_drag("left")(self._dragged)

    def update(self, p_tcp: Array, R_tcp: Array, time: float, simulated: bool) -> None:
        """Every frame; time [s]."""
        dragging = self._client is not None
        self._p_tcp_ball = -RADIUS * R_tcp[:, 2]
        ball = p_tcp + self._p_tcp_ball
        self.ball.position = ball
        self.ball.visible = simulated
        self._label.visible = simulated and not self._used
        if not self._used:
            self._label.position = ball + [0.0, 0.0, 1.2 * RADIUS]
        self._band.visible = dragging
        if dragging:
            self._band.points = np.array([[ball, self._to + self._p_tcp_ball]], np.float32)
            if time - self._sent > KEEP_ALIVE_S:
                self._sent = time
                self._link.pull({"to": self._to.tolist()})

    async def _dragged(self, event: Any) -> None:
        """In order, on the server's event loop: nothing here may wait."""
        if event.phase == "start":
            if not self._clients.may(event.client):
                return
            self._client, self._used = event.client_id, True
            self._grip = np.array(event.start_position) - np.array(self.ball.position)
        if event.client_id != self._client:
            return
        if event.phase == "end":
            self._client = None
            self._link.post({"hand": "let_go"})
            return
        self._to = np.array(event.end_position) - self._grip - self._p_tcp_ball
        self._link.pull({"to": self._to.tolist()})
