"""Values of URScript: booleans, integers of 32 bits, floats, strings, lists and poses; what a function accepts."""

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance_lab.emulator.motion_limits import ProgramError

Array = NDArray[np.float64]

INT_LIMIT = 2**31
LONGEST_LIST = 100  # numbers that are added or multiplied at once; assumed, a cycle has to end in time
LONGEST_TEXT = 1023  # characters of a string [URScript manual, str_cat]


class Pose(list[float]):
    """p[x, y, z, rx, ry, rz] [m, rad]."""

    def __init__(self, values: Any = ()) -> None:
        super().__init__(values)
        if len(self) != 6:
            raise ProgramError(f"a pose has 6 numbers, not {len(self)}")


def pose(*values: Any) -> Pose:
    return Pose(number(value, "pose") for value in values)


def truth(value: Any) -> bool:
    """A condition: a boolean, or a number that is not 0."""
    if type(value) is bool or type(value) is int or type(value) is float:
        return bool(value)
    raise ProgramError(f"type error: {shown(value)} is neither a boolean nor a number")


def boolean(value: Any, what: str) -> bool:
    if type(value) is not bool:
        raise ProgramError(f"{what} = {shown(value)}: must be True or False")
    return value


def number(value: Any, what: str) -> float:
    if (type(value) is not float and type(value) is not int) or not math.isfinite(value):
        raise ProgramError(f"{what} = {shown(value)}: must be a finite number")
    return value


def positive(value: Any, what: str) -> float:
    if number(value, what) <= 0.0:
        raise ProgramError(f"{what} = {shown(value)}: must be > 0")
    return float(value)


def integer(value: Any, what: str, below: int = INT_LIMIT) -> int:
    """From 0 to ``below``; any of 32 bits when nothing is said."""
    if type(value) is not int:
        raise ProgramError(f"{what} = {shown(value)}: must be an integer")
    if not (-INT_LIMIT if below == INT_LIMIT else 0) <= value < below:
        raise ProgramError(f"{what} = {value}: must be below {below}")
    return value


def vector(values: Any, what: str, size: int | None = 6) -> Array:
    if not isinstance(values, list) or len(values) != (len(values) if size is None else size):
        raise ProgramError(f"{what} = {shown(values)}: must be a list of {size or 'some'} numbers")
    return np.array([number(value, what) for value in values], dtype=float)


def listed(*values: Any) -> list[Any]:
    """[...]; a list of lists is the deepest (a matrix)."""
    for value in values:
        if isinstance(value, list) and any(isinstance(part, list) for part in value):
            raise ProgramError("type error: a list of lists of lists")
    return list(values)


def item(values: Any, i: Any) -> Any:
    if not isinstance(values, list):
        raise ProgramError(f"type error: {shown(values)} is not a list")
    if type(i) is not int or not 0 <= i < len(values):
        raise ProgramError(f"index {shown(i)} is outside a list of {len(values)}")
    return values[i]


def put(values: Any, i: Any, value: Any) -> Any:
    """A copy with one item changed."""
    item(values, i)
    changed = [*values[:i], value, *values[i + 1 :]]
    return pose(*changed) if isinstance(values, Pose) else listed(*changed)


def checked(value: Any) -> Any:
    if type(value) is int and not -INT_LIMIT <= value < INT_LIMIT:
        raise ProgramError(f"{value} does not fit into an integer of 32 bits")
    return value


def operand(value: Any) -> Any:
    if type(value) is int or type(value) is float:
        return value
    raise ProgramError(f"type error: {shown(value)} is not a number")


def add(a: Any, b: Any) -> Any:
    return concatenated(a, b) if isinstance(a, str) and isinstance(b, str) else _by_item(operator.add, a, b)


def subtract(a: Any, b: Any) -> Any:
    return _by_item(operator.sub, a, b)


def _by_item(operation: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """Two numbers, or two lists of numbers of one length. Poses are not lists here: a robot has pose_add for them."""
    if type(a) is list and type(b) is list:
        if len(a) != len(b) or len(a) > LONGEST_LIST:
            raise ProgramError(
                f"type error: lists of {len(a)} and {len(b)} numbers: must have the same length, at most {LONGEST_LIST}"
            )
        return [checked(operation(operand(x), operand(y))) for x, y in zip(a, b, strict=True)]
    return checked(operation(operand(a), operand(b)))


def multiply(a: Any, b: Any) -> Any:
    return _scaled(operator.mul, b, a) if type(b) is list else _scaled(operator.mul, a, b)


def divide(a: Any, b: Any) -> Any:
    return _scaled(operator.truediv, a, b)


def _scaled(operation: Callable[[Any, Any], Any], a: Any, factor: Any) -> Any:
    """A number, or each of a list of numbers."""
    if type(a) is list and len(a) <= LONGEST_LIST:
        return [checked(operation(operand(x), operand(factor))) for x in a]
    return checked(operation(operand(a), operand(factor)))


def concatenated(a: str, b: str) -> str:
    if len(a) + len(b) > LONGEST_TEXT:
        raise ProgramError(f"a string of {len(a) + len(b)} characters: must be at most {LONGEST_TEXT}")
    return a + b


def shown(value: Any) -> str:
    """As textmsg shows it."""
    if isinstance(value, list):
        return f"{'p' if isinstance(value, Pose) else ''}[{', '.join(shown(part) for part in value)}]"
    return f"{value:g}" if isinstance(value, float) else str(value)


OPERATORS = {  # by the names that the compiled text uses
    ".truth": truth,
    ".list": listed,
    ".item": item,
    ".put": put,
    ".pose": pose,
    ".+": add,
    ".-": subtract,
    ".*": multiply,
    "./": divide,
    ".%": lambda a, b: operand(a) % operand(b),
    ".<": lambda a, b: operand(a) < operand(b),
    ".>": lambda a, b: operand(a) > operand(b),
    ".<=": lambda a, b: operand(a) <= operand(b),
    ".>=": lambda a, b: operand(a) >= operand(b),
}
