"""All code in the documentation runs: Python blocks and commands of a page in order, in a folder of their own."""

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from ur_admittance.cli import app

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
QUOTED = re.compile(r"<!-- (?:file|api|table): .*?<!-- end -->", re.DOTALL)  # made by docs/render.py
FENCE = re.compile(r"^( *)```(\w+)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    language: str  # python, bash: executed; sh: options checked; others: shown only
    text: str


def blocks(page: Path) -> list[Block]:
    """Code blocks of a page in order, indentation of lists removed, quoted files left out (they have tests)."""
    found = []
    for indent, language, text in FENCE.findall(QUOTED.sub("", page.read_text())):
        found.append(Block(language, "\n".join(line[len(indent) :] for line in text.splitlines())))
    return found


PAGES = sorted(DOCS.rglob("*.md"))
RUNNABLE = [
    page for page in PAGES if any(block.language in ("python", "bash") and block.text for block in blocks(page))
]


def name(page: Path) -> str:
    return str(page.relative_to(DOCS))


def execute(command: str) -> None:
    """One line of a bash block: our own command in this process, anything else in a shell."""
    words = shlex.split(command, comments=True)
    if not words:
        return
    if words[0] == "ur-admittance" and ">" not in words:
        result = CliRunner().invoke(app, words[1:])
        assert result.exit_code == 0, f"{command}\n{result.output}\n{result.exception}"
        return
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    command = command.replace(" docs/", f" {ROOT}/docs/").replace(" examples/", f" {ROOT}/examples/")
    done = subprocess.run(
        command, shell=True, env=os.environ | {"PATH": path}, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize("page", RUNNABLE, ids=name)
def test_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "page"}
    for block in blocks(page):
        if block.language == "python":
            exec(compile(block.text, name(page), "exec"), namespace)
        elif block.language == "bash":
            for line in block.text.splitlines():
                execute(line)


def shown_commands(page: Path) -> list[str]:
    """Lines with our command that are shown but not run: they need a robot, ROS or a browser."""
    listed = [block.text for block in blocks(page) if block.language == "sh"]
    indented = re.findall(
        r"^(?: {4}|\t)+(?:\$ )?(ur-admittance .*)$", FENCE.sub("", QUOTED.sub("", page.read_text())), re.MULTILINE
    )
    return [line for text in listed + indented for line in text.splitlines() if line.startswith("ur-admittance ")]


@pytest.mark.parametrize("page", [page for page in PAGES if shown_commands(page)], ids=name)
def test_commands_that_need_hardware_or_a_browser_have_the_options_shown(page):
    for line in shown_commands(page):
        words = shlex.split(line.rstrip("\\"), comments=True)[1:]
        command = root = get_command(app)
        known = {"--help", "--version"}
        while words and words[0] in getattr(command, "commands", {}):
            command = command.commands[words.pop(0)]
            known |= {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        assert command is not root, line
        unknown = [word for word in words if word.startswith("--") and word.split("=")[0] not in known]
        assert not unknown, f"{line}: {unknown}"
