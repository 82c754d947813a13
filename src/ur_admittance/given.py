"""What a program gives to a constructor or a function, and a person to an option, checked at the door: a wrong kind,
length or value is refused in one sentence that names it, instead of failing somewhere in the depths."""

import math
import os
import reprlib
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ur_admittance.errors import ParameterError, UrAdmittanceError

Array = NDArray[np.float64]
Error = type[UrAdmittanceError]


def _shown(given: Any) -> str:
    return f"a {type(given).__name__}" if " object at 0x" in repr(given) else reprlib.repr(given)


def number(
    name: str,
    given: Any,
    unit: str = "",
    low: float = 0.0,
    above: bool = False,
    infinite: bool = False,
    error: Error = ParameterError,
) -> None:
    """At least `low`, or above it; infinite: that will do, too. NaN never does."""
    if isinstance(given, np.ndarray) and given.ndim == 0:
        given = given.item()
    bounds = [] if math.isinf(low) else [f"{'>' if above else '>='} {low:g}"]
    allowed = " and ".join([*bounds, *([] if infinite else ["finite"])])
    if isinstance(given, bool) or not isinstance(given, Real):
        raise error(f"{name} = {_shown(given)}: must be a number, {allowed}{f' [{unit}]' if unit else ''}.")
    try:
        value = float(given)
    except OverflowError:  # an integer of hundreds of digits
        given = value = -math.inf if given < 0 else math.inf
    if not (value > low if above else value >= low) or (math.isinf(value) and not infinite):
        raise error(f"{name} = {given}{f' {unit}' if unit else ''}: must be {allowed}.")


def whole(name: str, given: Any, low: int = 0, high: float = math.inf, error: Error = ParameterError) -> None:
    """An integer between these."""
    if isinstance(given, bool) or not isinstance(given, Integral) or not low <= int(given) <= high:
        allowed = f">= {low}" if math.isinf(high) else f"from {low} to {high}"
        raise error(f"{name} = {_shown(given)}: must be a whole number {allowed}.")


def array(name: str, given: Any, error: Error = ParameterError) -> Array:
    """Real numbers in any shape; texts that read like numbers are none."""
    try:
        found = np.asarray(given)
    except (TypeError, ValueError):  # rows of different lengths
        found = np.asarray("")
    if found.dtype.kind not in "iuf":
        raise error(f"{name} = {_shown(given)}: must be numbers.")
    return found.astype(float, copy=False)


def vector(name: str, given: Any, length: int, unit: str = "", error: Error = ParameterError) -> Array:
    """So many finite numbers."""
    found = array(name, given, error)
    if found.shape != (length,) or not np.isfinite(found).all():
        shown = reprlib.repr(found.tolist())
        raise error(f"{name} = {shown}: must be {length} finite numbers{f' [{unit}]' if unit else ''}.")
    return found


def kind(name: str, given: Any, kinds: type | tuple[type, ...], example: str, error: Error = ParameterError) -> None:
    """One of these types; example: how to make one."""
    if not isinstance(given, kinds):
        raise error(f"{name} = {_shown(given)}: must be {example}.")


def methods(name: str, given: Any, wanted: Iterable[str], example: str, error: Error = ParameterError) -> None:
    """An object that has these; example: one that has."""
    for method in wanted:
        if not callable(getattr(given, method, None)):
            raise error(f"{name} = {_shown(given)}: has no {method}(); must be an object such as {example}.")


def file(name: str, given: Any, error: Error = ParameterError) -> Path:
    """The path of a file, which need not exist."""
    kind(name, given, (str, os.PathLike), "the path of a file", error)
    return Path(given)


def address(name: str, given: Any, example: str, error: Error) -> None:
    if not isinstance(given, str) or not given.strip():
        raise error(f"{name} = {_shown(given)}: must be a text such as {example!r}.")


@dataclass(frozen=True)
class Bounds:
    """Of an option: from low to high, both included; NaN and infinity are outside of any."""

    low: float
    high: float
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.low:.10g}..{self.high:.10g} {self.unit}".rstrip()

    def read(self, name: str, given: Any) -> Any:
        """The number, as it was given or out of a text. ParameterError: it is none, or out of bounds."""
        try:
            value = float(given) if isinstance(given, str) else given
            inside = not isinstance(value, bool) and math.isfinite(value) and self.low <= value <= self.high
        except (TypeError, ValueError, OverflowError):
            inside = False
        if not inside:
            unit = f" {self.unit}" if self.unit else ""
            words = f"{given:g}" if isinstance(given, float) else given
            raise ParameterError(f"{name} {words}: must be a number from {self.low:.10g} to {self.high:.10g}{unit}.")
        return value
