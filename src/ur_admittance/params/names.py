"""Dotted names: `admittance.mass` <-> {"admittance": {"mass": ...}}."""

from collections.abc import Mapping
from typing import Any

from ur_admittance.given import kind


def plain(value: Any) -> Any:
    """NumPy arrays and scalars as Python lists and numbers; mappings as dictionaries."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value.tolist() if hasattr(value, "tolist") else value


def flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    kind("changes", values, Mapping, "names with their values, such as {'velocity_scale_factor': 0.3}")
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
