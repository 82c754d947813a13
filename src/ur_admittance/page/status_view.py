"""What the arm is doing, in words."""

from html import escape
from typing import Any

import numpy as np

from ur_admittance.core.faults import ENDED_BY_RESET, remedy, sentence
from ur_admittance.core.leader import WORDS as LEADERS
from ur_admittance.core.leader import Leader
from ur_admittance.core.limits.shapes_record import pair_words
from ur_admittance.core.records import Limit, Mode, Status
from ur_admittance.page.loop_link import Seen

COLOURS = {Mode.ACTIVE: "#2f9e44", Mode.INACTIVE: "#868e96", Mode.STOPPING: "#f08c00", Mode.FAULT: "#c92a2a"}
WORDS = {
    Mode.ACTIVE: "Active: the arm yields to forces",
    Mode.INACTIVE: "Holding still. Press Activate to let it yield",
    Mode.STOPPING: "Stopping",
    Mode.FAULT: "Stopped",
}
LIMITS = {
    Limit.LINEAR_ACCELERATION: "acceleration limit",
    Limit.ANGULAR_ACCELERATION: "rotational acceleration limit",
    Limit.WORKSPACE: "edge of the workspace",
    Limit.LINEAR_VELOCITY: "speed limit",
    Limit.ANGULAR_VELOCITY: "rotational speed limit",
    Limit.SINGULARITY: "arm stretched or folded",
    Limit.JOINT_VELOCITY: "joint speed limit",
    Limit.JOINT_ACCELERATION: "joint acceleration limit",
    Limit.JOINT_POSITION: "end of a joint's range",
    Limit.COLLISION: "something is near",
}
DIRECTIONS = (("forward", "backward"), ("left", "right"), ("up", "down"))  # +x, +y, +z seen from behind the arm

FELT_N, MOVES = 1.5, 0.005  # [N], [m/s] below which nothing is said of a push or a motion

RESTLESS = "A simulated hand pushes the tool to and fro until you take over: drag the orange ball."


def status_html(
    seen: Seen, recording: str = "", restless: bool = False, motion: str = "", unlocked: bool = False
) -> str:
    """motion: what the arm does without a push (params/own_motion.py). unlocked: the robot, by somebody on the page."""
    command, reason = seen.record["command"], seen.reason
    mode, leader = Mode(int(command["mode"])), Leader(int(seen.record["loop"]["leader"]))
    first = WORDS[mode] if mode != Mode.FAULT else reason[:1].upper() + reason[1:]
    if mode == Mode.ACTIVE and leader != Leader.NOBODY:
        first += f"; {LEADERS[leader]}"
    second = happening(command) if mode != Mode.FAULT else way_out(command, unlocked)
    remark = reason.removeprefix(f"{mode.name.lower()}; ")  # about the force sensors
    if remark != reason:
        second = f"{remark[:1].upper()}{remark[1:]}. {second}"
    if motion and mode == Mode.ACTIVE:
        second += f" {motion[:1].upper()}{motion[1:]}."
    if restless and mode == Mode.ACTIVE:
        second = RESTLESS
    alarm = f'<div style="font-size:0.86em;color:#c92a2a">{escape(seen.warning)}</div>' if seen.warning else ""
    dot = '<span style="color:#c92a2a">● recording</span> ' if recording else ""
    return (
        f'<div class="arm-status" style="margin:8px 8px 4px;border-left:6px solid {COLOURS[mode]};'
        'background:rgba(128,128,128,.09);border-radius:6px;padding:7px 10px;line-height:1.4">'
        f'<div data-mode="{mode.name}" style="font-weight:600">{escape(first)}</div>'
        f'<div style="font-size:0.86em;min-height:2.8em">{escape(second)}</div>{alarm}'
        f'<div style="font-size:0.76em;opacity:.65">{dot}{escape(seen.model.upper())} {escape(recording)}</div></div>'
    )


def way_out(command: Any, unlocked: bool) -> str:
    """What to do in a fault, now."""
    status, hindrance = Status(int(command["status"])), Status(int(command["hindrance"]))
    if status == Status.RETREATING:
        return f"{happening(command)} Escape stops it."
    if hindrance in (Status.OVER_FORCE, Status.OVER_TORQUE):
        return f"It is still clamped: {sentence(hindrance, command['hindrance_evidence'])}. Free it, or press Retreat."
    if hindrance == Status.OK:
        return "Press Reset fault, then Activate."
    if hindrance == Status.PROTECTIVE_STOP and unlocked:
        return "The robot is unlocked and stands. Press Reset fault, then Activate."
    if hindrance == Status.PROTECTIVE_STOP:
        return "Unlock it on the pendant, or press Unlock robot. Then press Reset fault."
    if hindrance in ENDED_BY_RESET:
        return f"{remedy(hindrance)} Then press Activate."
    return f"Not yet: {sentence(hindrance, command['hindrance_evidence'])}."


def absent_html(name: str) -> str:
    return (
        '<div class="arm-status" style="margin:8px;border-left:6px solid #868e96;background:rgba(128,128,128,.09);'
        f'border-radius:6px;padding:7px 10px"><b>Waiting for the controller {escape(name)!r}.</b><br>'
        "It is still loading (a minute on the very first run), or it is not running.</div>"
    )


def happening(command: Any) -> str:
    """One sentence about force and motion now."""
    force, velocity = np.array(command["wrench_tcp"][:3]), np.array(command["twist"][:3])
    pull, speed = float(np.linalg.norm(force)), float(np.linalg.norm(velocity))
    limits = int(command["limits"])
    felt = f"The tool is pushed {direction(force)} with {pull:.0f} N" if pull > FELT_N else "Nothing pushes the tool"
    moves = f"moves {direction(velocity)} at {100.0 * speed:.0f} cm/s" if speed > MOVES else "stands still"
    if limits & Limit.COLLISION and (pair := pair_words(command["near"], command["near_distance"])):
        idle = pull <= FELT_N and speed <= MOVES
        return f"{felt}; it {moves}. {'Held at a distance' if idle else 'Slowed down'}: {pair}."
    held = [words for limit, words in LIMITS.items() if limits & limit]
    return f"{felt}; it {moves}." + (f" Limited by: {held[0]}." if held else "")


def direction(vector: Any) -> str:
    i = int(np.argmax(np.abs(vector)))
    return DIRECTIONS[i][0 if vector[i] > 0.0 else 1]
