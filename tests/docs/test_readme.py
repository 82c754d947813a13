"""The links of the readme lead somewhere, and its commands exist."""

import re
import shlex
from pathlib import Path

from typer.main import get_command

from ur_admittance.cli import app

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


def test_links_of_the_readme_lead_to_files():
    links = [link for link in re.findall(r"\]\(([^)#]+)", README) if not link.startswith("http")]
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_readme_quotes_the_first_program():
    program = (ROOT / "examples" / "01_push.py").read_text()
    assert re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL) == [
        program[program.index("import") :]
    ]


def test_commands_of_the_readme_exist():
    lines = re.findall(r"^ {4}ur-admittance (.+)$", README, re.MULTILINE)
    assert len(lines) >= 3
    for line in lines:
        name, *words = shlex.split(line, comments=True)
        command = get_command(app).commands[name]
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        assert [word for word in words if word.startswith("--") and word not in known] == [], line


def test_make_targets_of_the_readme_exist():
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^ {4}make (\w+)", README, re.MULTILINE)
    assert targets
    assert [target for target in targets if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []
