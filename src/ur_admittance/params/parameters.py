"""The parameters as programs use them: validated as a whole, changed by dotted names, refused in one sentence."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError, model_validator

from ur_admittance.params import names, sentences
from ur_admittance.params.relations import check_relations
from ur_admittance.params.schema import COEFFICIENT, CUTOFF, Schema


class Parameters(Schema):
    """All parameters of the controller. `Parameters()` are the defaults; `changed` gives a validated copy."""

    def __init__(self, **values: Any) -> None:
        """Nested keyword values; a bad one raises ParameterError with one sentence."""
        try:
            super().__init__(**names.plain(values))
        except ValidationError as error:
            raise sentences.of(error) from None

    @model_validator(mode="after")
    def _relations(self) -> "Parameters":
        check_relations(self)
        return self

    def flat(self) -> dict[str, Any]:
        """Dotted name -> value, in the order of the schema."""
        return names.flatten(self.model_dump())

    def changed(self, changes: Mapping[str, Any]) -> "Parameters":
        """New parameters with these dotted (or nested) names changed. Raises ParameterError and changes nothing."""
        flat_changes = names.flatten(changes)
        values = self.flat()
        for name in flat_changes:
            if name not in values:
                raise sentences.unknown(name)
        for given, other in ((COEFFICIENT, CUTOFF), (CUTOFF, COEFFICIENT)):  # they describe one filter
            if flat_changes.get(given) is not None:
                values[other] = None
        return Parameters(**names.nest(values | flat_changes))
