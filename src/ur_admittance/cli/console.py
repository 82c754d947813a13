"""Where tables, lists and progress are printed."""

import shutil
import sys
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


WIDEST = 120  # longer lines are hard to read


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
