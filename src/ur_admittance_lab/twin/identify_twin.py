"""Recordings of an arm -> its twin."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from ur_admittance.errors import CalibrationError
from ur_admittance.model.frames import rpy_from_rotation
from ur_admittance.params.record import TYPICAL_RESPONSE
from ur_admittance.robots.simulated import Servo, Tool
from ur_admittance_lab.twin.found import Findings, Guess, Stretch, identify
from ur_admittance_lab.twin.found.dynamics import inertia_matrix
from ur_admittance_lab.twin.twin import Twin
from ur_admittance_lab.twin.work import read_work


def identify_twin(
    logs: Sequence[Path], say: Callable[[str], None] = lambda text: None
) -> tuple[Twin, Findings, list[Stretch]]:
    """The twin, how well it explains the recordings, and the stretches of work that were used.

    CalibrationError when nothing at all can be found."""
    say("reading")
    robot, stretches = read_work(logs)
    if not stretches:
        raise CalibrationError(
            f"identify: {', '.join(log.name for log in logs)}: no undisturbed cycles (all late, stale or in a fault)."
        )
    longest = max(stretches, key=lambda stretch: stretch.seconds)
    findings = identify(stretches, assumed(longest), say)
    if not findings.anything:
        reasons = {row[0].reason for row in findings.values.values() if row[0].reason}
        raise CalibrationError(f"identify: the recordings determine nothing: {'; '.join(sorted(reasons))}.")
    mounting = longest.mounting
    twin = Twin(
        robot=robot,
        logs=tuple(log.name for log in logs),
        seconds=findings.seconds,
        pose=tuple(np.median(longest.q, axis=0).tolist()),
        com=tuple(mounting.p_flange_com.tolist()),
        tcp=(*mounting.p_flange_tcp.tolist(), *map(float, rpy_from_rotation(mounting.R_flange_tcp))),
        values=findings.values,
    )
    return twin, findings, stretches


def assumed(stretch: Stretch) -> Guess:
    """What the simulation takes for this type of arm."""
    servo, model, m = Servo(), stretch.model, stretch.mounting
    com, tcp = m.p_flange_com, m.p_flange_tcp
    tool = Tool(mass=m.mass, com=(com[0], com[1], com[2]), tcp=(tcp[0], tcp[1], tcp[2]))
    lag = 1.0 / (2.0 * math.pi * servo.lag_hz)
    return Guess(
        delay=TYPICAL_RESPONSE - lag,
        lag=lag,
        stiffness=servo.stiffness_of(model),
        rotor=servo.armature_of(model),
        inertia=np.diag(inertia_matrix(model, model.home, m.mass, com, tool.inertia_matrix())),
        damping_ratio=servo.damping_ratio,
    )
