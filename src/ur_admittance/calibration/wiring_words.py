"""A wiring in words, with the parameters that mend it."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ur_admittance.calibration.readings import Array
from ur_admittance.calibration.wiring import Wiring, turn_of
from ur_admittance.model.frames import rotation_from_rpy, rpy_from_rotation
from ur_admittance.params import Parameters

AXES = "xyz"
SLIGHT_DEG = 5.0


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong, most basic first; empty findings: nothing."""

    findings: tuple[str, ...]
    changes: dict[str, Any] = field(default_factory=dict)  # parameters that mend it, where parameters can

    @property
    def good(self) -> bool:
        return not self.findings


def describe(wiring: Wiring, parameters: Parameters) -> Diagnosis:
    P, Q = wiring.force, wiring.torque
    findings: list[str] = []
    changes: dict[str, Any] = {}
    if Q is None:
        findings += _channels(P, "force")
        findings.append(
            "the torques fit no wiring and no lever arm: push again at the TCP, and check the torque's unit (Nm)"
        )
        return Diagnosis(tuple(findings))
    if np.array_equal(P, Q):
        findings += _common(P, parameters, changes)
    else:
        findings += _channels(P, "force") + _channels(Q, "torque")
    if not wiring.lever_is_right:
        findings.append(_lever(wiring, parameters, changes))
    return Diagnosis(tuple(findings), changes)


def _common(P: Array, parameters: Parameters, changes: dict[str, Any]) -> list[str]:
    """Force and torque are wired alike: sign, mounting, or the same channels exchanged."""
    findings = []
    if np.linalg.det(P) < 0.0:
        simple = _simple(P)
        if simple:
            return [f"{simple} (force and torque)"]
        changes["sensor.sign"] = -parameters.sensor.sign
        findings.append(f"sensor reports the reaction: set sensor.sign to {-int(parameters.sensor.sign)}")
        P = -P
    angle, axis = turn_of(P.T)
    if angle > SLIGHT_DEG:
        rpy = rpy_from_rotation(rotation_from_rpy(parameters.sensor.rotation) @ P.T).tolist()
        changes["sensor.rotation"] = rpy
        shown = ", ".join(f"{x:.4f}" for x in rpy)
        findings.append(
            f"mounting is rotated by {angle:.0f} degrees about {_axis(axis)}: set sensor.rotation to [{shown}]"
        )
    return findings


def _simple(P: Array) -> str:
    """A single swap or a single flip; empty for anything else."""
    if not np.array_equal(np.abs(P).round(), np.abs(P)):
        return ""
    words = _channels(P, "")
    flips = [i for i in range(3) if P[i].sum() < 0.0]
    moved = [i for i in range(3) if P[i, i] == 0.0]
    if (len(moved) == 2 and not flips) or (not moved and len(flips) == 1):
        return words[0].strip()
    return ""


def _channels(P: Array, what: str) -> list[str]:
    """Exchange and signs of three channels; row i says what channel i carries."""
    if np.allclose(P, np.eye(3)):
        return []
    moved = [i for i in range(3) if abs(P[i, i]) < 0.5]
    flipped = [AXES[i] for i in range(3) if P[i].sum() < 0.0]
    words = []
    if len(moved) == 2:
        words.append(f"{AXES[moved[0]]} and {AXES[moved[1]]} are swapped")
    elif len(moved) == 3:
        source = [AXES[int(np.argmax(np.abs(P[i])))] for i in range(3)]
        words.append(
            "axes are exchanged in a circle: " + ", ".join(f"channel {AXES[i]} carries {source[i]}" for i in range(3))
        )
    if flipped:
        one = len(flipped) == 1
        lead = "channel " if moved and one else "channels " if moved else ""
        words.append(f"{lead}{_listed(flipped)} {'has' if one else 'have'} the wrong sign")
    return [f"{what} {' and '.join(words)}"]


def _lever(wiring: Wiring, parameters: Parameters, changes: dict[str, Any]) -> str:
    """The torque of a push tells where it acts, except along the push; three pushes tell all of it."""
    R_flange_sensor = rotation_from_rpy(parameters.sensor.rotation)
    tcp = np.array(parameters.sensor.position) + R_flange_sensor @ wiring.lever
    configured = np.array(parameters.tool.tcp[:3])
    changes["tool.tcp"] = [*(round(float(x), 3) for x in tcp), *parameters.tool.tcp[3:]]
    word = "missing" if np.linalg.norm(configured - np.array(parameters.sensor.position)) < 1e-6 else "wrong"
    return (
        f"lever arm is {word}: the pushes act at {_mm(tcp)} mm from the flange, tool.tcp says {_mm(configured)} "
        "mm: set tool.tcp"
    )


def _mm(point: Array) -> str:
    return f"[{', '.join(f'{1e3 * x:.0f}' for x in point)}]"


def _axis(axis: Array) -> str:
    for i in range(3):
        if abs(axis[i]) > 0.98:
            return f"{'-' if axis[i] < 0.0 else ''}{AXES[i]}"
    return f"[{', '.join(f'{x:.2f}' for x in axis)}]"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
