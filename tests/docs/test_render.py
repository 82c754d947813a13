"""Pages read the same on GitHub as in the site: what they quote is in them, up to date, and nothing needs MkDocs."""

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS))

import render  # noqa: E402

PAGES = [path for path in (*ROOT.glob("*.md"), *DOCS.rglob("*.md")) if path.name != "CHANGELOG.md"]
RAW = re.compile(r"\{\{|\}\}|--8<--|:::|!!! |\?\?\? |\\\(|\\\[|\{[:.#]|\|-{3}|\$\$")
FORMULA = re.compile(r"\$`[^`]+`\$")
QUOTE = "<!-- mistakes.bent_path.beside_mm .1f -->"


def tokens(page):
    """By a CommonMark parser with GitHub's tables: the foreign judge."""
    found = MarkdownIt("commonmark").enable("table").parse(page.read_text())
    return [*found, *(child for token in found for child in token.children or [])]


def anchors(page):
    """As GitHub makes them from headings."""
    found = []
    parts = MarkdownIt("commonmark").enable("table").parse(page.read_text())
    for before, token in pairwise(parts):
        if before.type == "heading_open":
            text = "".join(child.content for child in token.children if child.type in ("text", "code_inline"))
            slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            found.append(slug if slug not in found else f"{slug}-{found.count(slug)}")
    return found


def name(page):
    return str(page.relative_to(ROOT))


def test_what_pages_quote_is_up_to_date():
    done = subprocess.run([sys.executable, "docs/render.py", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"\n\nIt left the line by 1.0{QUOTE} mm.", "3: out of date; run: python docs/render.py --write"),
        ("\n<!-- mistakes.bent_path.nothing .1f -->", "2: mistakes.bent_path.nothing: there is no 'nothing'"),
        ("<!-- nothing.at_all -->", "1: docs/measured/nothing.json does not exist"),
        ("\n<!-- table: nothing -->\n<!-- end -->", "2: there is no table 'nothing'"),
        ("<!-- file: examples/nothing.py -->\n<!-- end -->", "1: examples/nothing.py does not exist"),
        ("<!-- table: modes -->\n\n## Next", "1: <!-- table: modes --> has no <!-- end -->"),
        (
            "\n<!-- api: ur_admittance.World fly --><!-- end -->",
            "2: <!-- api: ur_admittance.World fly -->: World has no member fly.",
        ),
        ("<!-- table: modes -->\n<!-- table: limits -->\n<!-- end -->", "1: <!-- table: modes --> has no <!-- end -->"),
        ("<!-- file: examples/01_push.py -->\n\nold\n\n<!-- end -->", "3: out of date"),
    ],
)
def test_what_is_out_of_date_or_unknown_is_named_with_its_line(text, line):
    assert render.problem(text).startswith(line)


def test_a_page_that_was_brought_up_to_date_stays_as_it_is():
    old = f"A{QUOTE} b -1.5e-07{QUOTE}, **1{QUOTE}**\n\n<!-- file: examples/01_push.py --><!-- end -->\n"
    new = render.rendered(old)
    assert new.count(f"{render.value('mistakes.bent_path.beside_mm'):.1f}{QUOTE}") == 3
    assert "import ur_admittance as ua" in new
    assert render.problem(new) == ""


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_github_shows_no_marks_of_another_program(page):
    texts = [token.content for token in tokens(page) if token.type in ("text", "html_block")]
    assert [text for text in texts if RAW.search(text)] == []
    # a comment at the start of a line makes the line HTML; a formula whose marks are apart is shown as it is written
    assert re.findall(r"^ *<!-- .* -->[^\n<]+$", page.read_text(), re.MULTILINE) == []
    prose = FORMULA.sub("", re.sub(r"^( *)```.*?^\1```|^(?: {4}|\t).*?$", "", page.read_text(), flags=re.M | re.S))
    assert "$" not in re.sub(r"`[^`\n]*`", "", prose)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_and_pictures_lead_to_files_and_headings(page):
    links = [str(token.attrGet("href") or token.attrGet("src") or "") for token in tokens(page)]
    for link in links:
        path, _, anchor = link.partition("#")
        if link and not re.match(r"https?:", link):
            target = page.parent / path if path else page
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), link


def test_the_reference_shows_constructors_with_defaults_and_units():
    page = (DOCS / "reference" / "python.md").read_text()
    for line in (
        "ua.AdmittanceController(model: RobotModel | str, parameters: Parameters | None = None)",
        "    tcp: Vector = (0.0, 0.0, 0.15),  # [m]",
        "    gap: float = 0.02,  # [m] between the tool's surface and the object at the start pose",
        "ur_admittance.runtime.clock.RealTimeClock(rate: float, spin_ns: int | None = None)",
        "deadline_ns: int  # of the cycle that runs now",
        'ua.Recorder(path: str | Path, *, model: str = "", rate: float = 500.0, realtime: bool = False)',
    ):
        assert f"\n{line}\n" in page
