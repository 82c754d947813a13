"""ur-admittance run: the main job, a compliant arm in real time; ask: a request to one in another terminal."""

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ur_admittance.cli.console import compile_first
from ur_admittance.cli.options import (
    ClientOption,
    ConnectionOption,
    DurationOption,
    LogOption,
    ModelOption,
    SecondOption,
    SensorOption,
    SetOption,
    StageOption,
    assignments,
    chosen_client,
    parameters_from,
    shared_options,
)
from ur_admittance.errors import LifecycleError, ParameterError, RobotError
from ur_admittance.runtime.registry import DEFAULT_NAME

if TYPE_CHECKING:
    from ur_admittance.control.go_to import Trip
    from ur_admittance.params import Parameters
    from ur_admittance.runtime.report import LoopReport

RENEW_S = 0.05  # an enabling signal, well within guiding.timeout
PATIENCE_S = 10.0  # a loop that runs answers within a cycle; a reset may have to connect to the robot first


@dataclass(frozen=True)
class Subject:
    """Which arm, and its parameters."""

    robot: Annotated[str, typer.Option(help="sim, ros, or the address of a UR.")] = "sim"
    model: ModelOption = "ur5e"
    preset: Annotated[str, typer.Option(help="Preset or parameter file.")] = "hand_guiding"
    set_: SetOption = None


@dataclass(frozen=True)
class Work:
    """What it does and who sees it."""

    duration: DurationOption = None
    log: LogOption = None
    stage: StageOption = None
    dashboard: Annotated[bool, typer.Option(help="Show the page in the browser.")] = False
    active: Annotated[bool, typer.Option(help="Comply at once; otherwise wait for a request to activate.")] = True
    name: Annotated[str, typer.Option(help="Name of this controller, for other programs on this machine.")] = "main"


@dataclass(frozen=True)
class Wires:
    """How a real arm and its sensors are reached."""

    sensor: SensorOption = ""
    second: SecondOption = ""
    client: ClientOption = ""
    connection: ConnectionOption = None


@dataclass(frozen=True)
class Consent:
    """What happens before a real arm complies, and the doubts that do not hinder it."""

    measure: Annotated[
        bool,
        typer.Option("--measure-response", help="Real arms: first swing 1.5 mm to find how late the arm responds."),
    ] = False
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask before a real arm is made compliant; doubts still count.")
    ] = False
    accept: Annotated[
        list[str] | None,
        typer.Option(
            "--accept",
            help="Activate although this is in doubt: load (a force at rest that nothing explains: the arm yields to "
            "it), geometry (our tool pose is not the robot's). Repeatable.",
        ),
    ] = None


@shared_options
def run(subject: Subject, work: Work, wires: Wires, consent: Consent) -> None:
    """Make an arm compliant until Ctrl-C; that slows it down and stops it.

    Exit code 1: it ended in a fault, or the recording is incomplete."""
    comply(subject, work, wires, consent)


