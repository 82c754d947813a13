"""ur-admittance calibrate: find tool mass, centre of mass, sensor bias, mounting and base tilt; test a calibration."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ur_admittance.calibration.arm import CalmArm
    from ur_admittance.params import Parameters

app = typer.Typer(
    help="Find tool weight, sensor bias, mounting and tilt from the arm's own motion; test a calibration."
)

CALM_WATCHDOG_HZ = 10.0  # at 0.5 rad/s a pause of this program for 0.1 s is no danger

RobotOption = Annotated[str, typer.Option("--robot", help="sim, ros, or the address of an arm.")]
ModelOption = Annotated[str, typer.Option("--model", help="Type of the arm, such as ur5e.")]
ParamsOption = Annotated[
    Path | None, typer.Option("--params", help="Parameter file: TCP, gravity, sensor.sign, limits.")
]
SensorOption = Annotated[
    str,
    typer.Option(
        "--sensor",
        help="Of a real arm: builtin (its payload setting taken off by the robot) or raw; with ros: a wrench topic.",
    ),
]
SeedOption = Annotated[int, typer.Option("--seed", help="Which unknown tool and sensor the simulation has.")]
MassOption = Annotated[float, typer.Option("--tool-mass", help="Mass of the simulated tool [kg].")]
ReachOption = Annotated[float | None, typer.Option("--reach", help="Farthest part of the tool from the flange [m].")]


@app.callback(invoke_without_command=True)
def calibrate(
    context: typer.Context,
    robot: RobotOption = "sim",
    model: ModelOption = "ur5e",
    poses: Annotated[int, typer.Option("--poses", min=1, max=60, help="How many orientations to visit.")] = 12,
    manual: Annotated[bool, typer.Option("--manual", help="You guide the arm to each pose by hand.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list the poses; nothing moves.")] = False,
    out: Annotated[Path, typer.Option("--out", help="File to write.")] = Path("calibration.yaml"),
    figure: Annotated[Path | None, typer.Option("--figure", help="Figure to write; default: beside the file.")] = None,
    params: ParamsOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before the arm moves.")] = False,
    sensor: SensorOption = "builtin",
    seed: SeedOption = 0,
    tool_mass: MassOption = 1.5,
    reach: ReachOption = None,
) -> None:
    """Turn the wrist through well-chosen orientations, read the sensor at rest, write calibration.yaml."""
    if context.invoked_subcommand is not None:
        return
    from ur_admittance.calibration import report, session
    from ur_admittance.calibration.file import save_calibration

    parameters = parameters_for(params, robot)
    device = _device(robot, model, seed, tool_mass, sensor)
    with connected_arm(robot, model, parameters, commanding=not manual or robot == "sim", **device) as (arm, info):
        if manual:
            typer.echo("Guide the arm to about 12 different orientations; after each one let go and press Enter.")
            result = session.calibrate_by_hand(
                arm, parameters, _by_hand(arm, parameters, robot, poses), typer.echo, info.name
            )
        else:
            chosen = _listed_poses(arm, parameters, poses, reach)
            if dry_run:
                return
            if robot != "sim" and not yes:
                typer.confirm("The arm will move slowly through these poses. Is the way free?", abort=True)
            result = session.calibrate(arm, parameters, poses, reach, typer.echo, info.name, chosen)
    typer.echo("\n" + report.text(result))
    if robot == "sim":
        typer.echo(_truth(arm.robot))
    save_calibration(result, out)
    picture = figure or out.with_suffix(".png")
    report.figure(result, picture)
    typer.echo(f"\nwritten: {out} and {picture}; use it with `include: {out.name}` in a parameter file beside it")


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="Calibration file to test.")],
    robot: RobotOption = "sim",
    model: ModelOption = "ur5e",
    params: ParamsOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before the arm moves.")] = False,
    sensor: SensorOption = "builtin",
    seed: SeedOption = 0,
    tool_mass: MassOption = 1.5,
    reach: ReachOption = None,
) -> None:
    """Test a calibration in three new orientations: which wrench is left with nothing touching the tool?"""
    from ur_admittance.calibration import session
    from ur_admittance.calibration.file import with_calibration

    parameters = with_calibration(parameters_for(params, robot), file)
    with connected_arm(robot, model, parameters, **_device(robot, model, seed, tool_mass, sensor)) as (arm, _):
        if robot != "sim" and not yes:
            typer.confirm("The arm will move slowly through three orientations. Is the way free?", abort=True)
        verdict = session.check(arm, parameters, reach=reach)
    for number, (force, torque) in enumerate(zip(verdict.force, verdict.torque, strict=True), start=1):
        typer.echo(f"pose {number}: {force:.3f} N, {torque:.4f} Nm left")
    typer.echo(str(verdict))
    if not verdict.good:
        raise typer.Exit(1)


@app.command()
def zero(
    file: Annotated[Path, typer.Argument(help="Calibration file whose bias is renewed.")],
    robot: RobotOption = "sim",
    model: ModelOption = "ur5e",
    params: ParamsOption = None,
    sensor: SensorOption = "builtin",
    seed: SeedOption = 0,
    tool_mass: MassOption = 1.5,
) -> None:
    """Renew the bias in a calibration file: arm standing, nothing touching the tool. Nothing moves."""
    from ur_admittance.calibration import session
    from ur_admittance.calibration.file import with_calibration, zero_file

    parameters = with_calibration(parameters_for(params, robot), file)
    commanding = robot == "sim"
    device = _device(robot, model, seed, tool_mass, sensor)
    with connected_arm(robot, model, parameters, commanding=commanding, **device) as (arm, _):
        change = session.offset(arm, parameters)
    zero_file(file, change)
    typer.echo(
        f"bias changed by {' '.join(f'{x:.3f}' for x in change[:3])} N, {' '.join(f'{x:.4f}' for x in change[3:])} Nm"
    )


def _device(robot: str, model: str, seed: int, tool_mass: float, sensor: str) -> dict[str, Any]:
    """The simulated arm has a tool, a mounting, a bias and a tilt that nobody knows."""
    if robot == "ros":
        return {"wrench_topic": sensor} if sensor.startswith("/") else {}
    if robot != "sim":
        return {"sensor": sensor, "watchdog_hz": CALM_WATCHDOG_HZ}
    from ur_admittance.apps.unknown_tool import unknown_tool
    from ur_admittance.model import robot_model

    return {"world": unknown_tool(robot_model(model), seed, tool_mass)}


@contextmanager
def connected_arm(
    robot: str, model: str, parameters: "Parameters", device: Any = None, commanding: bool = True, **options: Any
) -> Iterator[tuple["CalmArm", Any]]:
    """The connected arm and what is known of it, ``device`` or opened by name; leaving the block stops it."""
    from ur_admittance.apps.arms import open_robot
    from ur_admittance.calibration.arm import CalmArm

    if robot == "ros":
        options |= {"base_link": parameters.base_link, "tip_link": parameters.tip_link, "driving": commanding}
    with ExitStack() as stack:
        device = device or open_robot(robot, model, 1.0 / parameters.control_rate, **options)
        info = device.connect()
        stack.push(device.__exit__)
        for sentence in info.sentences:
            typer.echo(sentence)
        clock = device.clock()
        clock.start()
        yield CalmArm(device, info.model, 1.0 / info.rate, clock.wait, commanding), info


def parameters_for(file: Path | None, robot: str) -> "Parameters":
    """Those of a file, or the defaults; the simulated tool's TCP is 150 mm in front of the flange."""
    from ur_admittance.params import Parameters, load_parameters

    if file is not None:
        return load_parameters(file)
    return Parameters().changed({"tool.tcp": [0.0, 0.0, 0.15, 0.0, 0.0, 0.0]}) if robot == "sim" else Parameters()


