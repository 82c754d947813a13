"""The parameters as programs use them: validated as a whole, changed by dotted names, refused in one sentence."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError, model_validator

from ur_admittance.given import kind
from ur_admittance.params import sentences
from ur_admittance.params.relations import check_relations
from ur_admittance.params.schema import COEFFICIENT, CUTOFF, Schema


class Parameters(Schema):
    """All parameters of the controller. `Parameters()` are the defaults; `changed` gives a validated copy."""

    def __init__(self, **values: Any) -> None:
        """Nested keyword values; a bad one raises ParameterError with one sentence."""
        try:
            super().__init__(**plain(values))
        except ValidationError as error:
            raise sentences.of(error) from None

    @model_validator(mode="after")
    def _relations(self) -> "Parameters":
        check_relations(self)
        return self

    def flat(self) -> dict[str, Any]:
        """Dotted name -> value, in the order of the schema."""
        return flatten(self.model_dump())

    def changed(self, changes: Mapping[str, Any]) -> "Parameters":
        """New parameters with these dotted (or nested) names changed. Raises ParameterError and changes nothing."""
        flat_changes = flatten(changes)
        values = self.flat()
        for name in flat_changes:
            if name not in values:
                raise sentences.unknown(name)
        for given, other in ((COEFFICIENT, CUTOFF), (CUTOFF, COEFFICIENT)):  # they describe one filter
            if flat_changes.get(given) is not None:
                values[other] = None
        return Parameters(**nest(values | flat_changes))


# dotted names: `admittance.mass` <-> {"admittance": {"mass": ...}}


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
