"""The parameters as programs use them: validated as a whole, changed by dotted names, refused in one sentence; and what
must hold between them, beyond the bounds of each one."""

import math
import re
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError, model_validator

from ur_admittance.given import kind
from ur_admittance.params import sentences
from ur_admittance.params.schema import COEFFICIENT, CUTOFF, TURN, Schema, refuse

Bounds = tuple[float | None, ...]

LARGEST_MASS = 50.0  # [kg] the strongest arm carries 35
LARGEST_LEVER = 1.0  # [m] centre of mass from the sensor; noise of a light tool made 2.6 m of it, in a published file
LARGEST_BIAS = (1000.0, 100.0)  # [N, Nm] wrist sensors end at some hundreds of N: beyond, the scale is wrong
LOWEST_VIBRATION = 15.0  # [Hz] a notch below costs more delay than 7 ms, and hides the law's own oscillations from it
LARGEST_OFFSET = 2.0  # [m] from the flange to the TCP or to a sensor
SOURCE = re.compile(r"builtin|raw|external|simulation|netft:[^\s:/]+|robotiq:/\S+|(probe:)?/[A-Za-z0-9_/]+")
INPUT = re.compile(r"(digital|configurable):([0-7])|(tool):([01])")
ENABLING = re.compile(rf"software|{INPUT.pattern}|bool:/[A-Za-z0-9_/]+|joy:/[A-Za-z0-9_/]+:\d{{1,2}}")
FIRST_INPUT = {"digital": 0, "configurable": 8, "tool": 16}
VERSION = re.compile(r"\d+\.\d+\.\d+")
GRAVITY = (9.7, 9.9)  # [m/s2] more than the range on the surface of the Earth; catches (0, 0, -1)


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


def check_relations(p: Schema) -> None:
    box, joints = p.workspace, p.joint_limits
    _check_order("workspace.min", box.min, "workspace.max", box.max)
    _check_order(
        "joint_limits.position_lower", joints.position_lower, "joint_limits.position_upper", joints.position_upper
    )
    if p.sensor.sign not in (1.0, -1.0):
        raise refuse("sensor.sign", p.sensor.sign, "must be 1 or -1")
    if not GRAVITY[0] <= math.hypot(*p.gravity) <= GRAVITY[1]:
        raise refuse("gravity", p.gravity, f"its norm must be {GRAVITY[0]} to {GRAVITY[1]} (turn it, don't scale it)")
    if not ENABLING.fullmatch(p.guiding.source):
        known = "software, digital:0 to 7, configurable:0 to 7, tool:0 or 1, bool:/TOPIC or joy:/TOPIC:BUTTON"
        raise refuse("guiding.source", p.guiding.source, f"must be {known}")
    _check_lock(p)
    _check_tool(p)
    _check_source(p)
    _check_vibration(p)
    _check_second(p)
    for name in p.joints:
        if p.joints.count(name) > 1:
            raise refuse("joints", p.joints, f"must be six different names; {name} appears twice")


def _check_lock(p: Schema) -> None:
    """A lock must not turn a force that presses on something."""
    _check_size("guiding.pivot", p.guiding.pivot, (LARGEST_OFFSET, LARGEST_OFFSET))
    presses = any(p.admittance.force_axes) or any(p.admittance.desired_wrench)
    _check_order("guiding.box_min", p.guiding.box_min, "guiding.box_max", p.guiding.box_max)
    apart = 2.0 * p.guiding.notch_radius  # nearer ones would pull at the same time: more force than is said
    for i, one in enumerate(notches(p), 1):
        for k, other in enumerate(notches(p)[i:], i + 1):
            if one is not None and other is not None and math.dist(one, other) < apart:
                must = f"must be at least {apart:g} m from guiding.notch_{i} (twice guiding.notch_radius)"
                raise refuse(f"guiding.notch_{k}", other, must)
    if presses and p.guiding.lock in ("plane", "line") and p.guiding.lock_frame != p.control_frame:
        must = f"must be {p.control_frame} as control_frame while an axis is under force control"
        raise refuse("guiding.lock_frame", p.guiding.lock_frame, must)


def notches(p: Schema) -> tuple[tuple[float, ...] | None, ...]:
    return p.guiding.notch_1, p.guiding.notch_2, p.guiding.notch_3, p.guiding.notch_4


