"""The Robot API of PolyScope X: HTTP and JSON, from software 10.11 on; questions about the state from 3.1.4 (10.12) on.

Only questions are asked here: power, brakes and stops go through the primary port, which every 10.x has.
Source: Universal_Robots_Client_Library, src/ur/dashboard_client_implementation_x.cpp.
"""

import json
from http.client import HTTPException
from typing import Any
from urllib.request import ProxyHandler, build_opener

PORT = 80
BASE = "/universal-robots/robot-api"
MODES_SINCE = (3, 1, 4)
LARGEST = 1 << 22  # [bytes] of an answer


def get(host: str, path: str, timeout: float = 3.0) -> dict[str, Any] | None:
    """The answer; None: there is none, or it is an error. Redirections are followed, paths move between versions."""
    try:
        with build_opener(ProxyHandler({})).open(f"http://{host}:{PORT}{BASE}{path}", timeout=timeout) as answer:
            found = json.loads(answer.read(LARGEST))
    except (OSError, HTTPException, ValueError):
        return None
    return found if isinstance(found, dict) else None


def version(host: str, timeout: float = 3.0) -> tuple[int, ...]:
    """Of the API; empty: this software has none."""
    description = get(host, "/openapi.json", timeout) or {}
    try:
        return tuple(int(part) for part in str(description["info"]["version"]).split("."))
    except (KeyError, TypeError, ValueError):
        return ()


def remote_control(host: str, timeout: float = 3.0) -> bool | None:
    """None: this software does not say."""
    if version(host, timeout) < MODES_SINCE:
        return None
    mode = (get(host, "/system/v1/controlmode", timeout) or {}).get("mode")
    return None if mode is None else mode == "REMOTE"
