"""A command that has commands below it."""

import re
from importlib.metadata import entry_points
from typing import Any

from typer.core import TyperGroup

LABORATORY = "ur_admittance.commands"  # entry points of the commands that another package brings


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
