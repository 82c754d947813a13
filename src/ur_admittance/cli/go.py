"""ur-admittance go: take an arm to a pose, slowly, yielding to hands, stopped by a force."""

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from ur_admittance.cli.options import shared_options, within
from ur_admittance.cli.run import Consent, Subject, Wires, Work, comply
from ur_admittance.errors import LifecycleError, ParameterError
from ur_admittance.given import Bounds

if TYPE_CHECKING:
    from ur_admittance.control.go_to import Goal

LOOK_S = 0.2


@dataclass(frozen=True)
class To:
    """Where to, and how."""

    joints: Annotated[
        str, typer.Option("--joints", metavar="DEGREES", help='Six joint angles [deg]: "0 -90 90 -90 -90 0".')
    ] = ""
    pose: Annotated[
        str,
        typer.Option(
            "--pose",
            metavar="POSE",
            help='Of the TCP, base frame: "x y z" [m], and perhaps "roll pitch yaw" [deg]; without: as it is.',
        ),
    ] = ""
    speed: Annotated[
        float, within("--speed", bounds=Bounds(0.001, 0.5, "m/s"), help="Of the TCP [m/s]; turns as at 0.25 m.")
    ] = 0.05
    force: Annotated[
        float, within("--force", bounds=Bounds(2.0, 200.0, "N"), help="On the tool at which the arm stops [N].")
    ] = 20.0
    running: Annotated[
        bool, typer.Option("--running", help="Ask the active controller that runs as --name; connect to no arm.")
    ] = False

    def goal(self) -> "Goal":
        from ur_admittance.control.go_to import Goal
        from ur_admittance.model.frames import rotation_from_rpy

        how = {"speed": self.speed, "force": self.force}
        if bool(self.joints) == bool(self.pose):
            raise ParameterError("go: give either --joints or --pose.")
        if self.joints:
            return Goal(joints=[math.radians(angle) for angle in numbers("--joints", self.joints, 6)], **how)
        values = numbers("--pose", self.pose, 3, 6)
        turn = [math.radians(angle) for angle in values[3:]]
        return Goal(position=values[:3], rotation=rotation_from_rpy(turn) if turn else None, **how)


@shared_options
def go(to: To, subject: Subject, work: Work, wires: Wires, consent: Consent) -> None:
    """Take an arm to a pose from where it is: slowly, yielding to hands, stopped by a force on the tool.

    Refused when the whole way is not free: joint limits, workspace, distances, singular poses. Exit code 1: it did not
    arrive."""
    from ur_admittance.control.go_to import Outcome, Trip

    trip, code = Trip(to.goal()), 0
    if to.running:
        raise typer.Exit(0 if ask_running(trip.goal, work.name) else 1)
    try:
        comply(subject, work, wires, consent, trip)
    except typer.Exit as end:
        code = end.exit_code
    finally:
        if trip.sentence:
            tell(trip.sentence)
    raise typer.Exit(code or int(trip.outcome != Outcome.ARRIVED))


def tell(sentence: str) -> None:
    typer.echo(f"{sentence[:1].upper()}{sentence[1:]}.")


def ask_running(goal: "Goal", name: str) -> bool:
    """Whether the controller called `name` has taken its arm there."""
    from ur_admittance.runtime.mailbox import send

    answer = send({"go": goal.as_json()}, name)
    while answer.accepted:
        outcome, _, sentence = send({"go": "how"}, name).text.partition(": ")
        if outcome != "going":
            tell(sentence)
            return outcome == "arrived"
        time.sleep(LOOK_S)
    raise LifecycleError(answer.text)


def numbers(option: str, text: str, *counts: int) -> list[float]:
    """So many numbers, with blanks or commas between."""
    try:
        values = [float(part) for part in text.replace(",", " ").split()]
    except ValueError:
        values = []
    if len(values) not in counts or not all(math.isfinite(value) for value in values):
        raise ParameterError(f"{option} {text!r}: must be {' or '.join(map(str, counts))} numbers.")
    return values
