"""The kinds of numbers a parameter can be, and how a parameter is declared.

A declaration carries default, unit, bounds and help: the file loader, the command line's table, the ROS parameter
descriptors and the documentation are all derived from it.
"""

import math
from typing import Annotated, Any, TypeVar

from annotated_types import Ge, Gt, Le, Len
from pydantic import AllowInfNan, BaseModel, BeforeValidator, ConfigDict, Field, Strict
from pydantic_core import PydanticCustomError

LARGEST = 1e6  # no quantity of a robot arm in SI units comes near; keeps products such as M K finite
TURN = 6.2832  # [rad] a full turn, rounded up; more are degrees taken for radians

T = TypeVar("T")


def _nan_is_unset(value: Any) -> Any:
    """ROS arrays of numbers cannot hold null, so `.nan` is how a file leaves one axis unset."""
    return None if isinstance(value, float) and math.isnan(value) else value


Number = Annotated[float, Strict(), AllowInfNan(False), Ge(-LARGEST), Le(LARGEST)]
Positive = Annotated[float, Strict(), AllowInfNan(False), Gt(0), Le(LARGEST)]
NotNegative = Annotated[float, Strict(), AllowInfNan(False), Ge(0), Le(LARGEST)]
# Of the law [kg, kg m2]: lighter, the noise of a sensor (0.1 N over one tick of 2 ms) already makes 0.2 m/s
Mass = Annotated[float, Strict(), AllowInfNan(False), Ge(1e-3), Le(LARGEST)]
Angle = Annotated[float, Strict(), AllowInfNan(False), Ge(-TURN), Le(TURN)]  # of roll, pitch, yaw [rad]
# Accelerations: an arm that brakes even more slowly than this does not stop before it is somewhere else [m/s2, rad/s2]
Braking = Annotated[float, Strict(), AllowInfNan(False), Ge(0.01), Le(LARGEST)]
Nearness = Annotated[float, Strict(), AllowInfNan(False), Ge(0), Le(1)]  # [m] from the arm: all of its reach, and less
Share = Annotated[float, Strict(), AllowInfNan(False), Gt(0), Le(1)]
Rate = Annotated[float, Strict(), AllowInfNan(False), Ge(125), Le(1000)]  # that UR arms are driven at [Hz]
Moment = Annotated[float, Strict(), AllowInfNan(False), Gt(0), Le(0.5)]  # [s] in which an arm nobody drives moves on
Switch = Annotated[bool, Strict()]
# A name of a joint or frame as ROS and URDF files use them
Name = Annotated[str, Strict(), Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_./-]*$", max_length=200)]

Text = Annotated[str, Strict(), Field(max_length=200)]

OrUnset = Annotated[T | None, BeforeValidator(_nan_is_unset)]
Two = Annotated[tuple[T, ...], Len(2, 2)]
Three = Annotated[tuple[T, ...], Len(3, 3)]
Six = Annotated[tuple[T, ...], Len(6, 6)]  # linear first


def parameter(default: Any, unit: str, help: str) -> Any:
    """Declare one parameter. A unit such as `N, Nm` is that of the linear and of the angular half of a six-vector."""
    return Field(default=default, description=help, json_schema_extra={"unit": unit})


def refuse(name: str, value: object, must: str) -> PydanticCustomError:
    """An error for `name` whose sentence gets its unit from the schema."""
    return PydanticCustomError("relation", "{must}", {"name": name, "value": value, "must": must})


class Group(BaseModel):
    """Parameters that share the first part of their dotted names. Frozen: a change makes a new, validated object."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)
