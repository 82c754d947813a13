"""The first start on a computer, shown: a bar on a terminal, sentences elsewhere."""

import sys

import typer

from ur_admittance.cli.console import console


def compile_first(simulation: bool = True) -> None:
    """Compile what is not in the cache of this computer: the controller and, if asked for, the simulated arm."""
    from ur_admittance.first_start import SIMULATION, in_words, prepare

    others = (SIMULATION,) if simulation else ()
    if not sys.stderr.isatty():
        prepare(in_words(lambda text: typer.echo(text, err=True)), others)
        return
    from rich.progress import BarColumn, Progress, TextColumn

    from ur_admittance.first_start import Progress as Compiled

    columns = (TextColumn("compiling once:"), BarColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0, visible=False)

        def tell(compiled: Compiled | str) -> None:
            if isinstance(compiled, str):
                bar.console.print(compiled)
                return
            bar.update(task, completed=compiled.share, description=compiled.how_far, visible=True)

        prepare(tell, others)
