"""ur-admittance bench: how fast the tick and the loop are on this computer."""

import json
from typing import Annotated, Any

import typer

from ur_admittance.cli.console import console
from ur_admittance.cli.options import JsonOption, within
from ur_admittance.given import Bounds

COLUMNS = ("p50", "p99", "p999", "max")


def bench(
    seconds: Annotated[float, within("--seconds", bounds=Bounds(1.0, 3600.0, "s"), help="Of each loop [s].")] = 10.0,
    rate: Annotated[float, within("--rate", bounds=Bounds(125.0, 1000.0, "Hz"), help="Of the loop [Hz].")] = 500.0,
    as_json: JsonOption = False,
) -> None:
    """Time the tick, and the loop in real time: with a robot that costs nothing and with the simulated arm."""
    from ur_admittance_lab.speed import measure

    with console(stderr=True).status("") as line:  # stdout stays free for the figures
        result = measure(seconds, rate, line.update)
    if as_json:
        typer.echo(json.dumps(result, indent=2))
    else:
        _show(result)


def _show(result: dict[str, Any]) -> None:
    from rich.table import Table

    out = console()

    def show(title: str, rows: dict[str, dict[str, float]], digits: int) -> None:
        out.print(title)
        table = Table(box=None)
        table.add_column("[us]", no_wrap=True)
        for heading in ("p50", "p99", "p99.9", "max"):
            table.add_column(heading, justify="right")
        for label, figures in rows.items():
            table.add_row(label, *(f"{figures[key]:.{digits}f}" for key in COLUMNS))
        out.print(table)

    show("the tick, called from Python", {"controller.update()": result["tick_us"]}, 1)
    for kind, title in (("null", "a robot that costs nothing"), ("sim", "the simulated arm")):
        figures = result[kind]
        rows = {
            "period": figures["period_us"],
            "read to write": figures["force_to_command_us"],
            "publish": figures["publish_us"],
        }
        show(f"\nthe loop with {title}, {figures['cycles']} cycles", rows, 0)
        out.print(
            f"CPU {figures['cpu_percent']:.1f} % of a core, {figures['rss_mb']:.0f} MB, "
            f"{figures['missed']} deadlines missed, {figures['overruns']} overruns; {figures['setup']}"
        )
