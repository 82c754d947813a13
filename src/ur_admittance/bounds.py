"""What a person may give: a number between bounds, or one of some words. Refused in one sentence that says what is
allowed; NaN and infinity are outside of any bounds."""

import math
from dataclasses import dataclass
from typing import Any

from ur_admittance.errors import ParameterError


@dataclass(frozen=True)
class Bounds:
    """From low to high, both included."""

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


@dataclass(frozen=True)
class Choice:
    """One of these words."""

    words: tuple[str, ...]

    def __str__(self) -> str:
        return "|".join(self.words)

    def read(self, name: str, given: Any) -> str:
        if given not in self.words:
            raise ParameterError(f"{name} {given}: must be one of {', '.join(self.words)}.")
        return str(given)
