"""The door of the page: who may connect, and what is served: one document, and two answers for its script.

viser serves a folder and opens its websocket to whoever asks, also to a script of a foreign web page that runs in the
same browser. Here a request is answered only if
    Host      names this computer (or a token is required): a foreign name that points to 127.0.0.1 gets nothing
    Origin    is the page itself: no other web page can open the websocket
    token     is right, where there is one: in the address the first time, then in a cookie
and then from memory. No path of a request ever reaches the file system.
    /         the page
    /pulse    whether the control loop lives, for the watch over the connection
    /stop     stops the arm; only with a header that no foreign page can send (X-Stop)
"""

import contextlib
import gzip
import hmac
import http
import json
from collections.abc import Callable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from ur_admittance.page.address import Address, is_loopback

# Everything from here, nothing from the network. viser's own code is one document with inline scripts, styles, fonts,
# workers made from blobs, and a decoder that it compiles itself (eval).
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; style-src 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src data:; worker-src blob:; connect-src 'self' ws://{host} data: blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Gate:
    def __init__(
        self, address: Address, document: bytes, alive: Callable[[], bool], stop: Callable[[], object]
    ) -> None:
        """alive: whether the loop lives; stop: stops the arm. Called on the server's event loop: neither may wait."""
        self.address = address
        self._alive, self._stop = alive, stop
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
    return Response(
        status, status.phrase, Headers({"Content-Type": "text/plain; charset=utf-8"} | always | headers), body
    )