def comply(
    subject: Subject,
    work: Work,
    wires: Wires,
    consent: Consent,
    trip: "Trip | None" = None,
    talk: Callable[[], contextlib.AbstractContextManager[None]] | None = None,
) -> None:
    """`run`; with a trip `go`, which ends when the arm is there. talk: what has the terminal, None: the status."""
    from ur_admittance.robots.connect import check_accept, need_ros, second_of, source_of
    from ur_admittance.runtime.registry import check_free

    robot, measure = subject.robot, consent.measure
    check_free(work.name)
    accepted = tuple(consent.accept or ())
    check_accept(accepted)
    loaded = parameters_from(subject.preset)
    parameters = loaded.changed(assignments(subject.set_ or []))
    source_of(loaded, parameters.sensor.source or "builtin")
    link = assignments(wires.connection or []) | chosen_client(robot, wires.client)
    stages = _stages(work.stage or [])
    alone = _moves_alone(parameters, stages, work.stage or [])
    if trip is not None:
        alone = "; ".join([*filter(None, [alone]), f"it goes to {trip.goal}"])
    options: dict[str, Any] = {
        "name": work.name,
        "log": work.log,
        "duration": work.duration,
        "activate": work.active,
        "accept": accepted,
        "stages": stages,
        "on_tick": trip,
        "beside": lambda: _watchers(work, _what_runs(subject, work, parameters, alone), talk),
        "say": typer.echo,
    }
    if robot == "sim":
        if wires.sensor or wires.second or link:
            raise RobotError("--sensor, --second and --connection: are for real arms; the simulated one has its own.")
        if parameters.sensor.source.startswith("probe:"):
            raise RobotError(f"sensor.source = {parameters.sensor.source}: is a topic; use --robot ros.")
        from ur_admittance.robots.simulated.interactive_world import run_simulated

        compile_first()
        _report(run_simulated(subject.model, parameters, **options))
        return
    if robot == "ros":
        need_ros()  # before anything is asked
    if robot == "ros" and measure:
        raise RobotError("--measure-response: with ros use `ur-admittance measure-response --robot ros` first.")
    if wires.second:
        parameters = parameters.changed({"second.source": second_of(parameters, wires.second)})
    if robot != "ros":
        _check_report(Path(subject.preset), robot)
    arm = "The arm in ROS 2" if robot == "ros" else f"The arm at {robot}"
    ask = None if consent.yes else lambda: _ask_first(arm, parameters, measure, alone)
    if robot == "ros":
        if ask is not None and work.active:
            ask()
        if wires.sensor:
            parameters = parameters.changed({"sensor.source": source_of(parameters, wires.sensor)})
        if work.stage:
            link["stages"] = work.stage
        if accepted:
            link["accept_load"] = "load" in accepted
        raise typer.Exit(_run_ros(parameters, work, link, trip))
    from ur_admittance.robots.rtde.real_arm import run_real

    compile_first()
    options["connection"] = link | {"sensor": source_of(parameters, wires.sensor or str(link.get("sensor", "")))}
    options["connection"]["second"] = parameters.second.source
    _report(run_real(robot, subject.model, parameters, ask=ask, measure=measure, **options))


def _report(report: "LoopReport") -> None:
    """A script that waits for this program must see that the arm was stopped by a fault, not by its user, and that a
    recording is not whole."""
    from ur_admittance.core.records import Mode

    typer.echo(str(report))
    if report.mode == Mode.FAULT or report.recording_problem:
        raise typer.Exit(1)


def _stages(names: list[str]) -> list[Any]:
    if not names:
        return []
    from ur_admittance.runtime.named_stages import build_stages

    return build_stages(names)


def _moves_alone(parameters: "Parameters", stages: list[Any], names: list[str]) -> str:
    """What will move the arm although nobody pushes it; empty: nothing."""
    from ur_admittance.params.own_motion import own_motion_of

    leading = [name for stage, name in zip(stages, names, strict=True) if not stage.behind]
    led = f"led by the {'stage' if len(leading) == 1 else 'stages'} {', '.join(leading)}" if leading else ""
    return "; ".join(words for words in (own_motion_of(parameters), led) if words)


def _check_report(file: Path, robot: str) -> None:
    """If the parameters are the report of a bring-up: that of this very arm? What is left of it is said."""
    from ur_admittance.robots.rtde.bringup.bringup_report import report_of

    report = report_of(file)
    if report is None:
        return
    from ur_admittance.robots.rtde.rtde_checks import identity

    report.check_arm(identity(robot).serial)
    if report.left:
        typer.echo(f"Not done in the bring-up of this arm: {', '.join(report.left)}.")


def _ask_first(arm: str, parameters: "Parameters", measure: bool, alone: str) -> None:
    held = _held_by(parameters, simulated=False)
    typer.echo(f"{arm} will follow every force on its tool{held}, up to {parameters.max_linear_velocity:g} m/s.")
    if alone:
        typer.echo(f"IT MOVES BY ITSELF: {alone}.")
    if measure:
        typer.echo("First the tool swings by 1.5 mm for 3 s, to find out how late the arm responds.")
    typer.confirm("Is the tool free, the payload set, and your hand on the emergency stop?", abort=True)


