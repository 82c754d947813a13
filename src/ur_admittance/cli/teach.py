"""ur-admittance teach: keeps what a hand shows; play: replays it."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from ur_admittance.cli.options import OverwriteOption, check_output, shared_options, within
from ur_admittance.cli.run import Consent, Subject, Wires, Work, comply
from ur_admittance.given import Bounds
from ur_admittance.outputs import PARAMETERS
from ur_admittance.runtime.registry import running_controllers

READER = "ur_admittance.cli.teach_keys"


@dataclass(frozen=True)
class Thinning:
    tolerance_mm: Annotated[
        float, within("--tolerance-mm", bounds=Bounds(0.01, 100.0, "mm"), help="Within which paths are thinned [mm].")
    ] = 1.0
    tolerance_deg: Annotated[
        float, within("--tolerance-deg", bounds=Bounds(0.01, 45.0, "deg"), help="The same of the orientation [deg].")
    ] = 0.5


@shared_options
def teach(
    file: Annotated[Path, typer.Argument(help="What is taught (.yaml); written after every step.")],
    subject: Subject,
    work: Work,
    wires: Wires,
    consent: Consent,
    thinning: Thinning,
    button: Annotated[
        str,
        typer.Option(help="An input of the robot, such as tool:0: short press: pose; a path while it is held."),
    ] = "",
    overwrite: OverwriteOption = False,
) -> None:
    """Guide the arm by hand and keep poses and paths, by keys in the terminal or a button of the robot.

    p marks a pose, space begins and ends a path, u undoes; Ctrl-C or q ends. A controller that runs already under this
    --name is taught by as it is."""
    from ur_admittance.teaching.taught import check_pin

    check_output("FILE", file, PARAMETERS, overwrite)
    if button:
        check_pin("--button", button)
    arguments = [work.name, str(file), str(thinning.tolerance_mm), str(thinning.tolerance_deg), button]
    if work.name in running_controllers():
        raise typer.Exit(subprocess.call([sys.executable, "-m", READER, *arguments]))
    comply(subject, work, wires, consent, talk=lambda: _keys(arguments))


@contextlib.contextmanager
def _keys(arguments: list[str]) -> Iterator[None]:
    child = subprocess.Popen([sys.executable, "-m", READER, *arguments, str(os.getpid())])
    try:
        yield
    finally:
        child.terminate()
        child.wait(timeout=5.0)


@dataclass(frozen=True)
class Taught(Subject):
    model: Annotated[str, typer.Option("--model", help="UR type or file; default: the arm that it was taught on.")] = ""


@shared_options
def play(
    file: Annotated[Path, typer.Argument(help="What `ur-admittance teach` has written.")],
    subject: Taught,
    work: Work,
    wires: Wires,
    consent: Consent,
    speed: Annotated[
        float, within("--speed", bounds=Bounds(0.001, 1.0, "m/s"), help="Of the tool [m/s]; a turn counts 0.2 m/rad.")
    ] = 0.05,
    loop: Annotated[int, within("--loop", bounds=Bounds(0, 10**9), help="How often; 0: until Ctrl-C.")] = 1,
    adapt: Annotated[bool, typer.Option("--adapt", help="Although it was taught on another arm or tool.")] = False,
) -> None:
    """Replay what was taught; the arm yields all the time, and a hand that holds it stops it until it lets go.

    The whole way is checked first. A simulated arm starts at the first pose."""
    from ur_admittance.teaching.taught import load_taught

    taught = load_taught(file)
    stage = f"play:{file},speed={speed},loops={loop},adapt={str(adapt).lower()},ends=true"
    work = replace(work, stage=[stage, *(work.stage or [])])
    comply(replace(subject, model=subject.model or taught.arm), work, wires, consent)
