"""A command that has commands below it."""

import re
from typing import Any

from typer.core import TyperGroup


class Group(TyperGroup):
    """Lists its commands with the first words of each help, wrapped; the library would cut them off."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, _gist(command.help or "")) for name, command in self.commands.items()])


def _gist(text: str) -> str:
    """Up to the first full stop, colon or semicolon."""
    return re.split(r"[.:;?](?:\s|$)", " ".join(text.split()))[0]
