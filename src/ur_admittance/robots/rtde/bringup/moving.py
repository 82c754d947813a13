"""The steps in which the arm is driven: frames, response time, calibration, first compliant motion."""

from dataclasses import replace
from typing import Any

import numpy as np

from ur_admittance.calibration import session
from ur_admittance.calibration.push_test import Action, push_test
from ur_admittance.calibration.response import AMPLITUDE, measure_response
from ur_admittance.core.records import Mode, Status
from ur_admittance.params.own_motion import own_motion_of
from ur_admittance.robots.rtde.bringup.standing import NAME
from ur_admittance.robots.rtde.bringup.step import Bench, Found, Step
from ur_admittance.robots.rtde.real_arm import run_real

FOLLOWED = 0.002  # [m] of motion that counts


def _frames(bench: Bench) -> Found:
    def ask(action: Action) -> None:
        bench.say(f"{action.name}: {action.words}, and hold it for a second")

    def done(action: Action) -> None:
        bench.say("thank you, let go")

    with bench.arm() as (arm, _):
        test = push_test(arm, bench.parameters, ask, done, bench.say)
    diagnosis = test.diagnosis
    if diagnosis.good:
        return Found(True, (*test.moves, "sign, axes, mounting and lever arm are right"))
    lines = (*test.moves, *(f"wrong: {finding}" for finding in diagnosis.findings))
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
        parameters,
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


MOVING = (
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
)