def _listed_poses(arm: "CalmArm", parameters: "Parameters", count: int, reach: float | None) -> Any:
    import numpy as np

    from ur_admittance.calibration.excitation import excitation
    from ur_admittance.calibration.poses import choose

    chosen = choose(arm.model, parameters, arm.q, count, reach=reach)
    typer.echo(f"{'pose':>4}  {'joint angles [deg]':48}  flange z in base axes")
    axes = [arm.model.forward(q)[0] for q in chosen]
    for number, (q, R) in enumerate(zip(chosen, axes, strict=True), start=1):
        angles = " ".join(f"{angle:7.1f}" for angle in np.degrees(q))
        typer.echo(f"{number:4}  {angles:48}  {' '.join(f'{x:5.2f}' for x in R[:, 2])}")
    value = excitation(np.array([R.T for R in axes]), parameters.gravity)
    typer.echo(f"excitation {value:.3f} (0.1 and more is good)")
    return chosen


def _by_hand(arm: "CalmArm", parameters: "Parameters", robot: str, count: int) -> Any:
    """Ask for the next pose; the simulated arm is guided by an invisible hand."""
    from ur_admittance.calibration.poses import choose

    guided = choose(arm.model, parameters, arm.q, count) if robot == "sim" else None

    def next_pose(number: int) -> bool:
        if guided is not None:
            if number > count:
                return False
            arm.move(guided[number - 1])
            return True
        answer = typer.prompt(f"pose {number}: Enter when the arm stands (q: enough)", default="", show_default=False)
        return not str(answer).strip().lower().startswith("q")

    return next_pose


def _truth(device: Any) -> str:
    from ur_admittance.apps.unknown_tool import truth

    shown = []
    for name, value in truth(device.world).items():
        shown.append(f"  {name:20} " + " ".join(f"{x:9.4f}" for x in (value if isinstance(value, list) else [value])))
    return "\ntruth in this simulation:\n" + "\n".join(shown)
