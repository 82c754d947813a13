"""The command ur-emulator."""

import gc
import os
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import Enum
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from ur_admittance.errors import SimulationError, UrAdmittanceError
from ur_admittance_lab.emulator import CONSOLE_PORT
from ur_admittance_lab.emulator.protocol import CB3_TYPES, Version, first_version, is_polyscope_x

if TYPE_CHECKING:  # physics: `tell` and `--help` need none
    from ur_admittance.robots.simulated import World

USUAL: Version = (5, 12, 2)

app = typer.Typer(
    help="A UR controller with contact physics: RTDE (30004), dashboard (29999) or Robot API (80), primary (30001).",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # markup eats units such as [m]
)


class Surface(str, Enum):
    NONE = "none"
    FLOOR = "floor"
    WALL = "wall"
    INCLINE = "incline"
    CYLINDER = "cylinder"


@dataclass(frozen=True)
class Options:
    """Those of the command line."""

    model: Annotated[str, typer.Option(help="Robot type, e.g. ur5e.")] = "ur5e"
    host: Annotated[str, typer.Option(help="Address to listen on; 127.0.0.2 and so on for several emulators.")] = (
        "127.0.0.1"
    )
    version: Annotated[
        str,
        typer.Option(help="Software: 3.x is a CB3 at 125 Hz, 10.x PolyScope X; default 5.12.2 or the model's first."),
    ] = ""
    environment: Annotated[Surface, typer.Option(help="What is in front of the tool.")] = Surface.NONE
    stiffness: Annotated[float, typer.Option(help="Of the surface [N/m].")] = 2e4
    damping: Annotated[float, typer.Option(help="Of the surface [Ns/m].")] = 50.0
    friction: Annotated[float, typer.Option(help="Coulomb coefficient of the surface.")] = 0.2
    gap: Annotated[float, typer.Option(help="Between tool and surface at the start [m].")] = 0.02
    angle: Annotated[float, typer.Option(help="Of an incline [rad].")] = 0.17
    radius: Annotated[float, typer.Option(help="Of a cylinder [m].")] = 0.3
    calibrated: Annotated[
        int | None, typer.Option(help="A unit with this number whose geometry is some mm off the drawing.")
    ] = None
    tool_mass: Annotated[float, typer.Option(help="True mass of the tool [kg].")] = 1.0
    tool_length: Annotated[float, typer.Option(help="Flange to tip [m].")] = 0.15
    payload: Annotated[float | None, typer.Option(help="Configured payload [kg]; default: the true one.")] = None
    noise: Annotated[float, typer.Option(help="Standard deviation of the force reading [N].")] = 0.0
    delay: Annotated[float, typer.Option(help="Dead time of the joint servo [s].")] = 0.0
    force_limit: Annotated[float, typer.Option(help="Force that trips a protective stop [N].")] = 250.0
    files: Annotated[
        Path | None,
        typer.Option(exists=True, file_okay=False, help="Programs to load (x.script for x.urp); saved logs."),
    ] = None
    patience: Annotated[
        float, typer.Option(help="Wait this long [s] for a streamed command that is late; 0: strict real time.")
    ] = 0.0
    pace: Annotated[float, typer.Option(min=0.01, max=10.0, help="Robot seconds per real second.")] = 1.0
    api_port: Annotated[int, typer.Option(min=1, max=65535, help="Of the Robot API of PolyScope X.")] = 80
    priority: Annotated[int, typer.Option(help="SCHED_FIFO priority 1 to 99, where allowed; 0: ordinary.")] = 0
    duration: Annotated[float | None, typer.Option(min=0.0, help="End after this time [s].")] = None

    def world(self) -> "World":
        from ur_admittance.model import MODEL_NAMES, robot_model
        from ur_admittance.robots.simulated import Environment, FtSensor, Servo, Tool, World
        from ur_admittance_lab.emulator import geometry

        if self.model.strip().lower() not in MODEL_NAMES:
            raise SimulationError(f"--model {self.model}: must be a UR type, one of {', '.join(MODEL_NAMES)}.")
        arm, length = robot_model(self.model), self.tool_length
        surface = self.stiffness, self.damping, self.friction, self.gap
        slope = self.angle if self.environment is Surface.INCLINE else 0.0
        return World(
            arm if self.calibrated is None else geometry.calibrated(arm, self.calibrated),
            tool=Tool(mass=self.tool_mass, com=(0.0, 0.0, length / 3.0), tcp=(0.0, 0.0, length)),
            environment=Environment(self.environment.value, *surface, angle=slope, radius=self.radius),
            servo=Servo(delay=self.delay),
            sensor=FtSensor(noise_force=self.noise, noise_torque=self.noise / 50.0),
        )


