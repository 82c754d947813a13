"""The door of the page: where it listens, who may connect, who of them has control, and what is served: one document,
and two answers for its script.

viser serves a folder and opens its websocket to whoever asks, also to a script of a foreign web page that runs in the
same browser. Here a request is answered only if
    Host      names this computer (or a token is required): a foreign name that points to 127.0.0.1 gets nothing
    Origin    is the page itself: no other web page can open the websocket
    token     is right, where there is one: in the address the first time, then in a cookie
and then from memory. No path of a request ever reaches the file system.
    /         the page
    /pulse    whether the control loop lives, for the watch over the connection
    /stop     stops the arm; only with a header that no foreign page can send (X-Stop)
    /hold     the enabling button is held, or let go (X-Hold; hold_button.py); of a recording: go to this time [s]
"""

import contextlib
import gzip
import hmac
import http
import ipaddress
import json
import secrets
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from ur_admittance.errors import UrAdmittanceError

# Everything from here, nothing from the network. viser's own code is one document with inline scripts, styles, fonts,
# workers made from blobs, and a decoder that it compiles itself (eval).
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; style-src 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src data:; worker-src blob:; connect-src 'self' ws://{host} data: blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
DEFAULT_PORT = 8080
PORTS_TRIED = 20  # from the default on; a port that was asked for is used or refused
SHORTEST_TOKEN = 8
TOKEN_LETTERS = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
WATCHING = (
    '<div style="background:#fff3bf;color:#664d03;border-radius:6px;padding:8px 10px;margin:6px 8px;font-size:0.85em">'
    "<b>You are watching.</b> Somebody else has control; STOP works for everybody.</div>"
)
HOLDING = (
    '<div style="background:#e6fcf5;color:#087f5b;border-radius:6px;padding:6px 10px;margin:6px 8px;font-size:0.85em">'
    "You have control; {others} watching.</div>"
)
REFUSED = "Somebody else has control. Press “Take control” first."


@dataclass(frozen=True)
class Address:
    host: str
    port: int
    token: str  # empty: none is required
    asked: bool = True  # for this very port

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        if self.host in ("0.0.0.0", "::"):
            host = socket.gethostname()
        return f"http://{host}:{self.port}/" + (f"?token={self.token}" if self.token else "")

    @property
    def sentence(self) -> str:
        """What the user must know about who can reach the page."""
        if is_loopback(self.host):
            taken = "" if self.asked or self.port == DEFAULT_PORT else f"; port {DEFAULT_PORT} is in use"
            return f"The page is at {self.url} (this computer only{taken})."
        return (
            f"The page is at {self.url}\n"
            f"It listens on {self.host}: whoever has this address with its token can move the arm. "
            "The connection is not encrypted; use it in a network you trust, or through an SSH tunnel."
        )


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def token_for(host: str, token: str | None) -> str:
    """Optional on this computer's own address, required on any other; one is generated if none is given."""
    if token is not None and (len(token) < SHORTEST_TOKEN or not set(token) <= TOKEN_LETTERS):
        raise UrAdmittanceError(
            f"token: must be at least {SHORTEST_TOKEN} letters, digits, '-' or '_', so that nobody can guess it"
        )
    if token is not None:
        return token
    return "" if is_loopback(host) else secrets.token_urlsafe(16)


def listen(host: str, port: int | None) -> socket.socket:
    """A bound socket. port None: the first free one from 8080 on."""
    ports = range(DEFAULT_PORT, DEFAULT_PORT + PORTS_TRIED) if port is None else (port,)
    if port is not None and not 0 <= port <= 65535:
        raise UrAdmittanceError(f"port = {port}: must be 0 to 65535")
    problem = ""
    for candidate in ports:
        try:
            family, _, _, _, place = socket.getaddrinfo(host, candidate, type=socket.SOCK_STREAM)[0]
            own = socket.socket(family, socket.SOCK_STREAM)
        except OSError as error:
            raise UrAdmittanceError(f"host = {host!r}: cannot be found ({error.strerror})") from None
        try:
            own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a restarted page gets its port back at once
            own.bind(place)
            return own
        except OSError as error:
            own.close()
            problem = error.strerror or str(error)
    which = f"port {port}" if port is not None else f"any port from {ports[0]} to {ports[-1]}"
    raise UrAdmittanceError(f"the page cannot listen on {host}, {which}: {problem}")


