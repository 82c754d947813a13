"""ur-admittance check, check-frames, measure-response: is this set-up fit for force control, are signs and frames
right, and how late does the arm respond?"""

import json
import math
import re
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ur_admittance.cli.options import (
    ArmOptions,
    ClientOption,
    JsonOption,
    LogOption,
    ModelOption,
    YesOption,
    shared_options,
    within,
)
from ur_admittance.errors import ParameterError
from ur_admittance.given import Bounds
from ur_admittance.runtime.registry import DEFAULT_NAME

SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


def check(
    robot: Annotated[str, typer.Option("--robot", help="Address of the robot.")],
    model: ModelOption = "ur5e",
    seconds: Annotated[
        float, within("--seconds", bounds=Bounds(0.5, 60.0, "s"), help="How long to listen to the robot [s].")
    ] = 5.0,
    name: Annotated[str, typer.Option(help="Name that the controller will have (`run --name`).")] = DEFAULT_NAME,
    log: Annotated[Path | None, typer.Option("--log", help="Recording that `run --log` will write.")] = None,
    client: ClientOption = "",
) -> None:
    """Examine robot and computer without moving anything: what `run` needs, and what to fix (then exit code 2)."""
    from ur_admittance.robots.rtde.doctor import MARKS, examine

    findings = examine(robot, model, seconds, name, log, client)
    for finding in findings:
        typer.echo(f"{MARKS[finding.level]}  {finding.text}")
        if finding.remedy:
            typer.echo(f"      -> {finding.remedy}")
    bad = sum(finding.level == "bad" for finding in findings)
    typer.echo("ready." if bad == 0 else f"{bad} thing{'s' if bad > 1 else ''} to fix first.")
    if bad:
        raise typer.Exit(2)


@shared_options
def check_frames(
    arm: ArmOptions,
    params: Annotated[Path | None, typer.Option("--params", help="Parameter file to test.")] = None,
    fault: Annotated[
        str, typer.Option("--fault", help="Simulation only: reaction, swap-xy, flip-z, torque-flip-x, no-lever ...")
    ] = "",
) -> None:
    """Find a wrong sign, axis, mounting or lever arm: you push along each axis and twist.

    The arm holds still. In simulation the hand pushes by itself. Exit code 1 when something is wrong."""
    from ur_admittance.calibration.push_test import push_test
    from ur_admittance.errors import RobotError
    from ur_admittance.robots.connect import parameters_for

    if fault and not arm.simulated:
        raise RobotError(f"--fault {fault}: faults are for the simulation only.")
    parameters = parameters_for(arm.robot, params)
    if fault == "no-lever":
        parameters = parameters.changed({"tool.tcp": [0.0] * 6})
    device: Any = None
    ask: Any = None  # a person
    done: Any = None
    if arm.simulated:
        from ur_admittance.model import robot_model
        from ur_admittance.robots.simulated import FtSensor, World
        from ur_admittance.robots.simulated.practice_arms import pushing_hand, with_fault
        from ur_admittance.robots.simulated.simulated_robot import SimulatedRobot

        world = World(robot_model(arm.model), sensor=FtSensor(noise_force=0.1, noise_torque=0.005))
        device = SimulatedRobot(world, period=1.0 / parameters.control_rate)
        if fault and fault != "no-lever":
            device = with_fault(device, fault)
        ask, done = pushing_hand(world)
    with arm.connected(parameters, device) as (calm, _):
        test = push_test(calm, parameters, ask, done, typer.echo)
    for sentence in test.diagnosis.sentences:
        typer.echo(sentence)
    if test.diagnosis.good:
        return
    for name, value in test.diagnosis.changes.items():
        typer.echo(f"fix it with {name}: {value}")
    raise typer.Exit(1)


@shared_options
def measure_response(
    arm: ArmOptions,
    delay: Annotated[str, typer.Option(help="Simulation only: delay of the simulated arm.")] = "10ms",
    yes: YesOption = False,
    as_json: JsonOption = False,
    log: LogOption = None,
) -> None:
    """Measure how late the arm responds: the base joint swings by 1.5 mm at the tool."""
    from ur_admittance.calibration.response import AMPLITUDE
    from ur_admittance.calibration.response import measure_response as measure
    from ur_admittance.params import Parameters
    from ur_admittance.robots.connect import recorded

    servo_delay = seconds(delay)
    settings: dict[str, Any] = {}
    if arm.simulated:
        from ur_admittance.model import robot_model
        from ur_admittance.robots.simulated import Servo, World

        settings["world"] = World(robot_model(arm.model), servo=Servo(delay=servo_delay))
    arm.confirm(f"The tool will swing by {1e3 * AMPLITUDE:g} mm to either side for 3 s. Is the path clear?", yes)
    say = partial(typer.echo, err=as_json)  # stdout is for the JSON alone
    with arm.connected(Parameters(), say=say, **settings) as (calm, name), recorded(calm, log, Parameters()):
        response = measure(calm)
    if as_json:
        typer.echo(json.dumps({"robot": name, "response_time": response.time, "gain": response.gain}))
        return
    typer.echo(f"{name}: {response}; set robot.response_time: {response.time:.4f}")
    if log is not None:
        typer.echo(f"recording: {log}")


def seconds(text: str) -> float:
    """'10ms', '0.01s', '0.01' -> 0.01."""
    match = re.fullmatch(r"\s*([0-9.eE+-]+)\s*(us|ms|s)?\s*", text)
    try:
        value = float(match[1]) * SECONDS[match[2] or "s"] if match else math.nan
    except ValueError:
        value = math.nan
    if not 0.0 <= value <= 0.5:
        raise ParameterError(f"--delay {text}: must be a time from 0 to 0.5 s, such as 10ms.")
    return value