def with_options(command: Callable[[Options], None]) -> Callable[..., None]:
    """A command whose options are the fields of `Options`; not called before a subcommand."""
    hints = get_type_hints(Options, include_extras=True)

    def called(context: typer.Context, **given: Any) -> None:
        if context.invoked_subcommand is None:
            command(Options(**given))

    shown = [Parameter("context", Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)]
    shown += [
        Parameter(o.name, Parameter.KEYWORD_ONLY, default=o.default, annotation=hints[o.name]) for o in fields(Options)
    ]
    called.__signature__ = Signature(shown)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in shown}
    called.__doc__ = command.__doc__
    return called


@app.callback(invoke_without_command=True)
@with_options
def run(options: Options) -> None:
    """Run until Ctrl-C."""
    from ur_admittance_lab.emulator.emulated_controller import Controller
    from ur_admittance_lab.emulator.server import Server

    world = options.world()
    software = _version(options.version, world.model.name)
    box = Controller(world, software, force_limit=options.force_limit, say=_say, directory=options.files)
    if options.payload is not None:
        box.arm.set_payload(options.payload)
    box.cycle()  # compiles before clients can connect
    gc.collect()
    gc.freeze()  # what is there stays; looking through it takes 50 cycles
    if options.priority > 0:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(options.priority))
        except OSError as error:
            _say(f"ordinary priority: {error.strerror}.")
    server = Server(box, options.host, options.patience, options.pace, options.api_port)
    server.open()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: setattr(server, "running", False))
    _say(f"{options.model} {_shown(software)} at {box.rate:g} Hz listens on {options.host}.")
    try:
        server.run(options.duration)
    finally:
        server.close()


def _say(text: str) -> None:
    typer.echo(text, err=True)


@app.command()
def tell(
    command: Annotated[list[str], typer.Argument(metavar="COMMAND", help='E.g. "emergency stop"; "help" lists all.')],
    host: Annotated[str, typer.Option(help="Address of the emulator.")] = "127.0.0.1",
) -> None:
    """Press a button, push the tool, cut the network."""
    try:
        with socket.create_connection((host, CONSOLE_PORT), timeout=2.0) as connection:
            lines = connection.makefile("rw", encoding="utf-8", newline="\n")
            lines.readline()
            lines.write("emulator " + " ".join(command) + "\n")
            lines.flush()
            answer = lines.readline().strip()
    except OSError as error:
        raise SimulationError(f"no emulator answers on {host}:{CONSOLE_PORT} ({error}).") from None
    if answer.startswith("error: "):
        raise SimulationError(answer.removeprefix("error: "))
    typer.echo(answer)


def _version(text: str, model: str) -> Version:
    """Empty: the usual one, or the first that has this model."""
    if not text:
        return (3, 15, 8) if model in CB3_TYPES else max(USUAL, first_version(model, x=False))
    parts = text.split(".")
    if not 2 <= len(parts) <= 3 or not all(part.isdigit() for part in parts):
        raise SimulationError(f"--version {text}: must be like 5.12.2.")
    major, minor, bugfix = ([int(part) for part in parts] + [0])[:3]
    if major not in (3, 5, 10) or (major, minor) < (3, 10):
        raise SimulationError(f"--version {text}: must be 3.10 to 3.15 (CB3), 5.4 and newer, or 10.7 and newer.")
    software = (major, minor, bugfix)
    first = first_version(model, is_polyscope_x(software))
    if major > 3 and software < first:
        family = "PolyScope X " if is_polyscope_x(software) else ""
        usual = first_version("ur5e", is_polyscope_x(software))
        advice = "update it" if first == usual else "is it another type of arm? Choose the right model"
        given = f"the robot's software is {family}{_shown(software)}"
        raise SimulationError(f"--version {text}: {given}, but {model} needs {_shown(first)} or newer: {advice}.")
    return software


def _shown(version: Version) -> str:
    return ".".join(map(str, version))


def main() -> None:
    """Errors become one sentence and exit code 2."""
    try:
        app()
    except UrAdmittanceError as error:
        typer.echo(f"ur-emulator: {error}", err=True)
        sys.exit(2)
