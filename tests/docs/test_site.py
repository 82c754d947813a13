"""The site builds without a warning, loads nothing from elsewhere, and its tables hold what the program has."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ur_admittance.core.records import COMMAND, PARAMS, SAMPLE, STATE, Status
from ur_admittance.params.table import rows

ROOT = Path(__file__).resolve().parents[2]
LOADED = re.compile(
    r"""<(?:script|link|img|iframe|source|object)\b[^>]*?(?:src|href|data)=["']?((?:https?:)?//[^"'> ]+)"""
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stdout + done.stderr, done.stderr
    return folder


def text(page):
    return page.read_text(encoding="utf-8")


def test_no_page_loads_anything_from_another_host(site):
    for page in site.rglob("*.html"):
        assert not LOADED.findall(text(page)), page
    for sheet in site.rglob("*.css"):
        assert not re.findall(r"url\(\s*[\"']?(?:https?:)?//", text(sheet)), sheet


def test_no_placeholder_is_left_in_a_page(site):
    for page in site.rglob("*.html"):
        assert not re.search(r"\{\{|<!-- table|class=\"arithmatex\"|--8&lt;--", text(page)), page


def test_every_parameter_stands_in_the_reference(site):
    page = text(site / "reference" / "parameters.html")
    assert [name for name in rows() if f"<code>{name}</code>" not in page] == []


def test_every_status_stands_in_the_reference(site):
    page = text(site / "reference" / "status.html")
    assert [status.name for status in Status if f"<code>{status.name}</code>" not in page] == []


def fields(dtype, title):
    """(section, field) of a record and of the records inside it."""
    for name in dtype.names:
        yield title, name
        if dtype[name].names:
            yield from fields(dtype[name], name)


def test_every_field_of_a_record_stands_in_its_section_of_the_reference(site):
    sections = text(site / "reference" / "records.html").split('<h2 id="')
    found = {section.split('"')[0]: section for section in sections}
    four = {"sample": SAMPLE, "command": COMMAND, "state": STATE, "params": PARAMS}
    wanted = [pair for title, dtype in four.items() for pair in fields(dtype, title)]
    assert ("oscillation", "covariance") in wanted
    assert [pair for pair in wanted if f"<code>{pair[1]}</code>" not in found[pair[0]]] == []


def test_every_command_stands_in_the_reference(site):
    from typer.main import get_command

    from ur_admittance.cli import app

    page = text(site / "reference" / "command_line.html")
    assert [name for name in get_command(app).commands if f"ur-admittance {name}" not in page] == []


def test_every_picture_of_a_page_exists_and_has_a_script(site):
    scripts = "".join(
        path.read_text() for folder in ("figures", "mistakes") for path in (ROOT / "docs" / folder).glob("*.py")
    )
    for page in (ROOT / "docs").rglob("*.md"):
        for picture in re.findall(r"assets/figures/(\w+)\.svg", page.read_text()):
            assert (ROOT / "docs" / "assets" / "figures" / f"{picture}.svg").exists(), f"{page.name}: {picture}"
            assert picture.removeprefix("mistake_") in scripts, picture


def test_names_of_topics_and_services_are_those_of_the_nodes():
    page = (ROOT / "docs" / "reference" / "topics_and_services.md").read_text()
    package = ROOT / "src" / "ur_admittance"
    source = "".join(path.read_text() for room in ("ros", "robots/ros") for path in (package / room).rglob("*.py"))
    names = re.findall(r"^\| (?:in|out|service) \| `([^`]+)`", page, re.MULTILINE)
    assert len(names) > 20
    assert [name for name in names if name.removeprefix("~/") not in source] == []
