"""Dotted names: `admittance.mass` <-> {"admittance": {"mass": ...}}."""

from collections.abc import Mapping
from typing import Any

COEFFICIENT = "admittance.filter_coefficient"
CUTOFF = "admittance.filter_cutoff_hz"


def plain(value: Any) -> Any:
    """NumPy arrays and scalars as Python lists and numbers; mappings as dictionaries."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value.tolist() if hasattr(value, "tolist") else value


def flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        name = f"{prefix}{key}"
        flat.update(flatten(value, f"{name}.") if isinstance(value, Mapping) and value else {name: value})
    return flat


def nest(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Names must be known ones: no name is both a parameter and a group."""
    nested: dict[str, Any] = {}
    for name, value in flat.items():
        *groups, last = name.split(".")
        place = nested
        for group in groups:
            place = place.setdefault(group, {})
        place[last] = value
    return nested


def release_other_filter_parameter(values: dict[str, Any], changes: Mapping[str, Any]) -> None:
    """Coefficient and cutoff describe one filter: the one that is changed takes the place of the other."""
    for given, other in ((COEFFICIENT, CUTOFF), (CUTOFF, COEFFICIENT)):
        if changes.get(given) is not None:
            values[other] = None
