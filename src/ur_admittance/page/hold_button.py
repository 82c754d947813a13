"""Hold-to-run on the page: the button that whoever has control holds, by pointer or space bar (addition.html).

While it is held the browser asks for /hold again and again, each time after the answer to the time before. The answer
is a number that the next request has to bring back within FRESH_S: a request that was held up on its way enables
nothing, and a browser that is closed, hidden or out of reach has let go. The key is in the document of the client that
has control, and in no other.
"""

import secrets
import time
from typing import Any

from ur_admittance.page.gate import Clients
from ur_admittance.page.loop_link import Seen
from ur_admittance.runtime.mailbox import Teller

FRESH_S = 0.2  # from an answer to the request that brings it back: four times the pause of the browser between them
LET_GO = "let go"


class HoldButton:
    def __init__(self, name: str, clients: Clients) -> None:
        self._teller, self._clients = Teller(name), clients
        self._number, self._issued = "", 0.0

    def show(self, seen: Seen) -> None:
        """Offer the button where it is needed and would be obeyed."""
        guiding, simulated = seen.parameters.guiding, bool(seen.record["sample"]["simulated"])
        needed = guiding.enable == "required" or (guiding.enable == "real_arms" and not simulated)
        self._clients.offer_hold(needed and guiding.source == "software")

    def answer(self, header: str) -> str:
        """To the header of one request, "KEY NUMBER" or "KEY let go"; empty: refused. On the server's event loop."""
        key, _, word = header.partition(" ")
        if not self._clients.hold_key or not secrets.compare_digest(key.encode(), self._clients.hold_key.encode()):
            return ""
        now = time.monotonic()
        fresh = word == self._number and now - self._issued < FRESH_S
        self._number, self._issued = secrets.token_hex(4), now
        if word == LET_GO:
            self._tell(False)
        elif fresh:
            self._tell(True)
        return self._number

    def _tell(self, held: bool) -> None:
        message: dict[str, Any] = {"enable": held}
        self._teller.tell(message)
