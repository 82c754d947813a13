"""What other processes may ask of the loop: JSON messages on a local datagram socket, one per cycle, each answered.

    {"set": {"admittance.mass": [8, 8, 8, 0.8, 0.8, 0.8]}}
    {"request": "activate" | "activate_with_load" | "deactivate" | "stop" | "reset_fault" | "retreat" |
                "latch_reference" | "resume_stages" | "zero_ft_sensor" | "zero_free_tool"}
    {"enable": true | false}   hold-to-run: held, to be said again within guiding.timeout; or let go
    {"go": {"joints": [6]} | {"position": [3], "rotation": [[3], [3], [3]]}}   perhaps with speed and force; "how"
    {"reference": {"twist": [6]} | {"wrench": [6]} | {"position": [3], "rotation": [[3], [3], [3]]}}

The answer is {"accepted": true or false, "text": "...", "code": "done", "name": ""}: the text is for people, the code
for programs. The loop only looks whether something has arrived (0.6 us); nobody can make it wait. A message that is
malformed, too long or refused is answered with a sentence. What one costs the loop, after its command is out: a request
5 us, parameters 0.5 ms (validation), none of the hostile ones tried more.
"""

import contextlib
import json
import os
import select
import socket
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.errors import Doubt, Unconfirmed, UrAdmittanceError
from ur_admittance.model.frames import is_rotation
from ur_admittance.params import Parameters
from ur_admittance.params.parameters import flatten
from ur_admittance.params.sentences import nearest
from ur_admittance.runtime import registry
from ur_admittance.runtime.interfaces import Controller

MAX_MESSAGE_BYTES = 8192  # parsing one of these takes 0.1 ms; a complete set of parameters has 2000
_ANSWER_BYTES = 4096

Handler = Callable[[Controller, Any], str | None]

UNLOCK = "unlock"  # of a robot's protective stop: for those who are connected to one
REQUESTS = (
    "activate",
    "activate_with_load",
    "deactivate",
    "stop",
    "reset_fault",
    "retreat",
    "latch_reference",
    "resume_stages",
    "zero_ft_sensor",
    "zero_free_tool",
)

ACTIVATIONS = ("activate", "activate_with_load")

# Looking for the nearest known name takes 2 ms, for a name of thousands of letters half a second: that is done by the
# sender. In the loop an unknown name is one look-up.
KNOWN = frozenset(Parameters().flat())
LONGEST_LIST = 16


class Code(str, Enum):
    """What became of a message; the text that goes with it is for people."""

    DONE = "done"
    REFUSED = "refused"
    UNCONFIRMED = "unconfirmed"  # somebody must say that nothing touches the tool, or that its load is known
    MALFORMED = "malformed"
    UNKNOWN_KIND = "unknown_kind"
    UNKNOWN_PARAMETER = "unknown_parameter"


class RequestError(UrAdmittanceError):
    """A message that cannot be applied. name: the parameter or kind that is meant."""

    def __init__(self, text: str, code: Code, name: str = "") -> None:
        super().__init__(text)
        self.code, self.name = code, name


@dataclass(frozen=True)
class Answer:
    accepted: bool
    text: str  # for people
    code: Code  # for programs
    name: str = ""  # of the unknown parameter or kind


