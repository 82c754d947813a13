"""ur-admittance measure-response: how late the robot responds."""

import json
import math
import re
from functools import partial
from typing import Annotated, Any

import typer

from ur_admittance.cli.options import ArmOptions, JsonOption, LogOption, YesOption, shared_options
from ur_admittance.errors import ParameterError

SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


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
    from ur_admittance.robots.calm_recorder import recorded

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
