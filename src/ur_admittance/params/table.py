"""The schema as a table: one row per dotted name. Source of the command line's list and of every refusal's unit."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from ur_admittance.params.schema import LARGEST, Schema

NOUNS = {
    "number": ("a number", "numbers"),
    "boolean": ("true or false", "times true or false"),
    "string": ("a name", "names"),
}


@dataclass(frozen=True)
class Row:
    name: str
    default: Any
    unit: str
    allowed: str  # "6 numbers > 0"
    help: str
    length: int  # of a vector, 0 for a single value
    kind: str  # number, boolean, string
    optional: bool  # may be unset
    bounds: tuple[float, float] | None  # least and greatest number; None: not a number
    choices: tuple[str, ...]  # of a word that must be one of several

    def unit_of(self, index: int | None) -> str:
        """Unit of one element: `N, Nm` is N for the first half, Nm for the second."""
        halves = self.unit.split(", ")
        if self.unit == "-":
            return ""
        if len(halves) == 1 or index is None or not self.length:
            return self.unit
        return halves[0] if index < self.length // 2 else halves[1]


@cache
def rows() -> dict[str, Row]:
    """Dotted name -> row, in the order of the schema."""
    schema = Schema.model_json_schema()
    found: dict[str, Row] = {}

    def walk(properties: dict[str, Any], prefix: str) -> None:
        for key, field in properties.items():
            if "unit" in field:
                found[prefix + key] = _row(prefix + key, field)
            else:
                walk(schema["$defs"][field["$ref"].rsplit("/", 1)[1]]["properties"], f"{prefix}{key}.")

    walk(schema["properties"], "")
    return found


def _row(name: str, field: dict[str, Any]) -> Row:
    shape, optional = _without_null(field)
    length = int(shape.get("minItems", 0)) if shape.get("type") == "array" else 0
    element = _without_null(shape["items"])[0] if length else shape
    kind = element.get("type", "string")
    return Row(
        name=name,
        default=field["default"],
        unit=field["unit"],
        allowed=_allowed(element, kind, length),
        help=field["description"],
        length=length,
        kind=kind,
        optional=optional,
        bounds=_bounds(element) if kind == "number" else None,
        choices=tuple(element.get("enum", ())),
    )


def _without_null(schema: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    choices = [choice for choice in schema.get("anyOf", ()) if choice.get("type") != "null"]
    return (choices[0], True) if choices else (schema, False)


def _bounds(element: dict[str, Any]) -> tuple[float, float]:
    lower = element.get("minimum", element.get("exclusiveMinimum", -LARGEST))
    upper = element.get("maximum", element.get("exclusiveMaximum", LARGEST))
    return float(lower), float(upper)


def _allowed(element: dict[str, Any], kind: str, length: int) -> str:
    if "enum" in element:
        *first, last = element["enum"]
        return f"{', '.join(first)} or {last}"
    one, many = NOUNS[kind]
    signs = {"exclusiveMinimum": ">", "minimum": ">=", "exclusiveMaximum": "<", "maximum": "<="}
    bounds = [f"{sign} {element[key]:g}" for key, sign in signs.items() if abs(element.get(key, LARGEST)) < LARGEST]
    return " ".join([f"{length} {many}" if length else one, *([" and ".join(bounds)] if bounds else [])])