def _check_tool(p: Schema) -> None:
    """What a person or a calibration measures on the arm: nothing beyond what can hang on a wrist."""
    for group, carried in (("tool", p.tool), ("second", p.second)):
        if carried.mass > LARGEST_MASS:
            raise refuse(f"{group}.mass", carried.mass, f"must be at most {LARGEST_MASS:g}; check the unit")
        lever = math.hypot(*carried.center_of_mass)
        if lever > LARGEST_LEVER:
            must = (
                f"is {lever:.3g} m from the sensor, must be at most {LARGEST_LEVER:g}; calibrate again with a heavier "
                "tool"
            )
            raise refuse(f"{group}.center_of_mass", carried.center_of_mass, must)
    for group, sensor in (("sensor", p.sensor), ("second", p.second)):
        _check_size(f"{group}.bias", sensor.bias, LARGEST_BIAS)
        _check_size(f"{group}.position", sensor.position, (LARGEST_OFFSET, LARGEST_OFFSET))
    _check_size("tool.tcp", p.tool.tcp, (LARGEST_OFFSET, TURN))


def _check_size(name: str, values: tuple[float, ...], largest: tuple[float, float]) -> None:
    """largest: of the first three, of the others."""
    for i, value in enumerate(values):
        most = largest[i // 3]
        if abs(value) > most:
            raise refuse(f"{name}[{i}]", value, f"must be {-most:g} to {most:g}; check the unit")


def enabling_input(p: Schema) -> int:
    """Bit of the robot's digital inputs that enables; -1: none of them does."""
    kind, _, number = p.guiding.source.partition(":")
    return FIRST_INPUT[kind] + int(number) if kind in FIRST_INPUT else -1


def at_probe(p: Schema) -> bool:
    """The wrench comes compensated, in TCP axes about the TCP."""
    return p.sensor.source.startswith("probe:")


def _check_source(p: Schema) -> None:
    """A wrench at the probe is compensated: nothing may be taken off it a second time."""
    source = p.sensor.source
    if source and not SOURCE.fullmatch(source):
        known = "builtin, raw, netft:ADDRESS, robotiq:/DEVICE, a topic such as /netft/raw_sensor, or probe:/TOPIC"
        raise refuse("sensor.source", source, f"must be empty, {known}")
    if p.sensor.driver and not VERSION.fullmatch(p.sensor.driver):
        raise refuse("sensor.driver", p.sensor.driver, "must be empty, or a version such as 2.11.0")
    if not at_probe(p):
        return
    twice = {
        "tool.mass": p.tool.mass, "sensor.bias": p.sensor.bias, "sensor.rotation": p.sensor.rotation,
        "sensor.position": p.sensor.position, "tool.inertia_compensation": p.tool.inertia_compensation,
    }  # fmt: skip
    for name, value in twice.items():
        if any(value) if isinstance(value, tuple) else value:
            none = "false" if value is True else "0"
            raise refuse(name, value, f"must be {none}: the wrench of sensor.source = {source} is compensated already")


def folded(frequency: float, rate: float) -> float:
    """The alias below half the rate at which a frequency appears in samples [Hz]."""
    return abs(frequency - rate * round(frequency / rate))


def _check_vibration(p: Schema) -> None:
    given, rate = p.sensor.vibration_hz, p.control_rate
    if given == 0.0:
        return
    if given < LOWEST_VIBRATION:
        raise refuse("sensor.vibration_hz", given, f"must be 0, or at least {LOWEST_VIBRATION:g}: contacts are slower")
    if folded(given, rate) < LOWEST_VIBRATION:
        must = f"must not appear below {LOWEST_VIBRATION:g} Hz; in samples at control_rate = {rate:g} Hz it does"
        raise refuse("sensor.vibration_hz", given, f"{must}, at {folded(given, rate):.3g} Hz")


def _check_second(p: Schema) -> None:
    second = p.second
    if second.sign not in (1.0, -1.0):
        raise refuse("second.sign", second.sign, "must be 1 or -1")
    if not second.source:
        return
    if not SOURCE.fullmatch(second.source) or second.source.startswith("probe:"):
        raise refuse("second.source", second.source, "must be empty, or as sensor.source without probe:")
    if second.source == p.sensor.source:
        raise refuse("second.source", second.source, "must be another sensor than sensor.source")
    if p.sensor.auto_zero:
        raise refuse("sensor.auto_zero", True, "must be false with a second sensor: zero both with the tool free")


def _check_order(lower_name: str, lower: Bounds | None, upper_name: str, upper: Bounds | None) -> None:
    if lower is None or upper is None:
        return
    for i, (low, high) in enumerate(zip(lower, upper, strict=True)):
        if low is not None and high is not None and not low < high:
            raise refuse(f"{lower_name}[{i}]", low, f"must be < {upper_name}[{i}] = {high:g}")
