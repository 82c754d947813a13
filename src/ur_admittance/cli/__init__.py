"""The command `ur-admittance`. One module per family of commands; heavy imports stay inside the commands."""

import signal
import sys
from importlib.metadata import entry_points
from typing import Annotated

import typer

from ur_admittance import __version__
from ur_admittance.cli import bringup, calibrate, check, demo, go, library, params, recordings, run, teach
from ur_admittance.cli.console import LABORATORY, Group
from ur_admittance.errors import UrAdmittanceError

app = typer.Typer(
    cls=Group,
    help="Force-compliant Universal Robots arms: push the tool and it moves as a chosen mass, damper and spring.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain text: markup eats units such as [s], and its table leaves the words 20 of 80 columns
)
app.command()(demo.demo)
app.command()(run.run)
app.command()(run.ask)
app.command()(go.go)
app.command()(teach.teach)
app.command()(teach.play)
app.command()(recordings.why)
app.command()(recordings.show)
app.command()(recordings.plot)
app.command()(recordings.export)
app.command()(recordings.replay)
app.add_typer(params.app, name="params")
app.command()(library.library)
app.command()(bringup.bringup)
app.command()(check.check)
app.command("check-frames")(check.check_frames)
app.add_typer(calibrate.app, name="calibrate")
app.command("measure-response")(check.measure_response)
for found in entry_points(group=LABORATORY):
    app.command(found.name, rich_help_panel=found.value.partition(".")[0])(found.load())


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ur-admittance {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Errors of this package end as one sentence and exit code 2, Ctrl-C as exit code 130.

    A script starts its background jobs with SIGINT ignored. Here it counts all the same: it must always stop an arm.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        app(prog_name="ur-admittance")
    except UrAdmittanceError as error:
        typer.echo(f"ur-admittance: {error}", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        signal.signal(
            signal.SIGINT, signal.SIG_IGN
        )  # the arm stands; one more Ctrl-C would abort the interpreter's end
