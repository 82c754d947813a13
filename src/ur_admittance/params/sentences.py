"""Refusals as one sentence: `admittance.mass[2] = -1 kg: must be > 0`."""

import difflib
from typing import Any

from pydantic import ValidationError

from ur_admittance.errors import ParameterError
from ur_admittance.params.table import NOUNS, rows

LONGEST_VALUE = 60  # characters; a pasted file as a value must not fill the screen

# Names that the design documents use, by their last part
FORMER = {
    "position_limits": "joint_limits.position_lower and joint_limits.position_upper",
    "velocity_limits": "joint_limits.velocity",
    "wrench_deadband": "admittance.deadband",
    "admittance_enabled_axes": "admittance.enabled_axes",
}

BOUNDS = {
    "greater_than": (">", "gt"),
    "greater_than_equal": (">=", "ge"),
    "less_than": ("<", "lt"),
    "less_than_equal": ("<=", "le"),
}


def of(error: ValidationError) -> ParameterError:
    """The first refusal of a validation as a sentence."""
    first = error.errors()[0]
    kind, context = first["type"], first.get("ctx", {})
    if kind == "relation":
        return refusal(context["name"], context["value"], context["must"])
    parts = [part for part in first["loc"] if isinstance(part, str)]
    index = next((part for part in first["loc"] if isinstance(part, int)), None)
    name = ".".join(parts)
    row = rows().get(name)
    if row is None:
        return unknown(name)
    if kind in BOUNDS:
        sign, key = BOUNDS[kind]
        must = f"must be {sign} {context[key]:g}"
    elif kind == "finite_number":
        must = "must be a finite number"
    elif kind == "string_pattern_mismatch":
        must = "must be a name of letters, digits, _ . / -"
    else:
        must = f"must be {row.allowed if index is None else NOUNS[row.kind][0]}"
    return refusal(name if index is None else f"{name}[{index}]", first["input"], must)


def refusal(name: str, value: Any, must: str) -> ParameterError:
    base, _, rest = name.partition("[")
    row = rows()[base]
    unit = row.unit_of(int(rest[:-1]) if rest else None)
    count = ""
    if row.length and not rest and isinstance(value, list | tuple) and len(value) != row.length:
        count = f" ({len(value)} value{'' if len(value) == 1 else 's'})"
    return ParameterError(f"{name} = {shown(value)}{f' {unit}' if unit else ''}{count}: {must}", name)


def unknown(name: str) -> ParameterError:
    """Names the nearest known one; a group that was given a value gets its own sentence."""
    if any(known.startswith(f"{name}.") for known in rows()):
        member = next(known for known in rows() if known.startswith(f"{name}."))
        return ParameterError(f"{name} is a group of parameters: give its members, such as {member}", name)
    if name.rsplit(".", 1)[-1].lower() in FORMER:
        return ParameterError(f"{shown(name)[1:-1]} is called {nearest(name)} now", name)
    return ParameterError(f"{shown(name)[1:-1]} is not a parameter; the nearest known name is {nearest(name)}", name)


def nearest(name: str) -> str:
    """By spelling of the whole dotted name, or of its last part alone (`mass` -> admittance.mass)."""
    last = name.rsplit(".", 1)[-1].lower()
    if last in FORMER:
        return FORMER[last]

    def likeness(known: str) -> tuple[float, bool, float]:
        whole = difflib.SequenceMatcher(None, name.lower(), known).ratio()
        end = difflib.SequenceMatcher(None, last, known.rsplit(".", 1)[-1]).ratio()
        return max(whole, end), known.startswith("admittance."), whole

    return max(rows(), key=likeness)


def shown(value: Any) -> str:
    """A value as the user would write it, shortened."""
    text = _plain(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 4]} ..."


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "null"
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_plain(item) for item in value[:LONGEST_VALUE])}]"
    return repr(value) if isinstance(value, str) else str(value)