class Mailbox:
    """The loop's side. `handlers` adds kinds of messages: ``{"push": lambda controller, value: "pushed"}``."""

    def __init__(self, name: str = registry.DEFAULT_NAME, handlers: dict[str, Handler] | None = None) -> None:
        self.path = registry.shared_file(name, "mailbox")
        self.handlers: dict[str, Handler] = {**HANDLERS, **(handlers or {})}
        self._socket = _bind(self.path, name)
        self._ready = select.poll()
        self._ready.register(self._socket, select.POLLIN)
        self._buffer = bytearray(MAX_MESSAGE_BYTES + 1)

    def poll(self, controller: Controller) -> bool:
        """Apply at most one message; True if there was one. Never waits, never raises."""
        if not self._ready.poll(0):
            return False
        try:
            size, sender = self._socket.recvfrom_into(self._buffer)
        except OSError:
            return False
        answer = self.answer(controller, bytes(self._buffer[:size]))
        if sender:
            with contextlib.suppress(OSError):  # the sender has gone or does not read: its loss
                self._socket.sendto(json.dumps(answer.__dict__).encode(), sender)
        return True

    def answer(self, controller: Controller, message: bytes) -> Answer:
        """Apply one message to the controller."""
        if len(message) > MAX_MESSAGE_BYTES:
            return Answer(False, f"message refused: longer than {MAX_MESSAGE_BYTES} bytes", Code.MALFORMED)
        try:
            kind, value = checked_object(message)
            handler = self.handlers.get(kind)
            if handler is None:
                known = ", ".join(sorted(self.handlers))
                raise RequestError(
                    f"message kind {kind[:40]!r} is unknown; known: {known}", Code.UNKNOWN_KIND, kind[:40]
                )
            text = handler(controller, value)
        except RequestError as error:
            return Answer(False, str(error)[:2000], error.code, error.name)
        except UrAdmittanceError as error:
            code = Code.UNCONFIRMED if isinstance(error, (Doubt, Unconfirmed)) else Code.REFUSED
            return Answer(False, str(error)[:2000], code)
        except Exception as error:  # whatever a stranger sends must not reach the loop as an exception
            return Answer(False, f"message refused: {type(error).__name__}: {str(error)[:200]}", Code.MALFORMED)
        return Answer(True, text or "done", Code.DONE)

    def close(self) -> None:
        self._socket.close()
        self.path.unlink(missing_ok=True)

    def __enter__(self) -> "Mailbox":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def send(message: dict[str, Any], name: str = registry.DEFAULT_NAME, timeout: float = 1.0) -> Answer:
    """Send one message to the controller called `name` and wait for its answer, at most `timeout` [s]."""
    data = json.dumps(message).encode()
    if len(data) > MAX_MESSAGE_BYTES:
        raise UrAdmittanceError(f"the message has {len(data)} bytes: at most {MAX_MESSAGE_BYTES} are allowed")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as own, tempfile.TemporaryDirectory() as folder:
        own.settimeout(timeout)
        own.bind(str(Path(folder, "answer")))
        try:
            own.sendto(data, str(registry.shared_file(name, "mailbox")))
            raw = own.recv(_ANSWER_BYTES)
        except TimeoutError:
            raise UrAdmittanceError(f"controller {name!r} did not answer within {timeout:g} s") from None
        except (FileNotFoundError, ConnectionRefusedError):
            raise UrAdmittanceError(f"no controller named {name!r} is running") from None
        except PermissionError:
            raise UrAdmittanceError(f"controller {name!r} belongs to another user") from None
    answer = Answer(**json.loads(raw))
    if answer.code == Code.UNKNOWN_PARAMETER:
        return replace(answer, text=f"{answer.text}; the nearest known name is {nearest(answer.name)}")
    return answer


