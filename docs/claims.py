"""What MkDocs does with promises: the build fails when the test that is named for one does not exist.

`core/test_admittance.py::test_of_it`    a test that proves what is said, from the folder tests; docs/render.py adds what it measured
## Always                         each guarantee below it ("- **...") names at least one

Tests tell what they measure by record_property("apart [mm]", value); `python docs/claims.py` runs the tests that the
pages name and writes the largest value of each to docs/measured/guarantees.json.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ur_admittance_lab.evidence import keep

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
FIGURES = ROOT / "docs" / "measured" / "guarantees.json"
TEST = re.compile(r"`([\w/]+\.py)::(\w+)`")
TOLD = re.compile(TEST.pattern + r"(?:<!-- measured -->.*?<!-- end -->)?")
PYTHON = {True: ROOT / ".venv-ros" / "bin" / "python", False: Path(sys.executable)}  # True: tests/ros


def unproven(markdown: str) -> list[str]:
    """Sentences about tests that do not exist, and guarantees that name none."""
    found = []
    for file, test in TEST.findall(markdown):
        path = TESTS / file
        if not path.exists() or f"\ndef {test}(" not in path.read_text(encoding="utf-8"):
            found.append(f"there is no test {file}::{test}")
    _, _, rest = markdown.partition("\n## Always")
    for guarantee in rest.partition("\n## ")[0].split("\n- **")[1:]:
        if not TEST.search(guarantee):
            found.append(f"no test is named for: {guarantee.splitlines()[0]}")
    return found


def told(match: re.Match[str]) -> str:
    """The name of a test, and what it has measured."""
    run = json.loads(FIGURES.read_text(encoding="utf-8"))["tests"].get(
        f"{match[1]}::{match[2]}", {"cases": 1, "largest": {}}
    )
    cases = [f"{run['cases']} cases"] if run["cases"] > 1 else []
    values = [
        f"{name.partition(' [')[0]} {value:.3g} {name.partition('[')[2].rstrip(']')}".rstrip()
        for name, value in run["largest"].items()
    ]
    words = ", ".join(cases + values)
    return f"`{match[1]}::{match[2]}`" + (f"<!-- measured -->: {words}<!-- end -->" if words else "")


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    found = unproven(markdown)
    if found:
        raise SystemExit(f"{page.file.src_uri}: {'; '.join(found)}")
    return markdown


def measure(names: list[str], python: Path) -> dict[str, Any]:
    """Run these tests ("core/test_admittance.py::test_of_it"): how many cases each has, and the largest of what it tells."""
    with tempfile.NamedTemporaryFile(suffix=".xml") as file:
        command = [str(python), "-m", "pytest", "-q", f"--junitxml={file.name}"]
        if subprocess.run([*command, *(f"tests/{name}" for name in names)], cwd=ROOT, check=False).returncode:
            raise SystemExit("a test failed: nothing is written.")
        cases = ElementTree.parse(file.name).iter("testcase")
        found: dict[str, Any] = {}
        for case in cases:
            name = f"{case.attrib['file'].removeprefix('tests/')}::{case.attrib['name'].partition('[')[0]}"
            run = found.setdefault(name, {"cases": 0, "largest": {}})
            run["cases"] += 1
            for told in case.iter("property"):
                value = float(told.attrib["value"])
                run["largest"][told.attrib["name"]] = max(value, run["largest"].get(told.attrib["name"], value))
    return found


def main() -> None:
    pages = [page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").rglob("*.md"))]
    names = sorted({f"{file}::{test}" for page in pages for file, test in TEST.findall(page)})
    tests: dict[str, Any] = {}
    for ros, python in PYTHON.items():
        tests |= measure([name for name in names if name.startswith("ros/") == ros], python)
    keep(FIGURES, "product", {"tests": dict(sorted(tests.items()))})


if __name__ == "__main__":
    main()