class Gate:
    def __init__(
        self,
        address: Address,
        document: bytes,
        alive: Callable[[], bool],
        stop: Callable[[], object],
        hold: Callable[[str], str],
    ) -> None:
        """alive: whether the loop lives; stop: stops the arm; hold: the answer to a header X-Hold, empty: refused.
        Called on the server's event loop: none may wait."""
        self.address = address
        self._alive, self._stop, self._hold = alive, stop, hold
        self._plain, self._packed = document, gzip.compress(document, 6)
        self._cookie = f"ur_admittance_{address.port}"  # cookies are shared by all ports of a host

    def __call__(self, connection: ServerConnection, request: Request) -> Response | None:
        """None lets a websocket in; everything else is an answer."""
        refusal = self._refusal(request)
        if refusal:
            return _answer(http.HTTPStatus.FORBIDDEN, refusal.encode(), {})
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return None
        path = urlsplit(request.path).path
        if path == "/pulse":
            return _answer(http.HTTPStatus.OK, json.dumps({"loop": self._alive()}).encode(), {})
        if path == "/stop" and request.headers.get("X-Stop"):
            self._stop()
            return _answer(http.HTTPStatus.OK, b"stop requested\n", {})
        if path == "/hold":
            answer = self._hold(request.headers.get("X-Hold", ""))
            status = http.HTTPStatus.OK if answer else http.HTTPStatus.FORBIDDEN
            return _answer(status, answer.encode(), {})
        if path != "/":
            return _answer(http.HTTPStatus.NOT_FOUND, b"there is only the page itself\n", {})
        packed = "gzip" in request.headers.get("Accept-Encoding", "")
        headers = {
            "Content-Type": "text/html; charset=utf-8",
            "Content-Encoding": "gzip" if packed else "identity",
            "Content-Security-Policy": POLICY.format(host=request.headers.get("Host", "")),
        }
        if self.address.token:
            headers["Set-Cookie"] = f"{self._cookie}={self.address.token}; Path=/; HttpOnly; SameSite=Strict"
        return _answer(http.HTTPStatus.OK, self._packed if packed else self._plain, headers)

    def _refusal(self, request: Request) -> str:
        """Why this request gets nothing; empty: it may."""
        hosts, origins = request.headers.get_all("Host"), request.headers.get_all("Origin")
        if len(hosts) != 1 or len(origins) > 1:
            return "malformed request\n"
        name = urlsplit(f"//{hosts[0]}").hostname or ""
        if not self.address.token and not is_loopback(name):
            return f"this page answers to localhost and 127.0.0.1 only, not to {name[:80]!r}\n"
        if origins and urlsplit(origins[0]).netloc != hosts[0]:
            return "another web page may not use this one\n"
        if request.headers.get("Upgrade", "").lower() == "websocket" and not origins:
            return "a websocket needs an origin\n"
        if self.address.token and not self._has_token(request):
            return "this page needs its token: open the address that was printed, with ?token=...\n"
        return ""

    def _has_token(self, request: Request) -> bool:
        given = parse_qs(urlsplit(request.path).query).get("token", [])
        with contextlib.suppress(CookieError):
            cookies = SimpleCookie("; ".join(request.headers.get_all("Cookie")))
            if self._cookie in cookies:
                given.append(cookies[self._cookie].value)
        return any(hmac.compare_digest(token.encode(), self.address.token.encode()) for token in given)


def _answer(status: http.HTTPStatus, body: bytes, headers: dict[str, str]) -> Response:
    always = {
        "Content-Type": "text/plain; charset=utf-8",
        "Content-Length": str(len(body)),
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }
    return Response(status, status.phrase, Headers(always | headers), body)


class Clients:
    """The oldest client has control until somebody takes over or it leaves."""

    def __init__(self, server: Any) -> None:
        self._lock = threading.RLock()
        self._bars: dict[int, tuple[Any, Any, Any]] = {}  # of those that are here: client -> its text, button, key
        self.holder: int | None = None
        self.hold_key = ""  # of the enabling button, for the one who has control; empty: there is no such button
        self._key_of: int | None = None
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
            self._bars[client.client_id] = (text, button, client.gui.add_html("", order=-98.0))
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

    def offer_hold(self, yes: bool) -> None:
        """Whether the one who has control gets the enabling button."""
        with self._lock:
            if yes != bool(self.hold_key) or self._key_of != self.holder:
                self.hold_key, self._key_of = secrets.token_urlsafe(12) if yes else "", self.holder
                self._show()

    def _show(self) -> None:
        others = len(self._bars) - 1
        if self._key_of != self.holder:
            self.hold_key = ""  # until the next frame: who had control has lost it at once
        for client_id, (text, button, key) in self._bars.items():
            mine = client_id == self.holder
            key.content = f'<span data-hold="{self.hold_key}"></span>' if mine and self.hold_key else ""
            text.content = (
                HOLDING.format(others="one other is" if others == 1 else f"{others} others are") if mine else WATCHING
            )
            text.visible = others > 0
            button.visible = not mine
