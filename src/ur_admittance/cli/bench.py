"""ur-admittance bench: how long a tick takes, next to the same tick on KDL and Pinocchio, and mink's kinematics."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

TITLES = {
    "tick": "tick, called from Python",
    "update": "controller.update()",
    "batch_tick": "tick in a batch, per controller",
    "kdl_tick": "the same tick in C++ on KDL and Eigen",
    "pinocchio_tick": "the same tick in Python on Pinocchio and NumPy",
    "mink_ik": "mink: inverse kinematics only",
}


def bench(
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Short run; leaves out the cold warm-up.")] = False,
    realtime: Annotated[bool, typer.Option("--realtime", help="Time the whole loop in real time instead.")] = False,
    seconds: Annotated[float, typer.Option(help="Of each real-time run.", min=1.0, max=3600.0)] = 60.0,
    rate: Annotated[float, typer.Option(help="Of the real-time loop [Hz].", min=125.0, max=1000.0)] = 500.0,
) -> None:
    """Time the controller side by side with the same tick in C++ on KDL, on Pinocchio, and with mink; or the loop."""
    with _progress() as say:
        if realtime:
            from ur_admittance.bench.realtime import measure

            result = measure(3.0 if quick else seconds, rate, say)
        else:
            from ur_admittance.bench.compare import compare

            result = compare(quick, say)
    if as_json:
        typer.echo(json.dumps(result, indent=2))
    elif realtime:
        _show_loops(result)
    else:
        _show(result)


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """One line on stderr that tells what is going on; stdout stays free for the figures."""
    from rich.console import Console

    console = Console(stderr=True)
    with console.status("") as line:
        yield lambda text: line.update(text)


def _show_loops(result: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    for kind, title in (("null", "a robot that costs nothing"), ("sim", "the simulated arm")):
        figures = result[kind]
        table = Table(title=f"loop with {title}, {figures['cycles']} cycles", box=None, title_justify="left")
        table.add_column("[us]", no_wrap=True)
        for heading in ("p50", "p99", "p99.9", "max"):
            table.add_column(heading, justify="right")
        for key, label in (
            ("period_us", "period"),
            ("force_to_command_us", "read to write"),
            ("publish_us", "publish"),
        ):
            table.add_row(label, *(f"{figures[key][name]:.0f}" for name in ("p50", "p99", "p999", "max")))
        console.print(table)
        console.print(
            f"CPU {figures['cpu_percent']:.1f} % of a core, {figures['rss_mb']:.0f} MB, "
            f"{figures['missed']} deadlines missed, {figures['overruns']} overruns; {figures['setup']}\n"
        )


def _show(result: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table(box=None, pad_edge=False)
    table.add_column("median, p99, p99.9 in us", no_wrap=True)
    for heading in ("median", "p99", "p99.9", "ratio"):
        table.add_column(heading, justify="right")
    for name, title in TITLES.items():
        figures, missing = result["details"].get(name), result["notes"].get(name)
        if figures is None:
            table.add_row(title, missing)
            continue
        kdl_us = result["kdl_tick_us"]
        ratio = f"{figures['median'] / kdl_us:.2f}" if kdl_us else ""
        table.add_row(title, *(f"{figures[key]:.2f}" for key in ("median", "p99", "p99_9")), ratio)
    console.print(table)
    console.print(f"\nbatch: {result['batch_controllers']} controllers on {result['batch_threads']} threads")
    if result["steady_velocity_difference"] is not None:
        console.print(f"C++ and Python reach the same velocity to {result['steady_velocity_difference']:.1e}")
    cold = result["warmup_cold_s"]
    warm_up = f"warm-up {result['warmup_cached_s']:.2f} s"
    if cold is not None:
        warm_up += f" ({cold:.1f} s with nothing compiled)"
    console.print(f"memory {result['rss_mb']:.0f} MB, import {result['import_s']:.2f} s, {warm_up}")
