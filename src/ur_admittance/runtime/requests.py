"""The messages of the mailbox, applied to a controller. A handler returns what it did, or raises a sentence."""

import json
from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.errors import UrAdmittanceError
from ur_admittance.model.frames import is_rotation
from ur_admittance.params import Parameters
from ur_admittance.params.parameters import flatten
from ur_admittance.runtime.interfaces import Controller

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


HANDLERS: dict[str, Handler] = {"set": apply_set, "request": apply_request, "reference": apply_reference}


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
