"""ur-admittance check --robot ADDRESS: is this robot, this network and this computer fit for force control?"""

from typing import Annotated

import typer

MARKS = {"good": "ok  ", "note": "note", "bad": "BAD "}


def check(
    robot: Annotated[str, typer.Option("--robot", help="Address of the robot.")],
    model: Annotated[str, typer.Option(help="Robot type, e.g. ur5e.")] = "ur5e",
    seconds: Annotated[float, typer.Option(min=0.5, max=60.0, help="How long to listen to the robot [s].")] = 5.0,
) -> None:
    """Examine a robot without moving it: network, state, payload, sensor, real-time set-up; and what to fix."""
    from ur_admittance.apps.doctor import examine

    findings = examine(robot, model, seconds)
    for finding in findings:
        typer.echo(f"{MARKS[finding.level]}  {finding.text}")
        if finding.remedy:
            typer.echo(f"      -> {finding.remedy}")
    bad = sum(finding.level == "bad" for finding in findings)
    typer.echo("ready." if bad == 0 else f"{bad} thing{'s' if bad > 1 else ''} to fix first.")
    if bad:
        raise typer.Exit(1)
