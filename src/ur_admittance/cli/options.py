"""Options that several commands share, written once; name=value pairs, presets and parameter files.

    @shared_options
    def command(arm: ArmOptions, ...) -> None: ...

takes --robot and --model and gets them as one `arm`; so it is with every argument that is a dataclass.
"""

import contextlib
import inspect
import json
import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ur_admittance.errors import ParameterError, RobotError
from ur_admittance.given import Bounds
from ur_admittance.outputs import RECORDINGS, refusal

if TYPE_CHECKING:
    from ur_admittance.calibration.calm_arm import CalmArm
    from ur_admittance.params import Parameters
    from ur_admittance.runtime.interfaces import Robot


def within(*names: str, bounds: Bounds, help: str) -> Any:
    """An option that is a number within bounds; they stand in its help."""

    def check(option: typer.CallbackParam, value: float | None) -> float | None:
        return None if value is None else bounds.read(option.opts[0], value)

    return typer.Option(*names, help=help, metavar=str(bounds), callback=check)


def check_output(option: str, path: Path | None, endings: tuple[str, ...], overwrite: bool | None = None) -> None:
    """Before the work: ParameterError if this file cannot be written, or exists (overwrite as in `refusal`)."""
    if path is not None and (words := refusal(path, endings, overwrite)):
        raise ParameterError(f"{option} {words}.")


def beside(recording: Path, ending: str) -> Path:
    """The file of the same name with another ending."""
    if not recording.name:
        raise ParameterError(f"{recording}: is a folder, not a recording.")
    return recording.with_suffix(ending)


def _new_recording(path: Path | None) -> Path | None:
    check_output("--log", path, RECORDINGS)
    return path


SEED = Bounds(0, 2**30 - 1)
DURATION = Bounds(0.01, 1e7, "s")

ModelOption = Annotated[
    str,
    typer.Option("--model", help="UR type: ur3e, ur5e ..., or a file: arm.urdf (arm.urdf:BASE:FLANGE by its links)."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Change a parameter: admittance.mass=4 (x, y, z alike) or =[4,4,4,0.4,0.4,0.4] (repeatable).",
    ),
]
LogOption = Annotated[
    Path | None,
    typer.Option(
        "--log", help="Record the run (.mcap); an existing file is never overwritten.", callback=_new_recording
    ),
]
OverwriteOption = Annotated[
    bool, typer.Option("--overwrite", help="Replace files that exist; a recording is never replaced.")
]
DurationOption = Annotated[
    float | None, within("--duration", bounds=DURATION, help="End after this time [s]; default: Ctrl-C.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")]
SensorOption = Annotated[
    str,
    typer.Option(
        "--sensor",
        help="Real arms: builtin (the robot subtracts its payload setting), raw, netft:ADDRESS or robotiq:DEVICE; with "
        "ros: a wrench topic. Default: the one of the calibration, or builtin.",
    ),
]
SecondOption = Annotated[
    str,
    typer.Option("--second", help="Another force sensor beside it, as --sensor: if one fails, the other goes on."),
]
ConnectionOption = Annotated[
    list[str] | None,
    typer.Option(
        "--connection",
        metavar="NAME=VALUE",
        help="How a real arm is reached: command=servo, payload_kg=1.2, power_on=true ... (RtdeSettings), or with ros "
        "output=velocity ... (options of admittance_node); repeatable.",
    ),
]
ClientOption = Annotated[
    str,
    typer.Option(
        "--client",
        help="Who carries the commands to an arm with an address: direct (default, a script of our own), or ur_rtde.",
    ),
]
StageOption = Annotated[
    list[str] | None,
    typer.Option(
        "--stage",
        metavar="STAGE",
        help="Run this in every cycle too: path:FILE,speed=0.05 in front of the law, smoother or follower behind it, "
        "or your own as module:Name (repeatable).",
    ),
]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask before the arm moves.")]


def chosen_client(robot: str, client: str) -> dict[str, Any]:
    """--client as a setting of the connection; RobotError for an arm that has none."""
    if client and robot in ("sim", "ros"):
        raise RobotError(f"--client {client}: is for an arm with an address, not for {robot}.")
    return {"client": client} if client else {}


@dataclass(frozen=True)
class ArmOptions:
    """Which arm."""

    robot: Annotated[str, typer.Option("--robot", help="sim, ros, or the address of an arm.")] = "sim"
    model: ModelOption = "ur5e"
    client: ClientOption = ""

    @property
    def simulated(self) -> bool:
        return self.robot == "sim"

    def source(self, parameters: "Parameters", asked: str = "") -> str:
        """sensor.source of this arm: as asked for, as calibrated, or what such an arm has."""
        from ur_admittance.robots.connect import source_of

        if asked and self.simulated:
            raise RobotError(f"--sensor {asked}: is for real arms; the simulated one has its own.")
        default = {"sim": "simulation", "ros": "/wrist_ft_sensor"}.get(self.robot, "builtin")
        return source_of(parameters, default if self.simulated else asked, default)

    def confirm(self, question: str, yes: bool) -> None:
        """Ask before a real arm moves."""
        if not self.simulated and not yes:
            typer.confirm(question, abort=True)

    @contextmanager
    def connected(
        self,
        parameters: "Parameters",
        device: "Robot | None" = None,
        commanding: bool = True,
        say: Callable[[str], None] = typer.echo,
        **settings: Any,
    ) -> Iterator[tuple["CalmArm", str]]:
        """The connected arm and its name: ``device``, or opened by name with these settings. Leaving the block stops
        it."""
        from ur_admittance.robots.connect import connected_arm, open_robot

        settings |= chosen_client(self.robot, self.client)
        if device is None and not self.simulated:
            settings = {"wrench_topic" if self.robot == "ros" else "sensor": self.source(parameters)} | settings
        if self.robot == "ros":
            settings |= {"base_link": parameters.base_link, "tip_link": parameters.tip_link, "driving": commanding}
        device = device or open_robot(self.robot, self.model, 1.0 / parameters.control_rate, **settings)
        with connected_arm(device, commanding, say) as (arm, info):
            yield arm, info.name


