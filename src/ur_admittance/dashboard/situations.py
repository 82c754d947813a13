"""Situations to load with one click: something to touch, and parameters that make sense there."""

from dataclasses import dataclass, field
from typing import Any

# Below about stiffness times delay of the arm (18 ms) the tool bounces on what it touches.
WELL_DAMPED = {"admittance.damping_ratio": [3.0] * 3 + [0.8] * 3}
FREE = {
    "admittance.damping_ratio": [0.8] * 6,
    "admittance.desired_wrench": [0.0] * 6,
    "admittance.force_axes": [False] * 6,
    "admittance.enabled_axes": [True] * 6,
}


@dataclass(frozen=True)
class Situation:
    sentence: str
    kind: str  # of the environment
    stiffness: float = 1e4  # [N/m]
    changes: dict[str, Any] = field(default_factory=dict)


def _pressing(newton: float) -> dict[str, Any]:
    return {
        "admittance.desired_wrench": [0.0, 0.0, newton, 0.0, 0.0, 0.0],
        "admittance.force_axes": [False, False, True, False, False, False],
        "admittance.stiffness": [0.0] * 6,
    }


SITUATIONS = {
    "Free space": Situation("Nothing to touch: feel mass, damping and stiffness.", "none"),
    "Table, soft": Situation("A foam-like table 2 cm under the tool. Push the tool down onto it.", "floor", 2e3),
    "Table, hard": Situation(
        "A wooden table 2 cm under the tool, and much damping. Push the tool down onto it, then try it with less.",
        "floor",
        1e4,
        WELL_DAMPED,
    ),
    "Press with 10 N": Situation(
        "The arm looks for the table by itself and presses with 10 N. Lift it, pull it sideways: it comes back down.",
        "floor",
        1e4,
        _pressing(10.0),
    ),
    "Follow a slope": Situation(
        "Pressing with 10 N on a slope: pull the tool along it, up and down.", "incline", 1e4, _pressing(10.0)
    ),
    "Follow a cylinder": Situation(
        "Pressing with 10 N on a lying cylinder: pull the tool over it.", "cylinder", 1e4, _pressing(10.0)
    ),
    "Wall": Situation("A wall in front of the tool. Push the tool against it.", "wall", 1e4, WELL_DAMPED),
}


def changes_of(situation: Situation) -> dict[str, Any]:
    """Parameters of a situation: force control off unless it asks for it."""
    return FREE | situation.changes
