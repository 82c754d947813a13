"""The site builds without a warning, loads nothing from elsewhere, and its tables hold what the program has."""

import os
import re
import shutil
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


def test_every_formula_is_drawn(site):
    assert text(site / "explanation" / "theory.html").count("<math") > 30
    for page in site.rglob("*.html"):
        assert not re.search(r"class=\"formula\"|\$<code>|language-math", text(page)), page


def test_the_navigation_names_each_page_once():
    named = re.findall(r"^ +- (\S+\.md)$|^  - (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    pages = [str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")]
    assert sorted(a or b for a, b in named) == sorted(pages)


def test_the_search_works_from_the_disk(site, optional, missing):
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        missing("chromium is not installed")
    with optional("playwright.sync_api").sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--headless", "--no-sandbox", "--disable-gpu"])
        tab = browser.new_page(viewport={"width": 1300, "height": 800})
        complaints = []
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.set_default_timeout(60_000)
        tab.goto((site / "how-to" / "page.html").as_uri())
        tab.locator("iframe").wait_for(state="attached")  # the script of the page has started
        tab.locator("input.md-search__input").focus()
        tab.locator(".md-search-result__meta", has_text="Type to start searching").wait_for()
        tab.keyboard.type("peg into a hole")
        tab.locator(".md-search-result__item a").first.click()
        tab.wait_for_url("**/how-to/insertion.html*")
        browser.close()
    assert complaints == []


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
    rooms = ("ur_admittance/ros", "ur_admittance/robots/ros", "ur_admittance_lab/driver")
    source = "".join(path.read_text() for room in rooms for path in (ROOT / "src" / room).rglob("*.py"))
    names = re.findall(r"^\| (?:in|out|service) \| `([^`]+)`", page, re.MULTILINE)
    assert len(names) > 20
    assert [name for name in names if name.removeprefix("~").removeprefix("/") not in source] == []
