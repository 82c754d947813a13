"""The way out of a fault: what keeps it from its reset or the arm from its retreat, in plain words."""

import math
from typing import Any

import numpy as np

from ur_admittance.core.faults import remedy, sentence
from ur_admittance.core.records import STANDSTILL, Mode, Status

CLAMPED = (Status.OVER_FORCE, Status.OVER_TORQUE)


def hindrance(command: Any) -> str:
    """What keeps a fault from its reset, and what to do about it; empty: nothing does."""
    status = Status(int(command["hindrance"]))
    if command["mode"] != Mode.FAULT or status == Status.OK:
        return ""
    words = sentence(status, command["hindrance_evidence"])
    cause = words if status == Status.STILL_MOVING else f"the cause is still there: {words}"
    return f"{cause}. {remedy(status)}"


def no_retreat(params: Any, state: Any, sample: Any, command: Any, seconds: float) -> str:
    """Why the arm cannot go back now; empty: it can."""
    if not (math.isfinite(seconds) and seconds > 0.0):
        return f"seconds = {seconds}: must be > 0."
    if command["hindrance"] != Status.OK and command["hindrance"] not in CLAMPED:
        return hindrance(command)
    if np.abs(state["qd_command"]).max() > STANDSTILL and not state["retreating"]:
        return f"{sentence(Status.STILL_MOVING)}. {remedy(Status.STILL_MOVING)}"
    if state["trail_count"] == 0:
        return "the way the arm came is not known; free the tool by hand."
    apart, allowed = float(np.abs(state["q_command"] - sample["q"]).max()), float(params["max_following_error"])
    if apart > allowed:
        return f"a joint is {apart:.3f} rad from its command (allowed: {allowed:.3g} rad); free the tool by hand."
    return ""


def reason(mode: Mode, status: Status, evidence: Any, remark: str) -> str:
    """The mode and why, in one sentence. remark: what there is to tell beside it."""
    why = sentence(status, evidence)
    if mode == Mode.FAULT and status != Status.RETREATING:
        why = f"stopped: {why}"
    elif status == Status.OK:
        why = mode.name.lower()
    elif status != Status.RETREATING:
        why = f"{mode.name.lower()}: {why}"
    return f"{why}; {remark}" if remark and remark not in why else why