class Teller:
    """Messages that want no answer, at once or not at all: a signal that came late would be worse than none."""

    def __init__(self, name: str = registry.DEFAULT_NAME) -> None:
        self._socket, self._to = (
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM),
            str(registry.shared_file(name, "mailbox")),
        )

    def tell(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            self._socket.sendto(json.dumps(message).encode(), socket.MSG_DONTWAIT, self._to)


def _bind(path: Path, name: str) -> socket.socket:
    """Bind the socket for its owner only; the remains of a killed process are replaced."""
    if path.exists():
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(str(path))
            except ConnectionRefusedError:
                path.unlink()
            except OSError as error:
                raise UrAdmittanceError(f"the mailbox {path} cannot be used: {error.strerror}") from None
            else:
                raise UrAdmittanceError(registry.already_running(name))
    own = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    mask = os.umask(0o177)
    try:
        own.bind(str(path))
    finally:
        os.umask(mask)
    own.setblocking(False)
    return own


# what a message does to a controller: a handler returns what it did, or raises a sentence


def checked_object(message: bytes) -> tuple[str, Any]:
    """The one key and value of a JSON object."""
    try:
        content = json.loads(message.decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"message refused: not valid JSON ({str(error)[:100]})", Code.MALFORMED) from None
    if not isinstance(content, dict) or len(content) != 1:
        raise RequestError(
            'message refused: must be one JSON object with one key, such as {"request": "stop"}', Code.MALFORMED
        )
    kind, value = next(iter(content.items()))
    return kind, value


def apply_set(controller: Controller, value: Any) -> str:
    if not isinstance(value, dict) or not value:
        raise UrAdmittanceError(
            'set: must be an object of parameter names and values, such as {"control_frame": "tcp"}'
        )
    changes = flatten(value)
    for name, new in changes.items():
        if name not in KNOWN:
            raise RequestError(f"{name[:60]} is not a parameter", Code.UNKNOWN_PARAMETER, name[:60])
        if isinstance(new, list) and len(new) > LONGEST_LIST:
            raise UrAdmittanceError(f"{name}: has {len(new)} values; no parameter has more than {LONGEST_LIST}")
    before = own_motion(controller)
    controller.set_parameters(changes)
    motion = own_motion(controller)
    return "set " + ", ".join(changes) + (f"; active, {motion}" if motion and motion != before else "")


def apply_request(controller: Controller, value: Any) -> str:
    if value == UNLOCK:
        raise UrAdmittanceError("unlock: this program holds no connection to a robot that could be unlocked")
    if value not in REQUESTS:
        raise UrAdmittanceError(f"request {str(value)[:40]!r} is unknown; known: {', '.join([*REQUESTS, UNLOCK])}")
    if value == "stop":  # like deactivate, in whatever mode the arm is
        controller.deactivate()
    else:
        getattr(controller, value)()
    remarks = [own_motion(controller)] if value in ACTIVATIONS else []
    return "; ".join([f"{value} requested", *filter(None, [*remarks, getattr(controller, "remark", "")])])


def own_motion(controller: Controller) -> str:
    """What the arm does without a push, where the controller can tell; empty: nothing."""
    return str(getattr(controller, "own_motion", ""))


def apply_reference(controller: Controller, value: Any) -> str:
    if not isinstance(value, dict):
        raise UrAdmittanceError("reference: must be an object with twist, wrench, or position and rotation")
    keys = set(value)
    if keys == {"twist"}:
        controller.set_reference_twist(_numbers("reference.twist", value["twist"], (6,)))
    elif keys == {"wrench"}:
        controller.set_reference_wrench(_numbers("reference.wrench", value["wrench"], (6,)))
    elif keys == {"position", "rotation"}:
        rotation = _numbers("reference.rotation", value["rotation"], (3, 3))
        if not is_rotation(rotation):
            raise UrAdmittanceError("reference.rotation: must be a rotation matrix (orthonormal, determinant +1)")
        controller.set_target_pose(_numbers("reference.position", value["position"], (3,)), rotation)
    else:
        raise UrAdmittanceError(
            f"reference: has {', '.join(sorted(keys)) or 'nothing'}; allowed: twist, wrench, or position with rotation"
        )
    return "reference set"


def apply_enable(controller: Controller, value: Any) -> str:
    source = controller.parameters.guiding.source
    if source != "software":
        raise UrAdmittanceError(f"enable: guiding.source = {source}, so no message enables the arm")
    if not isinstance(value, bool):
        raise UrAdmittanceError(f"enable = {str(value)[:40]}: must be true or false")
    controller.enable(value)
    return f"held, for {controller.parameters.guiding.timeout:g} s" if value else "let go"


def apply_go(controller: Controller, value: Any) -> str:
    """A goal, or "how": how the last one stands."""
    if value == "how":
        going = getattr(controller, "going", None)
        return f"{going.outcome.value}: {going.sentence}" if going is not None else "nowhere"
    if not isinstance(value, dict) or not set(value) <= {"joints", "position", "rotation", "speed", "force"}:
        raise UrAdmittanceError('go: must be "how", or an object with joints, or position and rotation, speed, force')
    from ur_admittance.control.go_to import Goal  # loaded with any controller, not by those who only send

    return str(controller.go_to(Goal(**value)).sentence)


HANDLERS: dict[str, Handler] = {
    "set": apply_set, "request": apply_request, "reference": apply_reference, "enable": apply_enable, "go": apply_go
}  # fmt: skip


def _numbers(name: str, value: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    try:
        numbers = np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        numbers = np.zeros(0)
    if numbers.shape != shape or not np.isfinite(numbers).all():
        raise UrAdmittanceError(f"{name} = {str(value)[:60]}: must be {' x '.join(map(str, shape))} finite numbers")
    return numbers


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")
