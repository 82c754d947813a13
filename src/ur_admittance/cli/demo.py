"""ur-admittance demo: a simulated arm in the browser; push it, pull it, tune it."""

import contextlib
import webbrowser
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ur_admittance.cli.console import compile_first
from ur_admittance.cli.options import DurationOption, ModelOption, parameters_from, shared_options, within
from ur_admittance.given import Bounds

if TYPE_CHECKING:
    from ur_admittance.page import Page

OWN_FOLDER = Path("ur_admittance_page")
PORTS = Bounds(0, 65535)


@dataclass(frozen=True)
class Start:
    """The arm at the start."""

    model: ModelOption = "ur5e"
    preset: Annotated[str | None, typer.Option(help="Preset or parameter file to start with.")] = None


@dataclass(frozen=True)
class Served:
    """Where the page is."""

    host: Annotated[str, typer.Option(help="Address to listen on; other computers need a token.")] = "127.0.0.1"
    port: Annotated[int | None, within("--port", bounds=PORTS, help="Default: the first free from 8080 on.")] = None
    token: Annotated[str | None, typer.Option(help="For other addresses; default: generated and printed.")] = None


@dataclass(frozen=True)
class Kept(Served):
    """Where the page is, and what it keeps."""

    folder: Annotated[Path, typer.Option(help="Where presets and recordings are kept.")] = OWN_FOLDER


@shared_options
def demo(
    start: Start,
    served: Kept,
    name: Annotated[str, typer.Option(help="Name of this controller, to run several.")] = "demo",
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    duration: DurationOption = None,
    shadows: Annotated[bool, typer.Option(help="Draw shadows; use --no-shadows without a graphics card.")] = True,
    realtime: Annotated[bool, typer.Option(help="Ask for real-time scheduling.")] = True,
    calm: Annotated[bool, typer.Option("--calm", help="No pushes until you make one.")] = False,
) -> None:
    """A simulated arm in the browser: drag the ball on its tool and feel mass, damping and stiffness."""
    from ur_admittance import page as dashboard

    parameters = parameters_from(start.preset) if start.preset else None
    compile_first()

    def say(text: str) -> None:
        if starting.done():
            starting.result()  # a page that cannot start is reported before the controller is loaded
        typer.echo(f"  {text}", err=True)

    where = served.host, served.port, served.token, served.folder
    with ThreadPoolExecutor(1) as other:  # the web server loads while this process loads the controller
        starting = other.submit(dashboard.start, name, *where, shadows)
        try:
            from ur_admittance.robots.operate import LOOP_PRIORITY
            from ur_admittance.robots.simulated.interactive_world import run_simulated

            report = run_simulated(
                start.model,
                parameters,
                name=name,
                restless=not calm,
                choice=True,
                duration=duration,
                priority=LOOP_PRIORITY if realtime else None,
                say=say,
                beside=lambda: _page(starting, browser),
            )
        finally:
            if starting.exception() is None:
                starting.result().stop()
    typer.echo(f"The demo has ended ({report.ended_because}).", err=True)


@contextlib.contextmanager
def _page(starting: "Future[Page]", browser: bool) -> Iterator[None]:
    """Say where the page is as soon as there is something to see."""
    page = starting.result()
    typer.echo(page.sentence)
    typer.echo("  drag the orange ball on the tool; Ctrl-C ends the demo", err=True)
    if browser:
        webbrowser.open(page.url)
    yield
