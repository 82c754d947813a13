"""The Robot API of PolyScope X (HTTP, JSON): what takes the dashboard's place from 10.11 on.

10.11 answers API 3.0, 10.12 and newer 3.1.4, which adds questions about modes and programs. Calls that change something
need remote control. Paths and bodies as UR's own client library uses them (dashboard_client_implementation_x.cpp);
assumed: the numbers of refusals (403 local control, 409 not in this state, 404, 405, 400) and which paths have moved.
"""

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from ur_admittance_lab.emulator.dashboard import MODE_NAMES, answer
from ur_admittance_lab.emulator.emulated_controller import Controller
from ur_admittance_lab.emulator.ports import SCRIPT_LIMIT, Connection
from ur_admittance_lab.emulator.protocol import API_BASE, API_WITH_MODES
from ur_admittance_lab.emulator.running_program import PAUSED, PLAYING
from ur_admittance_lab.emulator.safety import StopKind

SINCE, MODES_SINCE_SOFTWARE = (10, 11, 0), (10, 12, 0)
MOVED = {"/programs/v1": "/programs/v1/", "/program/v1/load": "/program/v1/loaded"}
DEFAULT = "Default program"  # what is loaded after the start
WORDS = {200: "OK", 308: "Permanent Redirect", 400: "Bad Request", 403: "Forbidden", 404: "Not Found"}
WORDS |= {405: "Method Not Allowed", 409: "Conflict"}
UPLOADS = 100

Reply = tuple[int, Any]


def _state(box: Controller) -> Reply:
    names = {PLAYING: "PLAYING", PAUSED: "PAUSED"}
    return 200, {"state": "PLAYING" if box.program.starting else names.get(box.program.runtime_state, "STOPPED")}


def _safety_mode(box: Controller) -> Reply:
    stop = box.safety.stop
    return 200, {"mode": "EMERGENCY_STOP" if stop is StopKind.EMERGENCY else stop.value[2]}


def _programs(box: Controller) -> Reply:
    dates = {"createdDate": 0, "lastModifiedDate": None, "lastSavedDate": None}
    names = [DEFAULT, *box.files.uploaded]
    return 200, {"programs": [{"name": name, "description": "", "programState": "FINAL"} | dates for name in names]}


QUESTIONS: dict[str, Callable[[Controller], Reply]] = {"/program/v1/state": _state}
QUESTIONS_ABOUT_MODES: dict[str, Callable[[Controller], Reply]] = {
    "/program/v1/loaded": lambda box: (200, {"name": box.files.loaded.name[:-4] if box.files.loaded else DEFAULT}),
    "/robotstate/v1/robotmode": lambda box: (200, {"mode": MODE_NAMES[box.safety.robot_mode]}),
    "/robotstate/v1/safetymode": _safety_mode,
    "/system/v1/controlmode": lambda box: (200, {"mode": "REMOTE" if box.safety.remote_control else "LOCAL"}),
    "/system/v1/operationalmode": lambda box: (200, {"mode": "AUTOMATIC"}),
    "/programs/v1/": _programs,
}
# action -> line of the dashboard, and how the answer of success begins
ACTIONS = {
    "POWER_ON": ("power on", ""),
    "POWER_OFF": ("power off", ""),
    "BRAKE_RELEASE": ("brake release", ""),
    "RESTART_SAFETY": ("restart safety", ""),
    "UNLOCK_PROTECTIVE_STOP": ("unlock protective stop", "Protective stop releasing"),
    "play": ("play", "Starting"),
    "resume": ("play", "Starting"),
    "pause": ("pause", "Pausing"),
    "stop": ("stop", ""),
}


def respond(box: Controller, method: str, path: str, body: bytes) -> Reply:
    """Status and content. Never raises. path: below the base."""
    modes = box.version >= MODES_SINCE_SOFTWARE
    if path == "/openapi.json":
        return 200, {"info": {"title": "Robot API", "version": API_WITH_MODES if modes else "3.0.0"}}
    if modes and path in MOVED:
        return 308, {"location": API_BASE + MOVED[path]}
    if method == "GET":
        question = QUESTIONS.get(path) or (QUESTIONS_ABOUT_MODES.get(path) if modes else None)
        if question is not None:
            return question(box)
        text = box.files.uploaded.get(unquote(path.removeprefix("/programs/v1/"))) if modes else None
        return (200, text) if text else (404, {"message": f"no such path: {path[:80]}"})
    if path == "/programs/v1/" and modes:
        return _upload(box, body, new=method == "POST")
    if method != "PUT":
        return 405, {"message": f"{method[:10]} is not possible here"}
    if not box.safety.remote_control:
        return 403, {"message": "the robot is in local control"}
    key = "action" if path.endswith("/state") else "name" if modes else "programName"
    wish = _inside(body, key)
    return _change(box, path, wish) if wish else (400, {"message": f"no {key} in the body"})


