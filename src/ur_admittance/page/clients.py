"""Several people may look at the page; one has control. The others watch and can take over. Anybody may stop."""

import threading
from typing import Any

WATCHING = (
    '<div style="background:#fff3bf;color:#664d03;border-radius:6px;padding:8px 10px;margin:6px 8px;font-size:0.85em">'
    "<b>You are watching.</b> Somebody else has control; STOP works for everybody.</div>"
)
HOLDING = (
    '<div style="background:#e6fcf5;color:#087f5b;border-radius:6px;padding:6px 10px;margin:6px 8px;font-size:0.85em">'
    "You have control; {others} watching.</div>"
)
REFUSED = "Somebody else has control. Press “Take control” first."


class Clients:
    """The oldest client has control until somebody takes over or it leaves."""

    def __init__(self, server: Any) -> None:
        self._lock = threading.RLock()
        self._bars: dict[int, tuple[Any, Any]] = {}  # of those that are here: client -> its text and its button
        self.holder: int | None = None
        server.on_client_connect(self._joined)
        server.on_client_disconnect(self._left)

    def may(self, client: Any) -> bool:
        """Whether this client has control; one that has not gets a message."""
        if client is None:
            return False
        with self._lock:
            if client.client_id == self.holder:
                return True
        client.add_notification("You are watching", REFUSED, color="yellow", auto_close_seconds=5.0)
        return False

    def tell(self, client: Any, title: str, text: str, good: bool) -> None:
        if client is not None and client.client_id in self._bars:
            colour = "green" if good else "red"
            client.add_notification(title, text, color=colour, auto_close_seconds=4.0 if good else 12.0)

    @property
    def count(self) -> int:
        return len(self._bars)

    def _joined(self, client: Any) -> None:
        with self._lock:
            text = client.gui.add_html("", order=-100.0)
            button = client.gui.add_button("Take control", color="yellow", order=-99.0)
            button.on_click(lambda event: self._take(client.client_id))
            self._bars[client.client_id] = (text, button)
            if self.holder is None:
                self.holder = client.client_id
            self._show()

    def _left(self, client: Any) -> None:
        with self._lock:
            self._bars.pop(client.client_id, None)
            if self.holder == client.client_id:
                self.holder = min(self._bars, default=None)
            self._show()

    def _take(self, client_id: int) -> None:
        with self._lock:
            self.holder = client_id
            self._show()

    def _show(self) -> None:
        others = len(self._bars) - 1
        for client_id, (text, button) in self._bars.items():
            mine = client_id == self.holder
            text.content = (
                HOLDING.format(others="one other is" if others == 1 else f"{others} others are") if mine else WATCHING
            )
            text.visible = others > 0
            button.visible = not mine
