"""ur-admittance check-frames: push the tool along each axis and learn whether signs, frames and lever are right."""

from pathlib import Path
from typing import Annotated, Any

import typer

RAMP = 0.3  # [s] of a simulated push
FORCE, TORQUE = 15.0, 1.5  # [N], [Nm]


def check_frames(
    robot: Annotated[str, typer.Option("--robot", help="sim, ros, or the address of an arm.")] = "sim",
    model: Annotated[str, typer.Option("--model", help="Type of the arm, such as ur5e.")] = "ur5e",
    params: Annotated[Path | None, typer.Option("--params", help="Parameter file to test.")] = None,
    fault: Annotated[
        str, typer.Option("--fault", help="Simulation only: reaction, swap-xy, flip-z, torque-flip-x, no-lever ...")
    ] = "",
) -> None:
    """Push along each axis and twist: says precisely which sign, axis, mounting or lever arm is wrong.

    The arm holds still. In simulation the hand pushes by itself. Exit code 1 when something is wrong."""
    from ur_admittance.calibration.push_test import push_test
    from ur_admittance.cli.calibrate import connected_arm, parameters_for
    from ur_admittance.errors import RobotError

    if fault and robot != "sim":
        raise RobotError(f"--fault {fault}: faults are for the simulation only.")
    parameters = parameters_for(params, robot)
    if fault == "no-lever":
        parameters = parameters.changed({"tool.tcp": [0.0] * 6})
    options: dict[str, Any] = {}
    if robot == "sim":
        from ur_admittance.apps.miswired import with_fault
        from ur_admittance.model import robot_model
        from ur_admittance.simulation import FtSensor, World
        from ur_admittance.simulation.robot import SimulatedRobot

        sensor = FtSensor(noise_force=0.1, noise_torque=0.005)
        simulated = SimulatedRobot(World(robot_model(model), sensor=sensor), period=1.0 / parameters.control_rate)
        options["device"] = with_fault(simulated, fault) if fault and fault != "no-lever" else simulated
    with connected_arm(robot, model, parameters, **options) as (arm, _):
        ask, done = _simulated_hand(simulated.world) if robot == "sim" else _person()
        test = push_test(arm, parameters, ask, done, typer.echo)
    if test.diagnosis.good:
        typer.echo("sign, axes, mounting and lever arm are right")
        return
    for finding in test.diagnosis.findings:
        typer.echo(f"wrong: {finding}")
    for name, value in test.diagnosis.changes.items():
        typer.echo(f"mend it with {name}: {value}")
    raise typer.Exit(1)


def _person() -> tuple[Any, Any]:
    def ask(action: Any) -> None:
        typer.echo(f"{action.name}: {action.words}, and hold it for a second")

    def done(action: Any) -> None:
        typer.echo("thank you, let go")

    return ask, done


def _simulated_hand(world: Any) -> tuple[Any, Any]:
    """Pushes at the TCP with 15 N, twists with 1.5 Nm."""
    import numpy as np

    def ask(action: Any) -> None:
        full = np.zeros(6)
        part = slice(3, 6) if action.is_twist else slice(0, 3)
        full[part] = (TORQUE if action.is_twist else FORCE) * action.direction
        world.push(lambda t: min(1.0, t / RAMP) * full)

    return ask, lambda action: world.let_go()
