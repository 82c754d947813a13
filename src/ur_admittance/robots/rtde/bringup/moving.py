"""The steps in which the arm is driven: frames, response time, calibration, first compliant motion, a pulled cable.

With the steps before them: all, in their order."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ur_admittance.calibration import session
from ur_admittance.calibration.calm_arm import CalmArm
from ur_admittance.calibration.push_test import push_test
from ur_admittance.calibration.response import AMPLITUDE, measure_response
from ur_admittance.core.records import Mode, Status
from ur_admittance.errors import RobotError
from ur_admittance.params.own_motion import own_motion_of
from ur_admittance.robots.connect import connected_arm, open_rtde
from ur_admittance.robots.operate import LOOP_PRIORITY
from ur_admittance.robots.rtde import wire
from ur_admittance.robots.rtde.bringup.conversation import Bench, Found, Step
from ur_admittance.robots.rtde.bringup.standing import NAME, STANDING
from ur_admittance.robots.rtde.listen import Listener
from ur_admittance.robots.rtde.real_arm import COMMAND_PRIORITY, run_real
from ur_admittance.robots.rtde.rtde_checks import reachable
from ur_admittance.runtime.realtime import realtime

FOLLOWED = 0.002  # [m] of motion that counts
# of the pulled cable
SPEED = 0.02  # [m/s] of the flange; ten seconds of it, if the robot kept it after all, are 200 mm
TO_AND_FRO = 10.0  # [s]
STEEP = 4.0  # of the turns: the speed is constant for five sixths of the time
LONGEST = 60.0  # [s] of motion
SILENT = 0.05  # [s] without a state: that was the cable
BRAKING = 0.25  # [s] that the robot may take to stop, beside its watchdog
PLAY = 0.001  # [m]
AT_REST = 0.005  # [rad/s]
TRIES = 5


def _frames(bench: Bench) -> Found:
    with bench.arm() as (arm, _):
        test = push_test(arm, bench.parameters, say=bench.say)
    diagnosis = test.diagnosis
    lines = (*test.moves, *diagnosis.sentences)
    if diagnosis.good:
        return Found(True, lines)
    if bench.sensor == "builtin":  # its wiring is the robot's: the person, or the TCP, was wrong
        hint = "the robot's own sensor has fixed axes: check the TCP, and push as you are told"
        return Found(False, (*lines, hint), cause="payload" if "tool.tcp" in diagnosis.changes else "")
    fixes = [f"{name}: {value}" for name, value in diagnosis.changes.items()]
    for line in (*lines, *(f"this would fix it: {fix}" for fix in fixes)):
        bench.say(line)
    if not fixes or bench.ask("Take that over and go on? (y: yes, anything else: no)").lower() not in ("y", "yes"):
        return Found(False, lines)
    return Found(True, (*lines, f"taken over: {'; '.join(fixes)}"), diagnosis.changes)


def _response(bench: Bench) -> Found:
    with bench.arm() as (arm, _):
        response = measure_response(arm)
    lines = (f"{response}, {100.0 * response.explained:.1f} % of its motion is explained by that",)
    return Found(True, lines, {"robot.response_time": response.time})


def _calibration(bench: Bench) -> Found:
    with bench.arm() as (arm, _):
        result = session.calibrate(arm, bench.parameters, bench.poses, say=bench.say, robot=arm.model.name)
    result = replace(result, source=bench.sensor)
    return Found(True, tuple(line for line in str(result).splitlines() if line), result.changes())


def _motion(bench: Bench) -> Found:
    force, speed, distance = 0.0, 0.0, 0.0  # largest
    start: Any = None

    def watch(controller: Any) -> bool:
        """True: the arm must not comply, there is nothing to wait for."""
        nonlocal force, speed, distance, start
        command = controller.command
        if command["mode"] == Mode.ACTIVE:
            start = np.array(command["p_tcp"]) if start is None else start
            force = max(force, float(np.linalg.norm(command["wrench_tcp"][:3])))
            speed = max(speed, float(np.linalg.norm(command["twist"][:3])))
            distance = max(distance, float(np.linalg.norm(command["p_tcp"] - start)))
        return start is None and controller.seen_at_rest and controller.state["rest_doubt"] != Status.OK

    parameters = bench.parameters
    if motion := own_motion_of(parameters):
        bench.say(f"IT MOVES BY ITSELF: {motion}.")
        if bench.ask("Start it all the same? (y: yes, anything else: no)").lower() not in ("y", "yes"):
            return Found(False, ("not started: it would move by itself",))
    bench.say(f"compliant for {bench.seconds:g} s from now on; Ctrl-C ends it sooner")
    end = run_real(
        bench.host,
        bench.model.name,
        parameters.changed({"guiding.enable": "none"}),  # this step is watched; a tenth of all speeds
        connection={"sensor": bench.sensor, "client": bench.client},
        name=NAME,
        duration=bench.seconds,
        on_tick=watch,
        say=bench.say,
    )
    limit = parameters.velocity_scale_factor * parameters.max_linear_velocity
    lines = (
        f"{end.ticks} cycles, {end.missed} missed; ended: {end.ended_because}; {end.reason}",
        f"felt up to {force:.1f} N, moved up to {1e3 * distance:.1f} mm away at up to {1e3 * speed:.1f} mm/s "
        f"(limit {1e3 * limit:.0f} mm/s)",
    )
    pushed = force > parameters.admittance.min_motion_threshold
    return Found(end.mode != Mode.FAULT and distance > FOLLOWED and pushed, lines)


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
            reachable(bench.host, wire.PORT, 3.0)
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


STEPS: tuple[Step, ...] = (
    *STANDING,
    Step(
        "frames",
        "Signs and axes: the push test",
        "You push the tool along each axis and twist it, as you are told, with 5 N or more: a light push of one hand.\n"
        "It shows in which direction the arm would go, and names what is wrong: sign, axis, mounting or lever arm.",
        _frames,
        "Were the directions right?",
        "The arm holds its position and does not yield yet.",
    ),
    Step(
        "response",
        "How late the arm responds",
        "The delay from a command to the motion decides how hard a contact may be without bouncing.\n"
        "The base joint swings the tool to either side for three seconds, and the delay is measured.",
        _response,
        "Do you accept it?",
        f"The tool will swing by {1e3 * AMPLITUDE:g} mm to either side.",
    ),
    Step(
        "calibration",
        "Tool weight, bias, mounting and tilt",
        "The wrist turns slowly through several orientations and reads the sensor in each; the weight that is left,\n"
        "the bias, the mounting of the sensor and the tilt of the base follow from it. Nothing may touch the tool.",
        _calibration,
        "Do you accept it?",
        "The wrist will turn by up to 150 degrees, at most 30 degrees per second; half a metre around it must be free.",
    ),
    Step(
        "motion",
        "First compliant motion, at a tenth of the speed",
        "The arm yields to every force on its tool, at a tenth of all speed limits. Push gently along each axis: it\n"
        "must move with your hand, and stop when you let go. Against it, sideways or by itself: press the stop.",
        _motion,
        "Did it move with your hand, in each direction, and stop when you let go?",
        "The arm will follow every force on its tool.",
    ),
    Step(
        "cable",
        "A pulled cable",
        "Commands that stay away must end in a stop, whatever the network does. The arm moves slowly, you pull its\n"
        "network cable, and when the cable is in again the distance is measured that it still went.",
        _cable,
        "Did the arm stop at once?",
        f"The base will turn to and fro at {1e3 * SPEED:g} mm/s, by 100 mm. If it goes on without cable, press the "
        "stop.",
    ),
)
NAMES = tuple(step.name for step in STEPS)
