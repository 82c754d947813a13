"""How the six channels of a sensor are really wired: from pushes whose direction is known to a sentence that names it.

In configured sensor axes a push F at the lever l (sensor to TCP) gives the channels

    f = P_force F          t = P_torque (l x F + couple)        P: signed permutations, both identity when all is right

The 48 signed permutations are tried one by one. If none fits the force, a mounting rotated by any angle is tried.
"""

from dataclasses import dataclass, field
from itertools import permutations, product
from typing import Any

import numpy as np

from ur_admittance.calibration.fit import Array, cross_matrix
from ur_admittance.model.frames import rotation_from_rpy, rotation_vector, rpy_from_rotation
from ur_admittance.params import Parameters

CLEAR_ANGLE = np.radians(25.0)  # a hand's push deviates by some 10 degrees
ROTATED_ANGLE = np.radians(15.0)
FITS = 0.06  # share of the squared torques left over: a lever wrong by a quarter
LEVER_TOLERANCE = 0.04  # [m] a hand does not push exactly at the TCP
SLIGHT_DEG = 5.0  # a turn that a hand may cause
AXES = "xyz"

SIGNED_PERMUTATIONS = tuple(
    np.diag(signs) @ np.eye(3)[list(order)]
    for order in permutations(range(3))
    for signs in product((1.0, -1.0), repeat=3)
)


@dataclass(frozen=True, eq=False)
class Felt:
    """The change of the reading during one push or twist, the sensor's sign applied."""

    name: str  # "push +x"
    direction: Array  # (3,) unit vector of the force or couple that was asked for, configured sensor axes
    is_twist: bool
    wrench: Array  # (6,) [N, Nm]