def _change(box: Controller, path: str, wish: str) -> Reply:
    if path == ("/program/v1/loaded" if box.version >= MODES_SINCE_SOFTWARE else "/program/v1/load"):
        said = answer(box, f"load {wish}.urp")
        return 200 if said.startswith("Loading program") else 400, {"message": said}
    area = {"/robotstate/v1/state": str.isupper, "/program/v1/state": str.islower}.get(path)
    if area is None or wish not in ACTIONS or not area(wish):
        return 404 if area is None else 400, {"message": f"no such path or action: {path[:80]} {wish[:40]}"}
    if wish in ("play", "resume") and (wish == "resume") != (box.program.runtime_state == PAUSED):
        return 409, {"message": f"{wish}: a paused program is resumed, a stopped one played"} | _state(box)[1]
    command, success = ACTIONS[wish]
    said = answer(box, command)
    return 200 if said.startswith(success) else 409, {"message": said} | _state(box)[1]


def _upload(box: Controller, body: bytes, new: bool) -> Reply:
    """The field ``file`` of a form: a program as .urpx, which is kept, not understood."""
    text = body[body.find(b"{") : body.rfind(b"}") + 1]
    name = _inside(text, "program", "programInformation", "name")
    uploaded = box.files.uploaded
    if not name or new == (name in uploaded) or len(uploaded) >= UPLOADS:
        return 400, {"message": f"{name or 'no program'}: to upload it must be new, to update it must be there"}
    uploaded[name] = text
    return 200, {"programName": name}


def _inside(text: bytes, *keys: str) -> str:
    """The text under these keys; empty: there is none."""
    try:
        found = json.loads(text)
        for key in keys:
            found = found[key]
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""
    return found if isinstance(found, str) else ""


class ApiConnection(Connection):
    """HTTP/1.1, as much of it as clients of the API use."""

    def __init__(self, box: Controller, name: str) -> None:
        super().__init__(box, name)
        self._in = bytearray()

    def feed(self, data: bytes) -> None:
        self._in += data
        while not self.closing and (end := self._in.find(b"\r\n\r\n")) >= 0:
            first, *lines = self._in[:end].decode("latin-1").split("\r\n")
            headers = {
                name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
            }
            length = headers.get("content-length", "0")
            words = first.split()
            if len(words) != 3 or not length.isdecimal() or len(length) > 7 or int(length) > SCRIPT_LIMIT:
                self._reply(400, {"message": f"not a request of at most {SCRIPT_LIMIT} bytes"}, True)
                return
            size = end + 4 + int(length)
            if len(self._in) < size:
                if len(self._in) == end + 4 and headers.get("expect") == "100-continue":
                    self.out += b"HTTP/1.1 100 Continue\r\n\r\n"
                return
            body = bytes(self._in[end + 4 : size])
            del self._in[:size]
            path = words[1].partition("?")[0]
            below = path.removeprefix(API_BASE) if path.startswith(API_BASE + "/") else ""
            self._reply(*respond(self.box, words[0], below, body), headers.get("connection", "").lower() == "close")
        if len(self._in) > 2 * SCRIPT_LIMIT:
            self.complain("a request that never ends: disconnected")
            self.closing = True

    def _reply(self, status: int, content: Any, last: bool) -> None:
        text = content if isinstance(content, bytes) else json.dumps(content).encode()
        moved = f"Location: {content['location']}\r\n" if status == 308 else ""
        head = f"HTTP/1.1 {status} {WORDS[status]}\r\nContent-Type: application/json\r\n{moved}"
        self.out += f"{head}Content-Length: {len(text)}\r\n\r\n".encode() + text
        self.closing = self.closing or last