def _run_ros(parameters: "Parameters", work: Work, link: dict[str, Any], trip: "Trip | None") -> int:
    """As `ros2 run ur_admittance_ros admittance_node`, with the same names for everything as for other arms."""
    from ur_admittance.ros.admittance_node import run_ros

    options: dict[str, Any] = {"activate": work.active, "duration": work.duration, "trip": trip, **link}
    options |= {"controller_name": work.name, "log": str(work.log or ""), "dashboard": work.dashboard}
    return run_ros(parameters, typer.echo, **options)


def _held_by(parameters: "Parameters", simulated: bool) -> str:
    """Hold-to-run in words; empty: the arm moves whenever it is active."""
    guiding = parameters.guiding
    if guiding.enable == "none" or (simulated and guiding.enable == "real_arms"):
        return ""
    by = "the button of the page, or `ur-admittance ask enable`" if guiding.source == "software" else guiding.source
    return f" while its enabling signal is held ({by}; guiding.enable)"


def _what_runs(subject: Subject, work: Work, parameters: "Parameters", own: str) -> str:
    simulated, active = subject.robot == "sim", work.active
    arm = f"The simulated {subject.model}" if simulated else f"The arm at {subject.robot}"
    does, held = "holds still until it is asked to activate", _held_by(parameters, simulated)
    if active:
        first = "" if simulated else "is watched at rest for half a second, then "
        does = f"{first}yields to every force on its tool{' now' if simulated and not held else held}"
    alone = "; nothing pushes it, --dashboard shows it in the browser" if simulated and not work.dashboard else ""
    itself = f" {'It moves by itself' if active else 'Active, it moves by itself'}: {own}." if own else ""
    return f"{arm} {does}{alone}.{itself} Ctrl-C slows it down and ends."


@contextlib.contextmanager
def _watchers(
    work: Work, sentence: str, talk: Callable[[], contextlib.AbstractContextManager[None]] | None = None
) -> Iterator[None]:
    """Processes beside the loop: the status in the terminal, or what talks there, and, if asked for, the page."""
    from ur_admittance.cli.status_line import status_process

    with contextlib.ExitStack() as stack:
        if work.dashboard:
            from ur_admittance.page import page_process

            stack.enter_context(page_process(work.name))
        typer.echo(sentence)
        stack.enter_context(status_process(work.name) if talk is None else talk())
        yield


def ask(
    request: Annotated[
        str,
        typer.Argument(
            metavar="REQUEST",
            help="activate, activate_with_load (you know the force on the tool, the arm may yield to it), deactivate, "
            "stop, reset_fault, unlock, retreat, latch_reference, resume_stages, zero_ft_sensor, zero_free_tool (you "
            "see that nothing touches the tool), enable (hold-to-run: held until Ctrl-C), or a new value of a "
            "parameter: admittance.mass=4.",
        ),
    ],
    name: Annotated[str, typer.Option(help="Name of the controller; that of `demo` is demo.")] = DEFAULT_NAME,
) -> None:
    """Ask a running controller for something: that of `run`, `demo` or ROS 2. Its answer says what is in the way."""
    from ur_admittance.runtime.mailbox import send

    if request == "enable":
        _hold(name)
        return
    message = {"set": as_json(assignments([request]), request)} if "=" in request else {"request": request}
    answer = send(message, name, timeout=PATIENCE_S)
    if not answer.accepted:
        raise LifecycleError(answer.text)
    typer.echo(answer.text)


def _hold(name: str) -> None:
    """The enabling signal, until Ctrl-C; whatever else ends this program lets go of it after guiding.timeout."""
    from ur_admittance.runtime.mailbox import send

    def enable(held: bool) -> None:
        answer = send({"enable": held}, name)
        if not answer.accepted:
            raise LifecycleError(answer.text)

    enable(True)
    typer.echo("Held; Ctrl-C lets go.")
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            time.sleep(RENEW_S)
            enable(True)
    enable(False)


def as_json(value: Any, request: str) -> Any:
    """JSON has no NaN: unset is null there; nor infinity, which is refused."""
    if isinstance(value, dict):
        return {name: as_json(each, request) for name, each in value.items()}
    if isinstance(value, list):
        return [as_json(each, request) for each in value]
    if isinstance(value, float) and math.isinf(value):
        raise ParameterError(f"{request}: no parameter may be infinite.")
    return None if isinstance(value, float) and math.isnan(value) else value
