"""What must hold between parameters, beyond the bounds of each one."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic_core import PydanticCustomError

if TYPE_CHECKING:
    from ur_admittance.params.schema import Parameters

Bounds = tuple[float | None, ...]

COEFFICIENT = "admittance.filter_coefficient"
CUTOFF = "admittance.filter_cutoff_hz"
GRAVITY = (9.7, 9.9)  # [m/s2] more than the range on the surface of the Earth; catches (0, 0, -1)


def refuse(name: str, value: object, must: str) -> PydanticCustomError:
    """An error for `name` whose sentence gets its unit from the schema."""
    return PydanticCustomError("relation", "{must}", {"name": name, "value": value, "must": must})


def one_filter_parameter(values: Any) -> Any:
    """Coefficient and cutoff describe one filter; with neither given the default coefficient holds."""
    if not isinstance(values, dict):
        return values
    coefficient, cutoff = values.get("filter_coefficient"), values.get("filter_cutoff_hz")
    if coefficient is not None and cutoff is not None:
        raise refuse(CUTOFF, cutoff, f"must not be given together with {COEFFICIENT} = {coefficient}")
    if cutoff is not None:
        return values | {"filter_coefficient": None}
    if coefficient is None:
        return {key: value for key, value in values.items() if key != "filter_coefficient"}
    return values


def release_other_filter_parameter(values: dict[str, Any], changes: Mapping[str, Any]) -> None:
    """Coefficient and cutoff describe one filter: the one that is changed takes the place of the other."""
    for given, other in ((COEFFICIENT, CUTOFF), (CUTOFF, COEFFICIENT)):
        if changes.get(given) is not None:
            values[other] = None


def check_relations(p: "Parameters") -> "Parameters":
    box, joints = p.workspace, p.joint_limits
    _check_order("workspace.min", box.min, "workspace.max", box.max)
    _check_order(
        "joint_limits.position_lower", joints.position_lower, "joint_limits.position_upper", joints.position_upper
    )
    if p.sensor.sign not in (1.0, -1.0):
        raise refuse("sensor.sign", p.sensor.sign, "must be 1 or -1")
    if not GRAVITY[0] <= math.hypot(*p.gravity) <= GRAVITY[1]:
        raise refuse("gravity", p.gravity, f"its norm must be {GRAVITY[0]} to {GRAVITY[1]} (turn it, don't scale it)")
    for name in p.joints:
        if p.joints.count(name) > 1:
            raise refuse("joints", p.joints, f"must be six different names; {name} appears twice")
    return p


def _check_order(lower_name: str, lower: Bounds | None, upper_name: str, upper: Bounds | None) -> None:
    if lower is None or upper is None:
        return
    for i, (low, high) in enumerate(zip(lower, upper, strict=True)):
        if low is not None and high is not None and not low < high:
            raise refuse(f"{lower_name}[{i}]", low, f"must be < {upper_name}[{i}] = {high:g}")