@dataclass(frozen=True)
class SensorOptions(ArmOptions):
    """Which arm, and which sensor and tool it has."""

    params: Annotated[
        Path | None, typer.Option("--params", help="Parameter file: TCP, gravity, sensor.sign, limits.")
    ] = None
    sensor: SensorOption = ""
    seed: Annotated[int, within("--seed", bounds=SEED, help="Which unknown tool and sensor the simulation has.")] = 0
    tool_mass: Annotated[
        float, within("--tool-mass", bounds=Bounds(0.0, 50.0, "kg"), help="Mass of the simulated tool [kg].")
    ] = 1.5

    def parameters(self) -> "Parameters":
        from ur_admittance.robots.connect import parameters_for

        return parameters_for(self.robot, self.params)

    def settings(self, source: str) -> dict[str, Any]:
        """For `connected`. The simulated arm has a tool, a mounting, a bias and a tilt that nobody knows."""
        if self.robot == "ros":
            return {"wrench_topic": source}
        if not self.simulated:
            from ur_admittance.robots.connect import CALM_WATCHDOG_HZ

            return {"sensor": source, "watchdog_hz": CALM_WATCHDOG_HZ}
        from ur_admittance.model import robot_model
        from ur_admittance.robots.simulated.practice_arms import unknown_tool

        return {"world": unknown_tool(robot_model(self.model), self.seed, self.tool_mass)}


@dataclass(frozen=True)
class MovingOptions(SensorOptions):
    """For commands that move the arm from pose to pose."""

    yes: YesOption = False
    reach: Annotated[
        float | None,
        within("--reach", bounds=Bounds(0.0, 3.0, "m"), help="Farthest part of the tool from the flange [m]."),
    ] = None


def shared_options(command: Callable[..., None]) -> Callable[..., None]:
    """The fields of the command's arguments that are dataclasses as options of the command, in their place."""
    own = inspect.signature(command).parameters
    kinds: dict[str, Any] = {name: option.annotation for name, option in own.items() if is_dataclass(option.annotation)}
    fields = {name: inspect.signature(kind).parameters for name, kind in kinds.items()}

    @wraps(command)
    def run(**values: Any) -> None:
        records = {name: kind(**{field: values.pop(field) for field in fields[name]}) for name, kind in kinds.items()}
        command(**records, **values)

    shown = [option for name in own for option in (fields[name].values() if name in fields else (own[name],))]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in shown]
    )
    return run


def assignments(pairs: Sequence[str]) -> dict[str, Any]:
    """["a.b=1", "c=[1, 2]"] -> {"a.b": 1, "c": [1, 2]}; values are YAML. A single number for a vector fills it."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    values: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name.strip():
            raise ParameterError(f"{pair!r}: must be name=value, for example admittance.mass=4.")
        try:
            value = YAML(typ="safe", pure=True).load(text)
            json.dumps(value)  # YAML has dates, bytes, sets and circles; no parameter is one
        except (YAMLError, TypeError, ValueError):
            raise ParameterError(f"{pair!r}: the value is not readable; write a number, true, or [1, 2, 3].") from None
        if isinstance(value, str):
            with contextlib.suppress(ValueError):
                value = float(value)  # YAML 1.2 takes 1e5 for a word
        values[name.strip()] = value
    return filled(values)


def filled(values: dict[str, Any]) -> dict[str, Any]:
    """A single number given for a vector fills it. Where the halves of a six-vector have different units (mass: kg and
    kg m2) it fills the linear half; the angular half keeps its default."""
    from ur_admittance.params import Parameters
    from ur_admittance.params.table import rows

    defaults, table = Parameters().flat(), rows()
    for name, value in values.items():
        row = table.get(name)
        if row is None or not row.length or not isinstance(value, int | float) or isinstance(value, bool):
            continue
        mixed = row.length == 6 and row.unit_of(0) != row.unit_of(3)
        angular = list(defaults[name][3:]) if defaults[name] is not None else [math.nan] * 3  # nan: unset
        values[name] = [value] * 3 + angular if mixed else [value] * row.length
    return values


def parameters_from(name: str | None) -> "Parameters":
    """A preset by its name, or a parameter file by its path; None: the defaults."""
    from ur_admittance.params import PRESETS, Parameters, load_parameters, preset

    if name is None:
        return Parameters()
    if name in PRESETS:
        return preset(name)
    if Path(name).suffix in (".yaml", ".yml") or os.path.exists(name):  # noqa: PTH110  (never raises)
        return load_parameters(Path(name))
    raise ParameterError(f"preset {name!r} is unknown: choose one of {', '.join(PRESETS)}, or give a .yaml file.")
