"""ur-admittance calibrate: find tool mass, centre of mass, sensor bias, mounting and base tilt; test a calibration."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ur_admittance.cli.console import Group
from ur_admittance.cli.options import (
    MovingOptions,
    OverwriteOption,
    SensorOptions,
    check_output,
    shared_options,
    within,
)
from ur_admittance.given import Bounds
from ur_admittance.outputs import PARAMETERS, PICTURES

if TYPE_CHECKING:
    from ur_admittance.calibration.calm_arm import CalmArm
    from ur_admittance.params import Parameters

app = typer.Typer(
    cls=Group,
    help="Find tool weight, sensor bias, mounting and tilt: by the arm's own motion; test a calibration.",
)


@dataclass(frozen=True)
class Written:
    """What is written, and where."""

    out: Annotated[Path, typer.Option("--out", help="File to write.")] = Path("calibration.yaml")
    figure: Annotated[Path | None, typer.Option("--figure", help="Figure to write; default: beside the file.")] = None
    second: Annotated[bool, typer.Option("--as-second", help="Write it for a second force sensor (second.*).")] = False
    overwrite: OverwriteOption = False

    @property
    def picture(self) -> Path:
        return self.figure or self.out.parent / f"{self.out.stem}.png"


@app.callback(invoke_without_command=True)
@shared_options
def calibrate(
    context: typer.Context,
    arm: MovingOptions,
    *,
    poses: Annotated[int, within("--poses", bounds=Bounds(1, 60), help="How many orientations to visit.")] = 12,
    manual: Annotated[bool, typer.Option("--manual", help="You guide the arm to each pose by hand.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list the poses; nothing moves.")] = False,
    written: Written,
) -> None:
    """Turn the wrist through well-chosen orientations, read the sensor at rest, write calibration.yaml."""
    if context.invoked_subcommand is not None:
        return
    from ur_admittance.calibration import session
    from ur_admittance.calibration.tool_calibration import check_replaced, save_calibration

    out, picture = written.out, written.picture
    if not dry_run:
        check_output("--out", out, PARAMETERS, written.overwrite)
        check_output("--figure", picture, PICTURES, written.overwrite)
        check_replaced(out, arm.simulated)
    parameters = arm.parameters()
    if arm.sensor or arm.simulated:
        parameters = parameters.changed({"sensor.source": ""})  # of an older calibration
    source = arm.source(parameters, arm.sensor)
    settings = arm.settings(source)
    with arm.connected(parameters, commanding=not manual or arm.simulated, **settings) as (calm, name):
        if manual:
            typer.echo("Guide the arm to about 12 different orientations; after each one let go and press Enter.")
            by_hand = _by_hand(calm, parameters, arm.simulated, poses)
            result = session.calibrate_by_hand(calm, parameters, by_hand, typer.echo, name)
        else:
            chosen = _listed_poses(calm, parameters, poses, arm.reach)
            if dry_run:
                return
            arm.confirm("The arm will move slowly through these poses. Is the path clear?", arm.yes)
            result = session.calibrate(calm, parameters, poses, arm.reach, typer.echo, name, chosen)
    result = replace(result, source=source)
    typer.echo(f"\n{result}")
    if arm.simulated:
        typer.echo(_truth(settings["world"]))
    save_calibration(result, out, written.second)
    result.save_figure(picture)
    typer.echo(f"\nwritten: {out} and {picture}; use it with `include: {out.name}` in a parameter file beside it")


@app.command()
@shared_options
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Calibration file to test.")], arm: MovingOptions
) -> None:
    """Test a calibration in three new orientations: which wrench is left with nothing touching the tool?"""
    from ur_admittance.calibration import session
    from ur_admittance.calibration.tool_calibration import with_calibration

    parameters = with_calibration(arm.parameters(), file)
    with arm.connected(parameters, **arm.settings(arm.source(parameters, arm.sensor))) as (calm, _):
        arm.confirm("The arm will move slowly through three orientations. Is the path clear?", arm.yes)
        verdict = session.check(calm, parameters, reach=arm.reach)
    for number, (force, torque) in enumerate(zip(verdict.force, verdict.torque, strict=True), start=1):
        typer.echo(f"pose {number}: {force:.3f} N, {torque:.4f} Nm left")
    typer.echo(str(verdict))
    if not verdict.good:
        raise typer.Exit(1)


@app.command()
@shared_options
def zero(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Calibration file whose bias is renewed.")],
    arm: SensorOptions,
) -> None:
    """Renew the bias in a calibration file: arm standing, nothing touching the tool. Nothing moves."""
    from ur_admittance.calibration import session
    from ur_admittance.calibration.tool_calibration import check_replaced, with_calibration, zero_file

    parameters = with_calibration(arm.parameters(), file)
    check_replaced(file, arm.simulated)
    settings = arm.settings(arm.source(parameters, arm.sensor))
    with arm.connected(parameters, commanding=arm.simulated, **settings) as (calm, _):
        change = session.offset(calm, parameters)
    zero_file(file, change)
    typer.echo(
        f"bias changed by {' '.join(f'{x:.3f}' for x in change[:3])} N, {' '.join(f'{x:.4f}' for x in change[3:])} Nm"
    )


def _listed_poses(arm: "CalmArm", parameters: "Parameters", count: int, reach: float | None) -> Any:
    import numpy as np

    from ur_admittance.calibration.poses import choose, excitation

    chosen = choose(arm.model, parameters, arm.q, count, reach=reach)
    typer.echo(f"{'pose':>4}  {'joint angles [deg]':48}  flange z in base axes")
    axes = [arm.model.forward(q)[0] for q in chosen]
    for number, (q, R) in enumerate(zip(chosen, axes, strict=True), start=1):
        angles = " ".join(f"{angle:7.1f}" for angle in np.degrees(q))
        typer.echo(f"{number:4}  {angles:48}  {' '.join(f'{x:5.2f}' for x in R[:, 2])}")
    value = excitation(np.array([R.T for R in axes]), parameters.gravity)
    typer.echo(f"excitation {value:.3f} (0.1 or more is good)")
    return chosen


def _by_hand(arm: "CalmArm", parameters: "Parameters", simulated: bool, count: int) -> Any:
    """Ask for the next pose; the simulated arm is guided by an invisible hand."""
    from ur_admittance.calibration.poses import choose

    guided = choose(arm.model, parameters, arm.q, count) if simulated else None

    def next_pose(number: int) -> bool:
        if guided is not None:
            if number > count:
                return False
            arm.move(guided[number - 1])
            return True
        question = f"pose {number}: press Enter when the arm stands still (q: done)"
        answer = typer.prompt(question, default="", show_default=False)
        return not str(answer).strip().lower().startswith("q")

    return next_pose


def _truth(world: Any) -> str:
    from ur_admittance.robots.simulated.practice_arms import truth

    shown = []
    for name, value in truth(world).items():
        shown.append(f"  {name:20} " + " ".join(f"{x:9.4f}" for x in (value if isinstance(value, list) else [value])))
    return "\ntruth in this simulation:\n" + "\n".join(shown)
