"""ur-admittance bringup: from a mounted arm to the first compliant motion, step by step, with a report."""

import getpass
import sys
import termios
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ur_admittance.cli.options import ClientOption, SensorOption, check_output, shared_options, within
from ur_admittance.errors import CalibrationError
from ur_admittance.given import Bounds
from ur_admittance.outputs import PARAMETERS

if TYPE_CHECKING:
    from ur_admittance.robots.rtde.bringup.bringup_report import Report


@dataclass(frozen=True)
class Chosen:
    """The arm to bring up and what it is to do; empty: as the robot, an unfinished report or the defaults say."""

    robot: Annotated[str, typer.Option("--robot", help="Address of the robot, or of an emulator.")]
    model: Annotated[str, typer.Option("--model", help="UR type; default: as the robot says.")] = ""
    out: Annotated[Path, typer.Option("--out", help="The report; an unfinished one is continued.")] = Path(
        "bringup.yaml"
    )
    preset: Annotated[str, typer.Option("--preset", help="What the arm is to do afterwards.")] = ""
    sensor: SensorOption = ""
    client: ClientOption = ""


@shared_options
def bringup(
    chosen: Chosen,
    from_step: Annotated[
        str, typer.Option("--from", help="Do this step and all after it again: check, model, kinematics ...")
    ] = "",
    poses: Annotated[int, within("--poses", bounds=Bounds(6, 60), help="Orientations of the calibration.")] = 12,
    seconds: Annotated[
        float, within("--seconds", bounds=Bounds(1.0, 600.0, "s"), help="Of the first motion [s].")
    ] = 20.0,
    by: Annotated[str, typer.Option("--by", help="Your name, for the report; default: you are asked once.")] = "",
) -> None:
    """Bring up a real arm with a person beside it: every step explained, asked for, and written into one report.

    Nothing moves without a yes. Steps can be repeated, or skipped with a reason. Ctrl-C stops the arm; the same command
    goes on where it stood. `run --preset bringup.yaml` takes the report as its configuration."""
    from ur_admittance.robots.rtde.bringup.bringup_report import load_report
    from ur_admittance.robots.rtde.bringup.conversation import Bench, talk
    from ur_admittance.robots.rtde.bringup.moving import NAMES, STEPS

    by = " ".join(by.split())  # one line of the report
    out = chosen.out
    if from_step and from_step not in NAMES:
        raise CalibrationError(f"--from {from_step}: must be one of {', '.join(NAMES)}.")
    check_output("--out", out, PARAMETERS, overwrite=True)  # a report that is there is continued
    report = _continued(load_report(out), chosen, by) if out.exists() else _new(chosen, by)
    if from_step:
        report.forget(list(NAMES[NAMES.index(from_step) :]))
    command = f"ur-admittance bringup --robot {chosen.robot} --out {out}"
    try:
        finished = talk(Bench(report, typer.echo, _ask, STEPS, poses, seconds))
    except (KeyboardInterrupt, typer.Abort):
        typer.echo(f"\nstopped; what is done is in {out}. Go on with: {command}", err=True)
        raise
    if not finished:
        typer.echo(f"\nWhat is done is in {out}. Go on with: {command}")
        return
    typer.echo(f"\nAll steps are done or skipped: {out}. From now on:")
    typer.echo(f"  {report.command(out)}")
    typer.echo("Raise velocity_scale_factor step by step, with --set velocity_scale_factor=0.3.")


def _new(chosen: Chosen, by: str) -> "Report":
    from ur_admittance.model import robot_model
    from ur_admittance.params import preset
    from ur_admittance.robots.rtde.bringup.bringup_report import Report, now
    from ur_admittance.robots.rtde.rtde_checks import identity

    who = identity(chosen.robot)
    about = {
        "robot": chosen.robot,
        "model": robot_model(chosen.model or who.model).name,
        "sensor": chosen.sensor or "builtin",
        "client": chosen.client or "direct",
        "preset": chosen.preset or "hand_guiding",
        "by": by,
        "serial number": who.serial or "unknown",
        "software": who.software + (" (emulator)" if who.emulated else ""),
        "begun": now(),
    }
    preset(about["preset"])
    typer.echo("A hand on the emergency stop, one person at the pendant, nobody else within reach of the arm.")
    about["by"] = by or _ask(f"Your name, for the report; Enter: {getpass.getuser()}") or getpass.getuser()
    report = Report(chosen.out, about)
    report.save()
    return report


def _continued(report: "Report", chosen: Chosen, by: str) -> "Report":
    """The same arm, or a refusal."""
    from ur_admittance.robots.rtde.rtde_checks import identity

    about = report.about
    about["robot"] = chosen.robot
    about["by"] = by or about["by"]
    for name in ("model", "sensor", "client", "preset"):
        if (asked := getattr(chosen, name)) and asked != about[name]:
            raise CalibrationError(
                f"--{name} {asked}: {report.path} was begun with {about[name]}; choose another file with --out."
            )
    report.check_arm(identity(chosen.robot).serial)
    typer.echo(f"{report.path}: continued by {about['by']}.")
    return report


def _ask(question: str) -> str:
    """What was typed before the question is not an answer to it: nothing may move because of a key hit too early."""
    if sys.stdin.isatty():
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
    return str(typer.prompt(question, default="", show_default=False, prompt_suffix=" > ")).strip()
