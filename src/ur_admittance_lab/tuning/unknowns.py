"""What the search may turn: a few numbers, most on a log scale, each with what it changes in the parameters."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ur_admittance.params import Parameters
from ur_admittance_lab.tuning.knowledge import Knowledge

TURNING = 0.1  # [kg m2 per kg] rotational mass that goes with a mass: that of the presets


@dataclass(frozen=True)
class Unknown:
    name: str
    unit: str
    low: float
    high: float
    put: Callable[[float], dict[str, Any]]  # value -> changes by dotted name
    get: Callable[[Parameters], float]  # where existing parameters stand
    log: bool = True

    def of(self, parameters: Parameters) -> float:
        """Value in these parameters, moved inside the bounds."""
        return min(max(self.get(parameters), self.low), self.high)


def changes(unknowns: Sequence[Unknown], values: Mapping[str, float]) -> dict[str, Any]:
    """All changes of a candidate, by dotted name. Of two vectors for one name, NaN leaves an element to the other."""
    found: dict[str, Any] = {}
    for unknown in unknowns:
        for name, value in unknown.put(values[unknown.name]).items():
            before = found.get(name)
            if isinstance(before, list):
                value = [old if math.isnan(new) else new for new, old in zip(value, before, strict=True)]
            found[name] = value
    return found


def damping(low: float = 30.0, high: float = 3000.0) -> Unknown:
    """Of the linear axes; the others keep their ratio."""
    return Unknown(
        "damping",
        "Ns/m",
        low,
        high,
        lambda d: {"admittance.damping": [d, d, d, math.nan, math.nan, math.nan]},
        lambda p: p.admittance.effective_damping[2],
    )


def turning_damping() -> Unknown:
    """Of the rotational axes."""
    return Unknown(
        "turning_damping",
        "Nms/rad",
        2.0,
        60.0,
        lambda d: {"admittance.damping": [math.nan, math.nan, math.nan, d, d, d]},
        lambda p: p.admittance.effective_damping[3],
    )


def mass(low: float = 1.0, high: float = 20.0) -> Unknown:
    return Unknown(
        "mass",
        "kg",
        low,
        high,
        lambda m: {"admittance.mass": [m] * 3 + [round(TURNING * m, 6)] * 3},
        lambda p: p.admittance.mass[2],
    )


def cutoff() -> Unknown:
    """Of the wrench filter: 150 Hz is as good as none at 500 Hz."""
    return Unknown(
        "cutoff", "Hz", 8.0, 150.0, lambda f: {"admittance.filter_cutoff_hz": f}, lambda p: p.admittance.cutoff_hz
    )


def ratio() -> Unknown:
    return Unknown("ratio", "-", 0.08, 0.8, lambda r: {"contact.ratio": r}, lambda p: p.contact.ratio)


def max_damping() -> Unknown:
    """Of the stabiliser, linear: at an impact it takes a stiff surface for several times as stiff as it is, and an arm
    with that much damping creeps."""
    return Unknown(
        "max_damping",
        "Ns/m",
        400.0,
        4000.0,
        lambda d: {"contact.max_damping": [d, 100.0]},
        lambda p: p.contact.max_damping[0],
    )


def approach_speed() -> Unknown:
    return Unknown(
        "approach_speed",
        "m/s",
        0.003,
        0.06,
        lambda v: {"contact.approach_speed": [v, 0.2]},
        lambda p: p.contact.approach_speed[0],
    )


def bias_time() -> Unknown:
    return Unknown(
        "bias_time",
        "s",
        0.03,
        3.0,
        lambda t: {"admittance.bias_time": t},
        lambda p: p.admittance.bias_time or 3.0,
    )


def normal_time() -> Unknown:
    return Unknown("normal_time", "s", 0.01, 1.0, lambda t: {"contact.normal_time": t}, lambda p: p.contact.normal_time)


def threshold() -> Unknown:
    """Below it no force moves the arm: less is more precise, more is calmer."""
    return Unknown(
        "threshold",
        "N",
        0.3,
        4.0,
        lambda f: {"admittance.min_motion_threshold": f},
        lambda p: p.admittance.min_motion_threshold,
    )


def travel_damping() -> Unknown:
    return Unknown(
        "travel_damping",
        "-",
        0.2,
        1.0,
        lambda s: {"admittance.travel_damping": s},
        lambda p: p.admittance.travel_damping,
        log=False,
    )


def response_time(knowledge: Knowledge) -> list[Unknown]:
    """What the controller is told of an arm whose delay is known as a range only; a known delay is no unknown."""
    if knowledge.delay.known:
        return []
    return [
        Unknown(
            "response_time",
            "s",
            knowledge.response_time(knowledge.delay.low),
            knowledge.response_time(knowledge.delay.high),
            lambda t: {"robot.response_time": t},
            lambda p: p.robot.response_time or knowledge.response_time(knowledge.delay.middle),
            log=False,
        )
    ]
