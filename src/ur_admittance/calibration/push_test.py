"""The push test: known pushes and twists, and what the sensor makes of them. The arm holds still all the time.

Bias and weight cancel: only the change against the moment before the push counts, so it works before a calibration.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ur_admittance.calibration.calm_arm import CalmArm
from ur_admittance.calibration.fit import Array
from ur_admittance.calibration.wiring import Diagnosis, Felt, Unclear, describe, find_wiring
from ur_admittance.errors import CalibrationError
from ur_admittance.model.frames import rotation_from_rpy
from ur_admittance.params import Parameters

PUSH, TWIST = 5.0, 0.4  # [N], [Nm] from which something counts
RELEASED = 0.4  # of that
WINDOW = 0.1  # [s]
STEADY = 0.2  # relative change from window to window
WINDOWS = 4  # steady ones in a row
PATIENCE = 30.0  # [s] for a push, or for letting go
SHORT_LEVER = 0.03  # [m] below it pushes say nothing about the torques across the tool: twist there too


@dataclass(frozen=True, eq=False)
class Action:
    """One thing for the hand to do."""

    name: str
    words: str
    is_twist: bool
    direction: Array  # (3,) of the force or couple, base axes


@dataclass(frozen=True, eq=False)
class PushTest:
    felt: tuple[Felt, ...]
    moves: tuple[str, ...]  # per push: in which direction the arm would go with these parameters
    diagnosis: Diagnosis


def actions(R_base_flange: Array, parameters: Parameters) -> list[Action]:
    """Three pushes along the base axes and a twist about the tool; without a lever arm twists about all axes."""
    R_base_tcp = R_base_flange @ rotation_from_rpy(parameters.tool.tcp[3:])
    where = ("away from the base, along base +x", "to the left seen from the base, along base +y", "along base +z, up")
    pushes = [
        Action(f"push +{axis}", f"push the tool at its TCP {text}", False, np.eye(3)[i])
        for i, (axis, text) in enumerate(zip("xyz", where, strict=True))
    ]
    lever = np.array(parameters.tool.tcp[:3]) - np.array(parameters.sensor.position)
    axes = (2,) if np.linalg.norm(lever) > SHORT_LEVER else (2, 0, 1)
    words = "twist the tool at its TCP about its {0} axis, like a screw that moves along +{0}"
    twists = [Action(f"twist +{'xyz'[i]}", words.format("xyz"[i]), True, R_base_tcp[:, i]) for i in axes]
    return pushes + twists


def push_test(
    arm: CalmArm,
    parameters: Parameters,
    ask: Callable[[Action], None] | None = None,
    done: Callable[[Action], None] | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> PushTest:
    """``ask`` says what the hand should do and returns at once; ``done`` says that it may let go; without them ``say``
    does."""
    ask = ask or (lambda action: say(f"{action.name}: {action.words}, and hold it for a second"))
    done = done or (lambda action: say("thank you, let go"))
    R_base_flange = arm.model.forward(arm.q)[0]
    R_flange_sensor = rotation_from_rpy(parameters.sensor.rotation)
    R_base_sensor = R_base_flange @ R_flange_sensor
    felt, moves = [], []
    for action in actions(R_base_flange, parameters):
        wrench = parameters.sensor.sign * _feel(arm, action, ask, done)
        felt.append(Felt(action.name, R_base_sensor.T @ action.direction, action.is_twist, wrench))
        if not action.is_twist:
            motion = R_base_sensor @ wrench[:3]
            moves.append(f"{action.name}: the arm would move along {_words(motion)}")
            say(moves[-1])
    tcp = np.array(parameters.tool.tcp[:3])
    lever = R_flange_sensor.T @ (tcp - np.array(parameters.sensor.position))
    try:
        wiring = find_wiring(felt, lever)
    except Unclear as reason:
        raise CalibrationError(f"push test: {reason}") from None
    return PushTest(tuple(felt), tuple(moves), describe(wiring, parameters))


def _feel(arm: CalmArm, action: Action, ask: Callable[[Action], None], done: Callable[[Action], None]) -> Array:
    """Change of the raw wrench during the action (6,): waits for it, for a steady hand, and for letting go."""
    before = arm.read_at_rest(0.5).wrench
    ask(action)
    windows: list[Array] = []
    left = PATIENCE
    while not _steady(windows, action):
        if left <= 0.0:
            least = f"{TWIST} Nm" if action.is_twist else f"{PUSH:.0f} N"
            raise CalibrationError(f"{action.name}: no steady {least} felt within {PATIENCE:.0f} s; push test ended.")
        windows.append(arm.record(WINDOW)[2].mean(axis=0) - before)
        left -= WINDOW
    done(action)
    left = PATIENCE
    while _size(arm.record(WINDOW)[2].mean(axis=0) - before) > RELEASED:
        left -= WINDOW
        if left <= 0.0:
            raise CalibrationError(f"{action.name}: the tool was not let go within {PATIENCE:.0f} s; push test ended.")
    return np.asarray(np.mean(windows[-WINDOWS:], axis=0))


def _size(wrench: Array) -> float:
    """1: a push or a twist that counts."""
    return float(max(np.linalg.norm(wrench[:3]) / PUSH, np.linalg.norm(wrench[3:]) / TWIST))


def _steady(windows: list[Array], action: Action) -> bool:
    if len(windows) < WINDOWS:
        return False
    last = np.array(windows[-WINDOWS:])
    part = last[:, 3:] if action.is_twist else last[:, :3]
    mean = np.linalg.norm(part.mean(axis=0))
    if mean < (TWIST if action.is_twist else PUSH):
        return False
    return bool(np.linalg.norm(part - part.mean(axis=0), axis=1).max() < STEADY * mean)


def _words(v: Array) -> str:
    unit = v / np.linalg.norm(v)
    i = int(np.argmax(np.abs(unit)))
    if abs(unit[i]) > 0.9:
        return f"{'+' if unit[i] > 0.0 else '-'}{'xyz'[i]}"
    return f"[{', '.join(f'{x:.2f}' for x in unit)}]"
