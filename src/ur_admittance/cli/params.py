"""ur-admittance params: the table of parameters, checking a file, showing a preset."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(help="List the parameters, check a parameter file, show a preset.")


@app.callback(invoke_without_command=True)
def list_parameters(context: typer.Context) -> None:
    """List every parameter with default, unit, allowed values and help."""
    if context.invoked_subcommand is not None:
        return
    from rich.console import Console
    from rich.table import Table

    from ur_admittance.params.table import rows

    # A pipe has no width: wide enough to keep each parameter on one line, so that grep finds it.
    console = Console(width=None if sys.stdout.isatty() else 1000)
    table = Table(box=None, pad_edge=False)
    table.add_column("name", no_wrap=True)
    for heading in ("default", "unit", "allowed", "help"):
        table.add_column(heading)
    for row in rows().values():
        table.add_row(row.name, _default(row.default), row.unit, row.allowed, row.help)
    console.print(table)


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="ROS 2 parameter file (YAML).")],
    node: Annotated[str | None, typer.Option(help="Section to load when the file has several.")] = None,
) -> None:
    """Say whether a parameter file is accepted, and how it differs from the defaults."""
    from ur_admittance.params import Parameters, load_parameters

    defaults = Parameters().flat()
    loaded = load_parameters(file, node).flat()
    for name, value in loaded.items():
        if value != defaults[name]:
            typer.echo(f"{name}: {_default(value)} (default {_default(defaults[name])})")
    typer.echo(f"{file}: accepted")


@app.command()
def show(name: Annotated[str, typer.Argument(help="hand_guiding, surface_following ...")]) -> None:
    """Print a preset as a parameter file: the start of your own."""
    from ur_admittance.params.presets import preset_text

    typer.echo(preset_text(name), nl=False)


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
    return str(value)
