"""ur-admittance params: the list of parameters, checking a file, showing a preset, the record for C."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ur_admittance.cli.console import Group, width, wrapped
from ur_admittance.cli.options import (
    ModelOption,
    OverwriteOption,
    SetOption,
    assignments,
    check_output,
    parameters_from,
)
from ur_admittance.errors import ParameterError

if TYPE_CHECKING:
    from ur_admittance.model import RobotModel
    from ur_admittance.params import Parameters
    from ur_admittance.params.table import Row

app = typer.Typer(cls=Group, help="List the parameters, check a parameter file, show a preset.")


@app.callback(invoke_without_command=True)
def list_parameters(
    context: typer.Context,
    find: Annotated[str, typer.Option(metavar="WORD", help="Only those with this word in their name or help.")] = "",
) -> None:
    """List every parameter with default, unit, allowed values and help."""
    if context.invoked_subcommand is not None:
        if find:
            raise ParameterError(f"--find {find}: is for the list, not for {context.invoked_subcommand}.")
        return
    from ur_admittance.params.table import rows

    found = [row for row in rows().values() if find.lower() in f"{row.name} {row.help}".lower()]
    if not found:
        raise ParameterError(f"--find {find}: no parameter has this in its name or help.")
    for row in found:
        typer.echo(_shown(row))


def _shown(row: "Row") -> str:
    """admittance.mass = 8 8 8 0.8 0.8 0.8 [kg, kg m2], and below it: 6 numbers > 0; virtual mass M ..."""
    unit = "" if row.unit == "-" else f" [{row.unit}]"
    head, words = f"{row.name} = {_default(row.default)}{unit}", f"{row.allowed}; {row.help}"
    return f"{wrapped(head, 4)}\n{wrapped('    ' + words, 4)}" if width() else f"{head}; {words}"


@app.command()
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="ROS 2 parameter file (YAML).")],
    node: Annotated[str | None, typer.Option(help="Section to load when the file has several.")] = None,
    model: ModelOption = "ur5e",
) -> None:
    """Say whether an arm accepts a parameter file, and how it differs from the defaults."""
    from ur_admittance.model import robot_model
    from ur_admittance.params import Parameters, load_parameters

    arm, defaults, loaded = robot_model(model), Parameters().flat(), load_parameters(file, node)
    try:
        _record(loaded, arm)  # as `run` does: also what only the arm can refuse
    except ParameterError as error:
        raise ParameterError(f"{file}: {error}", error.name) from None
    for name, value in loaded.flat().items():
        if value != defaults[name]:
            typer.echo(f"{name}: {_default(value)} (default {_default(defaults[name])})")
    typer.echo(f"{file}: accepted for a {arm.name}")


@app.command()
def show(name: Annotated[str, typer.Argument(metavar="PRESET", help="hand_guiding, surface_following ...")]) -> None:
    """Print a preset as a parameter file: the start of your own."""
    from ur_admittance.params.yaml import preset_text

    typer.echo(preset_text(name), nl=False)


@app.command()
def record(
    source: Annotated[str, typer.Argument(metavar="PRESET|FILE", help="hand_guiding ..., or a parameter file (YAML).")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where to; /dev/stdout for a pipe.")],
    model: ModelOption = "ur5e",
    changes: SetOption = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Write parameters and arm as a C program reads them (ur_read_params): the bytes of PARAMS, and the digest of the
    kernels they are for."""
    from ur_admittance.library import digest
    from ur_admittance.model import robot_model

    check_output("--out", out, (), overwrite)
    content = _record(parameters_from(source).changed(assignments(changes or [])), robot_model(model))
    try:
        out.write_bytes(content + digest().encode())
    except OSError as error:
        raise ParameterError(f"--out {out}: cannot be written ({error.strerror}).") from None


def _record(parameters: "Parameters", arm: "RobotModel") -> bytes:
    from ur_admittance.core.records import PARAMS, new
    from ur_admittance.params.record import fill

    made = new(PARAMS)
    fill(made[0], parameters, arm)
    return made.tobytes()


def _default(value: Any) -> str:
    """8 8 8 0.8 0.8 0.8; six equal values as `0 x 6`."""
    if value is None:
        return "unset"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list | tuple):
        words = [_default(item) for item in value]
        return f"{words[0]} x {len(words)}" if len(set(words)) == 1 else " ".join(words)
    return str(value) or '""'
