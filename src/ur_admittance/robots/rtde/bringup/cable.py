"""The last step: somebody pulls the network cable of a slowly moving arm; how far does it still go?"""

import math

import numpy as np

from ur_admittance.calibration.calm_arm import CalmArm
from ur_admittance.errors import RobotError
from ur_admittance.robots.connect import connected_arm, open_rtde
from ur_admittance.robots.operate import LOOP_PRIORITY
from ur_admittance.robots.rtde.bringup.step import Bench, Found, Step
from ur_admittance.robots.rtde.listen import Listener
from ur_admittance.robots.rtde.real_arm import COMMAND_PRIORITY
from ur_admittance.robots.rtde.rtde_checks import RTDE_PORT, reachable
from ur_admittance.runtime.realtime import realtime

SPEED = 0.02  # [m/s] of the flange; ten seconds of it, if the robot kept it after all, are 200 mm
TO_AND_FRO = 10.0  # [s]
STEEP = 4.0  # of the turns: the speed is constant for five sixths of the time
LONGEST = 60.0  # [s] of motion
SILENT = 0.05  # [s] without a state: that was the cable
BRAKING = 0.25  # [s] that the robot may take to stop, beside its watchdog
PLAY = 0.001  # [m]
AT_REST = 0.005  # [rad/s]
TRIES = 5


def _cable(bench: Bench) -> Found:
    robot = open_rtde(bench.host, bench.model, bench.sensor, client=bench.client, rt_priority=COMMAND_PRIORITY)
    q, lever = None, 0.0
    try:
        with connected_arm(robot) as (arm, _), realtime(LOOP_PRIORITY):
            lever = float(np.linalg.norm(arm.model.jacobian(arm.q)[:3, 0]))
            q, qd = _until_silence(bench, arm, SPEED / max(lever, 0.1))
    except RobotError:
        if q is None:
            raise
    if q is None:
        return Found(False, (f"nobody pulled the cable within {LONGEST:g} s",))
    left, rests = _looked_up(bench, q)
    speed, patience = abs(float(qd[0])) * lever, 1.0 / robot.settings.watchdog_hz
    allowed = speed * (patience + BRAKING) + PLAY
    lines = (
        f"client {bench.client}: the cable was pulled at {1e3 * speed:.1f} mm/s, the flange went on for "
        f"{1e3 * left:.1f} mm (allowed: {1e3 * allowed:.1f} mm)",
        "the arm stands" if rests else "the arm still moves",
    )
    if speed < 0.5 * SPEED:
        return Found(False, (*lines, "that was while it turned round: repeat it in the middle of the way"))
    return Found(rests and left <= allowed, lines)


def _until_silence(bench: Bench, arm: CalmArm, speed: float) -> tuple[np.ndarray | None, np.ndarray]:
    """Base joint to and fro at `speed` [rad/s]; its last angles and speeds before the robot fell silent, or None."""
    start, t, offset, asked = arm.q, 0.0, 0.0, False
    while t < LONGEST:
        if t > 1.0 and not asked:  # at full speed by then
            asked = True
            bench.say("pull the network cable out of the robot now, while the arm moves" + _emulated(bench))
        rate = speed * min(1.0, max(-1.0, STEEP * math.sin(2.0 * math.pi * t / TO_AND_FRO)))
        step = min(float(arm.sample["dt"]), 2.0 * arm.period)  # the robot's own time: its slider may stretch it
        offset, t = offset + rate * step, t + step
        q, qd = start.copy(), np.zeros(6)
        q[0], qd[0] = start[0] + offset, rate
        try:
            arm.cycle(q, qd)
        except RobotError:
            if not arm.sample["joint_age"] > SILENT:
                raise
            return np.array(arm.sample["q"]), np.array(arm.sample["qd"])
    return None, np.zeros(6)


def _looked_up(bench: Bench, q: np.ndarray) -> tuple[float, bool]:
    """How far the flange is from where it was at those angles [m], and whether it stands."""
    for attempt in range(1, TRIES + 1):
        bench.ask("Plug the cable in again and wait until the robot can be reached, then press Enter")
        try:
            reachable(bench.host, RTDE_PORT, 3.0)
            with Listener(bench.host) as robot:
                robot.choose(("actual_q", "actual_qd"))
                *_, (_, state) = robot.states(0.2)
        except (OSError, RobotError) as error:
            if attempt == TRIES:
                raise RobotError(f"{bench.host} cannot be reached again: {error}") from None
            bench.say(str(error))
            continue
        break
    now, before = (bench.model.forward(np.array(angles))[1] for angles in (state["actual_q"], q))
    return float(np.linalg.norm(now - before)), max(map(abs, state["actual_qd"])) < AT_REST


def _emulated(bench: Bench) -> str:
    emulated = bench.report.about["software"].endswith("(emulator)")
    return f' (here: ur-emulator tell --host {bench.host} "cut 5")' if emulated else ""


CABLE = Step(
    "cable",
    "A pulled cable",
    "Commands that stay away must end in a stop, whatever the network does. The arm moves slowly, you pull its\n"
    "network cable, and when the cable is in again the distance is measured that it still went.",
    _cable,
    "Did the arm stop at once?",
    f"The base will turn to and fro at {1e3 * SPEED:g} mm/s, by 100 mm. If it goes on without cable, press the stop.",
)
