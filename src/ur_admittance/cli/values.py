"""Values given on the command line: name=value pairs, presets and parameter files."""

import contextlib
import json
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ur_admittance.errors import ParameterError

if TYPE_CHECKING:
    from ur_admittance.params import Parameters


def assignments(pairs: Sequence[str]) -> dict[str, Any]:
    """["a.b=1", "c=[1, 2]"] -> {"a.b": 1, "c": [1, 2]}; values are YAML. A single number for a vector fills it."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    values: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name.strip():
            raise ParameterError(f"{pair!r}: must be name=value, for example admittance.mass=4.")
        try:
            value = YAML(typ="safe", pure=True).load(text)
            json.dumps(value)  # YAML has dates, bytes, sets and circles; no parameter is one
        except (YAMLError, TypeError, ValueError):
            raise ParameterError(f"{pair!r}: the value is not readable; write a number, true, or [1, 2, 3].") from None
        if isinstance(value, str):
            with contextlib.suppress(ValueError):
                value = float(value)  # YAML 1.2 takes 1e5 for a word
        values[name.strip()] = value
    return filled(values)


def filled(values: dict[str, Any]) -> dict[str, Any]:
    """A single number given for a vector fills it. Where the halves of a six-vector have different units (mass: kg and
    kg m2) it fills the linear half; the angular half keeps its default."""
    from ur_admittance.params import Parameters
    from ur_admittance.params.table import rows

    defaults, table = Parameters().flat(), rows()
    for name, value in values.items():
        row = table.get(name)
        if row is None or not row.length or not isinstance(value, int | float) or isinstance(value, bool):
            continue
        mixed = row.length == 6 and row.unit_of(0) != row.unit_of(3)
        angular = list(defaults[name][3:]) if defaults[name] is not None else [math.nan] * 3  # nan: unset
        values[name] = [value] * 3 + angular if mixed else [value] * row.length
    return values


def parameters_from(name: str | None) -> "Parameters":
    """A preset by its name, or a parameter file by its path; None: the defaults."""
    from ur_admittance.params import PRESETS, Parameters, load_parameters, preset

    if name is None:
        return Parameters()
    if name in PRESETS:
        return preset(name)
    if Path(name).suffix in (".yaml", ".yml") or os.path.exists(name):  # noqa: PTH110  (never raises)
        return load_parameters(Path(name))
    raise ParameterError(f"preset {name!r} is unknown: choose one of {', '.join(PRESETS)}, or give a .yaml file.")
