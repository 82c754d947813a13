"""Changes of parameters on a simulated arm: at rest, under the load of a spring, in contact, pushed or led."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ur_admittance.control.live_checks import check_felt, check_live
from ur_admittance.core.records import PARAMS, Limit, Mode, new
from ur_admittance.errors import ParameterError
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters, preset
from ur_admittance.params.record import fill
from ur_admittance.robots.simulated import Environment, Servo, Tool
from ur_admittance_lab.campaign.live import one_change
from ur_admittance_lab.campaign.view import positions
from ur_admittance_lab.episodes import Case, Script, Trace

MODEL = robot_model("ur5e")
TOOL, SERVO = Tool(), Servo(delay=0.008)
DEVICES = {**TOOL.parameters(), "robot.response_time": SERVO.response_time}
DEVICES["guiding.enable"] = "none"  # the hand here holds no button
NO_WRENCH = {"admittance.desired_wrench": [0.0] * 6}
SPRINGS = {"admittance.stiffness": [300.0] * 3 + [20.0] * 3, "admittance.enabled_axes": [True] * 6}
PRESSING = {
    "admittance.force_axes": [False, False, True, False, False, False],
    "admittance.desired_wrench": [0.0, 0.0, 10.0, 0.0, 0.0, 0.0],
}
PUSH = np.array([8.0, -10.0, 8.0, 0.6, 0.5, -0.6])  # [N, Nm]
RISE = 0.15  # [s] of the push
TURN = [0.02, -0.03, 0.02, 0.1, -0.1, 0.1]  # [m/s, rad/s] streamed

LEVER = 0.2  # [m] points of a body at the flange that are looked at: turning counts as well
POINTS = LEVER * np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
STEP_WINDOW = 0.1  # [s] after a change in which a step would come
STOPPED_BY = Limit.LINEAR_VELOCITY | Limit.ANGULAR_VELOCITY | Limit.WORKSPACE | Limit.COLLISION
STOPPED_BY |= Limit.JOINT_VELOCITY | Limit.JOINT_POSITION | Limit.SINGULARITY

VARIANTS: dict[str, tuple[dict[str, Any], ...]] = {
    "rest": ({}, SPRINGS, {"admittance.enabled_axes": [False] * 6}, SPRINGS | {"control_frame": "tcp"}),
    "spring": (SPRINGS, SPRINGS | {"control_frame": "tcp"}),
    "contact": (PRESSING, PRESSING | {"control_frame": "task", "admittance.bias_time": 0.3}),
    "motion": ({}, {"admittance.travel_damping": 0.5}),
    "turning": ({}, SPRINGS, {"admittance.enabled_axes": [False] * 6}),
}
TIMES = {
    "rest": (0.4, 1.6),
    "spring": (2.2, 2.6),
    "contact": (1.6, 2.0),
    "motion": (0.6, 0.9),
    "turning": (0.6, 0.9),
}  # [s] change, end


@dataclass(frozen=True)
class Outcome:
    """What a change did."""

    refused: str  # the sentence, empty: accepted
    moved: float  # [m] of the farthest point of the arm's last link
    step: float  # [m/s2] largest change of the commanded acceleration from one cycle to the next
    held_by: int  # Limit flags that held the arm back just before the change
    stopped_by: int  # ... and just after it
    active: bool  # all the time


def start(situation: str, variant: int = 0, base: str = "") -> Parameters:
    """Parameters before the change, on top of a preset."""
    parameters = preset(base) if base else Parameters()
    quiet = {} if situation == "contact" else NO_WRENCH
    return parameters.changed({**DEVICES, **quiet, **VARIANTS[situation][variant % len(VARIANTS[situation])]})


def change(situation: str, before: Parameters, after: Parameters) -> Case:
    at, end = TIMES[situation]
    script = Script(end)
    script.activate(0.02)
    if situation in ("spring", "motion"):
        rise = np.minimum(1.0, np.arange(len(script.rows)) * script.period / RISE)[:, None]
        script.push(0.05, end, rise * PUSH)
    if situation == "turning":
        script.twist(0.05, end, TURN)
    script.parameters(at, 1)
    environment = Environment.floor(2e4, gap=0.004) if situation == "contact" else Environment.none()
    return Case(script, before, tool=TOOL, environment=environment, servo=SERVO, changes=(after,))


def random_change(rng: np.random.Generator, situation: str, *names: str) -> Case:
    before = start(situation, int(rng.integers(8)))
    after = before
    for name in names:
        after = one_change(rng, name, after, MODEL, MODEL.home)
    return change(situation, before, after)


def refusal(case: Case, sample: np.void) -> str:
    """What the controller says to this change while it is active and sees this sample; empty: accepted."""
    records = new(PARAMS, 2)
    for record, parameters in zip(records, (case.parameters, case.changes[0]), strict=True):
        fill(record, parameters, MODEL)
    try:
        check_live(case.parameters, case.changes[0], active=True)
        check_felt(case.parameters, case.changes[0], records[0], records[0], records[1], sample)
    except ParameterError as error:
        return str(error)
    return ""


def measure(case: Case, trace: Trace) -> Outcome:
    at = int(np.argmax(case.script.rows["parameters"] == 1))
    window = slice(at - 4, at + round(STEP_WINDOW / trace.period))
    commanded = np.stack([positions(trace.command["q"][window], MODEL, p[None]) for p in POINTS], axis=1)
    acceleration = np.diff(commanded, n=2, axis=0) / trace.period**2
    measured = np.stack([positions(trace.sample["q"][at - 1 :], MODEL, p[None]) for p in POINTS], axis=1)
    return Outcome(
        refused=refusal(case, trace.sample[at - 1]),
        moved=float(np.linalg.norm(measured - measured[0], axis=2).max()),
        step=float(np.linalg.norm(np.diff(acceleration, axis=0), axis=2).max()),
        held_by=int(trace.command["limits"][at - 1]) & int(STOPPED_BY),
        stopped_by=int(np.bitwise_or.reduce(trace.command["limits"][at : window.stop])) & int(STOPPED_BY),
        active=bool((trace.command["mode"][at:] == Mode.ACTIVE).all()) and not trace.diverged,
    )


def explained(case: Case, outcome: Outcome) -> float:
    """Change of acceleration [m/s2] by the mass of axes that are disabled while something pushes them, or that a limit
    held back; and by the limits for force axes that must slow down to their approach speed, and on a curved path that
    lower accelerations cannot follow as fast."""
    before, after = new(PARAMS, 2)
    fill(before, case.parameters, MODEL)
    fill(after, case.changes[0], MODEL)
    freed = (before["enabled"] > 0) & ((after["enabled"] == 0) | (outcome.held_by != 0))
    mass = np.minimum(before["mass"], after["mass"])
    lever = np.array([1.0] * 3 + [LEVER + 0.3] * 3)  # from the TCP, up to 0.3 m away, to the points
    pushed = np.array([np.linalg.norm(PUSH[:3])] * 3 + [np.linalg.norm(PUSH[3:]) + 0.3 * np.linalg.norm(PUSH[:3])] * 3)
    bound = float(np.linalg.norm(np.where(freed, lever * pushed / mass, 0.0)))
    slower = (after["approach_speed"] < before["approach_speed"]).repeat(3)
    weaker = any((after[name] < before[name]).any() for name in ("joint_acceleration", "max_acceleration"))
    turned = before["control_frame"] != after["control_frame"] and bool(case.script.rows["reference_twist"].any())
    if weaker or ((after["force_axes"] > 0) & ((before["force_axes"] == 0) | slower | turned)).any():
        limit = np.maximum(before["max_acceleration"], after["max_acceleration"])
        bound += 2.0 * float(limit[0] + (LEVER + 0.3) * limit[1])
    return bound
