"""Ranges and lists of numbers on the command line: 1e3..1e5, 5..20ms, 20..50mm/s, 1.2,0.05,0.15."""

import math
import re

from ur_admittance.errors import ParameterError

UNITS = {  # what a number may be followed by, for each unit that an option is in
    "s": {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6},
    "m/s": {"": 1.0, "m/s": 1.0, "mm/s": 1e-3},
    "N/m": {"": 1.0, "N/m": 1.0, "kN/m": 1e3},
    "kg": {"": 1.0, "kg": 1.0},
}
NUMBER = r"\s*([0-9.eE+-]*[0-9.])\s*([a-zA-Z/]*)\s*"


def parse_range(option: str, text: str, unit: str) -> tuple[float, float]:
    """'5..20ms' -> (0.005, 0.02); '10ms' -> (0.01, 0.01). A unit at the end holds for both numbers."""
    low, dots, high = text.partition("..")
    second = _quantity(high if dots else low, unit, "")
    first = _quantity(low, unit, second[1]) if dots and second else second
    if not first or not second or not 0.0 <= first[0] <= second[0] < math.inf:
        allowed = ", ".join(name for name in UNITS[unit] if name)
        raise ParameterError(
            f"{option} {text}: must be a number or a range low..high, >= 0, in {allowed}, such as {_example(unit)}."
        )
    return first[0], second[0]


def _quantity(text: str, unit: str, default: str) -> tuple[float, str] | None:
    """Value in the option's own unit, and the unit that was written."""
    match = re.fullmatch(NUMBER, text)
    if match is None or (match[2] or default) not in UNITS[unit]:
        return None
    written = match[2] or default
    try:
        return float(match[1]) * UNITS[unit][written], written
    except ValueError:
        return None


def _example(unit: str) -> str:
    return {"s": "5..20ms", "m/s": "20..50mm/s", "N/m": "1e3..1e5", "kg": "0.5..3"}[unit]


def numbers(option: str, text: str, lengths: tuple[int, ...]) -> tuple[float, ...]:
    """'1, 2, 3' -> (1.0, 2.0, 3.0); the number of numbers must be one of `lengths`."""
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        values = ()
    if len(values) not in lengths or not all(math.isfinite(value) for value in values):
        allowed = " or ".join(str(length) for length in lengths)
        raise ParameterError(f"{option} {text}: must be {allowed} numbers with commas between them.")
    return values
