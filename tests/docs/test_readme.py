"""The readme is short, its program runs, its links lead somewhere, and its commands exist."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

from typer.main import get_command

from ur_admittance.cli import app

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


def test_the_program_of_the_readme_is_six_lines_and_prints_what_is_shown(tmp_path):
    (program,) = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    (shown,) = re.findall(r"^```text\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert len([line for line in program.splitlines() if line and not line.startswith("import")]) == 6
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == (shown, 0), done.stderr


def test_the_readme_is_short_and_begins_with_the_moving_page():
    assert len(README.splitlines()) <= 120
    assert re.search(r"!\[[^]]+\]\(([^)]+)\)", README)[1] == "docs/assets/page.webp"


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
    targets = re.findall(r"`make (\w+)`", README)
    assert targets
    assert [target for target in targets if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []
