"""What is printed: tables, lists of commands, the progress of the first start."""

import re
import shutil
import sys
import textwrap
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from typer.core import TyperGroup

if TYPE_CHECKING:
    from rich.console import Console

WIDEST = 120  # longer lines are hard to read
LABORATORY = "ur_admittance.commands"  # entry points of the commands that another package brings


def width() -> int:
    """Of the terminal; 0: a pipe, which gets one line for each thing, so that grep finds all of it."""
    return min(shutil.get_terminal_size((0, 0)).columns, WIDEST)


def wrapped(text: str, indent: int) -> str:
    """As wide as the terminal: what does not fit stands below it, indented."""
    if not width():
        return text
    return textwrap.fill(text, width(), subsequent_indent=" " * indent, break_on_hyphens=False)


def console(stderr: bool = False, pipe_width: int = 120) -> "Console":
    """As wide as the terminal. Prints what it is given: markup would eat a unit such as [s]."""
    from rich.console import Console

    terminal = (sys.stderr if stderr else sys.stdout).isatty()
    return Console(stderr=stderr, width=None if terminal else pipe_width, markup=False, highlight=False)


class Group(TyperGroup):
    """Lists its commands with the first words of each help, wrapped; the library would cut them off."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        brought = entry_points(group=LABORATORY).names
        gists = {name: _gist(command.help or "") for name, command in self.commands.items()}
        for title, wanted in (("Commands", gists.keys() - brought), ("Laboratory", gists.keys() & brought)):
            rows = [(name, gist) for name, gist in gists.items() if name in wanted]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def _gist(text: str) -> str:
    """Up to the first full stop, colon or semicolon."""
    return re.split(r"[.:;?](?:\s|$)", " ".join(text.split()))[0]


def compile_first() -> None:
    """Compile the controller, on a computer that has none yet and was given none."""
    from ur_admittance import library

    if not sys.stderr.isatty():
        library.prepare()
        return
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (TextColumn("compiling once:"), BarColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0, visible=False)

        def tell(compiled: library.Progress | str) -> None:
            if isinstance(compiled, str):
                bar.console.print(compiled)
                return
            bar.update(task, completed=compiled.share, description=compiled.how_far, visible=True)

        library.prepare(tell)
