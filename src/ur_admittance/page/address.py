"""Where the page listens, and who may come in."""

import ipaddress
import secrets
import socket
from dataclasses import dataclass

from ur_admittance.errors import UrAdmittanceError

DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 8080
PORTS_TRIED = 20  # from the default on; a port that was asked for is used or refused
SHORTEST_TOKEN = 8


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
    if token is not None and (len(token) < SHORTEST_TOKEN or not set(token) <= _TOKEN_LETTERS):
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


_TOKEN_LETTERS = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