@dataclass(frozen=True, eq=False)
class Wiring:
    force: Array  # (3, 3) channels from configured sensor axes
    torque: Array | None  # (3, 3); None: no wiring fits
    lever: Array  # (3,) sensor to where the pushes act, configured sensor axes [m]
    lever_is_right: bool


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong, most basic first; empty findings: nothing."""

    findings: tuple[str, ...]
    changes: dict[str, Any] = field(default_factory=dict)  # parameters that fix it, where parameters can

    @property
    def good(self) -> bool:
        return not self.findings

    @property
    def sentences(self) -> tuple[str, ...]:
        wrong = tuple(f"wrong: {finding}" for finding in self.findings)
        return wrong or ("sign, axes, mounting and lever arm are right",)


class Unclear(Exception):
    """The pushes contradict each other; the sentence says which one to repeat."""


def find_wiring(felt: list[Felt], lever: Array) -> Wiring:
    """``lever``: configured vector from the sensor to the TCP, configured sensor axes [m]."""
    pushes = [one for one in felt if not one.is_twist]
    P_force, is_permutation = _force_wiring(pushes)
    options = SIGNED_PERMUTATIONS if is_permutation else (P_force,)
    true_force = [P_force.T @ one.wrench[:3] for one in felt]

    at_lever = [(_cost(P, lever, felt, true_force), P) for P in options]
    cost, P_torque = min(at_lever, key=lambda option: option[0])
    if cost < FITS:
        return Wiring(P_force, P_torque, lever, True)
    freed = []
    for P in options:
        found = _lever(P, felt, true_force)
        freed.append((_cost(P, found, felt, true_force), P, found))
    fitting = [option for option in freed if option[0] < FITS]
    if not fitting:
        return Wiring(P_force, None, lever, False)

    def preference(option: tuple[float, Array, Array]) -> tuple[bool, bool, bool, float]:
        cost, P, found = option
        return (
            bool(cost > 2.0 * min(fit[0] for fit in fitting) + 1e-3),
            not np.array_equal(P, P_force),
            bool(found @ _tool_axis(felt) < 0.0),  # the TCP is in front of the sensor
            cost,
        )

    _, P_torque, found = min(fitting, key=preference)
    close = float(np.linalg.norm(found - lever)) < LEVER_TOLERANCE
    return Wiring(P_force, P_torque, found, close)


def _force_wiring(pushes: list[Felt]) -> tuple[Array, bool]:
    """The matrix from asked to felt directions, and whether it is a signed permutation."""
    asked = np.array([one.direction for one in pushes]).T
    felt = np.array([one.wrench[:3] / np.linalg.norm(one.wrench[:3]) for one in pushes]).T
    best = min(SIGNED_PERMUTATIONS, key=lambda P: _worst_angle(P @ asked, felt))
    best_angle = _worst_angle(best @ asked, felt)
    U, _, Vt = np.linalg.svd(felt @ asked.T)
    nearest = U @ Vt  # orthogonal, det +1 or -1
    angle = _worst_angle(nearest @ asked, felt)
    if best_angle <= CLEAR_ANGLE and not (best_angle > ROTATED_ANGLE and angle < 0.3 * best_angle):
        return best, True
    if angle <= ROTATED_ANGLE:
        return nearest, False
    off = np.degrees(_angles(nearest @ asked, felt))
    i = int(np.argmax(off))
    raise Unclear(
        f"the pushes contradict each other: '{pushes[i].name}' is {off[i]:.0f} degrees off "
        "any wiring that fits the others; push again, straight along the axis and only along it."
    )


def _angles(a: Array, b: Array) -> Array:
    return np.asarray(np.arccos(np.clip((a * b).sum(axis=0), -1.0, 1.0)))


def _worst_angle(a: Array, b: Array) -> float:
    return float(_angles(a, b).max())


def _tool_axis(felt: list[Felt]) -> Array:
    twists = [one.direction for one in felt if one.is_twist]
    return twists[0] if twists else np.array([0.0, 0.0, 1.0])


def _expected(P: Array, lever: Array, one: Felt, force: Array) -> Array:
    """Torque channels for a push at the lever, or a twist with the force that came with it."""
    by_force = P @ np.cross(lever, force)
    if not one.is_twist:
        return np.asarray(by_force)
    couple = one.wrench[3:] - by_force
    return np.asarray(by_force + np.linalg.norm(couple) * (P @ one.direction))


def _cost(P: Array, lever: Array, felt: list[Felt], true_force: list[Array]) -> float:
    """Share of the squared torques that this wiring and lever leave over, pushes and twists weighted alike."""
    cost = 0.0
    for twist in (False, True):
        pairs = [(one, force) for one, force in zip(felt, true_force, strict=True) if one.is_twist is twist]
        total = sum(float(one.wrench[3:] @ one.wrench[3:]) for one, _ in pairs)
        left = sum(float(np.sum((one.wrench[3:] - _expected(P, lever, one, force)) ** 2)) for one, force in pairs)
        # torques of pushes that no lever of more than a few millimetres explains are nothing to explain
        floor = sum((0.02 * float(np.linalg.norm(force))) ** 2 for _, force in pairs) if not twist else 0.0
        cost += left / max(total, floor, 1e-12)
    return cost


def _lever(P: Array, felt: list[Felt], true_force: list[Array]) -> Array:
    """Least squares of P^T t = l x F over the pushes."""
    rows = [
        (P.T @ one.wrench[3:], -cross_matrix(force))
        for one, force in zip(felt, true_force, strict=True)
        if not one.is_twist
    ]
    solution, *_ = np.linalg.lstsq(np.vstack([A for _, A in rows]), np.concatenate([t for t, _ in rows]), rcond=None)
    return np.asarray(solution)


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
        findings.append(_lever_words(wiring, parameters, changes))
    return Diagnosis(tuple(findings), changes)


def _common(P: Array, parameters: Parameters, changes: dict[str, Any]) -> list[str]:
    """Force and torque are wired alike: sign, mounting, or the same channels swapped."""
    findings = []
    if np.linalg.det(P) < 0.0:
        simple = _simple(P)
        if simple:
            return [f"{simple} (force and torque)"]
        changes["sensor.sign"] = -parameters.sensor.sign
        findings.append(f"sensor reports the reaction: set sensor.sign to {-int(parameters.sensor.sign)}")
        P = -P
    angle, axis = _turn_of(P.T)
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
    """Order and signs of three channels; row i says what channel i carries."""
    if np.allclose(P, np.eye(3)):
        return []
    moved = [i for i in range(3) if abs(P[i, i]) < 0.5]
    flipped = [AXES[i] for i in range(3) if P[i].sum() < 0.0]
    words = []
    if len(moved) == 2:
        words.append(f"{AXES[moved[0]]} and {AXES[moved[1]]} are swapped")
    elif len(moved) == 3:
        source = [AXES[int(np.argmax(np.abs(P[i])))] for i in range(3)]
        words.append("axes are permuted: " + ", ".join(f"channel {AXES[i]} carries {source[i]}" for i in range(3)))
    if flipped:
        one = len(flipped) == 1
        lead = "channel " if moved and one else "channels " if moved else ""
        words.append(f"{lead}{_listed(flipped)} {'has' if one else 'have'} the wrong sign")
    return [f"{what} {' and '.join(words)}"]


def _lever_words(wiring: Wiring, parameters: Parameters, changes: dict[str, Any]) -> str:
    """The torque of a push shows where it acts, except along the push; three pushes show all of it."""
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


def _turn_of(R: Array) -> tuple[float, Array]:
    """Angle [degrees] and axis of a rotation; of a half turn the axis with its first entry positive."""
    vector = rotation_vector(R)
    angle = float(np.linalg.norm(vector))
    if angle < 1e-9:
        return 0.0, np.array([0.0, 0.0, 1.0])
    axis = vector / angle
    if abs(angle - np.pi) < 1e-6 and axis[np.argmax(np.abs(axis) > 1e-6)] < 0.0:
        axis = -axis
    return float(np.degrees(angle)), axis
