"""Files, modules and tests that are mentioned anywhere exist: pages, readme, docstrings and comments."""

import importlib.util
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "ur_admittance"
PLACES = (
    "*.md",
    "docs/**/*.md",
    "docs/**/*.py",
    "src/**/*.py",
    "examples/*.py",
    "benchmarks/**/*.md",
    "benchmarks/**/*.py",
)
TEXTS = sorted(
    {path for place in PLACES for path in ROOT.glob(place)} - {ROOT / "CHANGELOG.md"}
)  # it names what is gone
NAMES = {
    path.name
    for folder in ("src", "tests", "docs", "benchmarks", "examples", "scripts", "ros2")
    for path in (ROOT / folder).rglob("*.py")
}
NAMES |= {"hatch_build.py", "example_plotting.py", "example_control_loop.py"}  # the last two are Universal Robots'
FILE = re.compile(r"(?<![\w/.*<{-])((?:[\w-]+/)+[\w.-]+\.(?:py|json|toml))\b")
BARE = re.compile(r"(?<![\w/.*<{-])([a-z]\w*\.py)\b")  # of a module
SCRIPT = re.compile(r"\bpython ((?:docs|benchmarks|examples|scripts)/[\w./-]+)")
MODULE = re.compile(r"(?<![\w./])(ur_admittance(?:_lab)?(?:\.(?!h\b)[A-Za-z_]\w*)+)")  # not the header for C

_spec = importlib.util.spec_from_file_location("claims", ROOT / "docs" / "claims.py")
assert _spec is not None
assert _spec.loader is not None
claims = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(claims)


def exists(path: str) -> bool:
    """A path is given from the repository, the package or the tests."""
    return any((base / path).exists() for base in (ROOT, PACKAGE, PACKAGE / "core", PACKAGE.parent, ROOT / "tests"))


def names_something(dotted: str) -> bool:
    """The last part may be a name in the text of a module. Groups of entry points look like modules."""
    if f'entry-points."{dotted}"' in (ROOT / "pyproject.toml").read_text():
        return True
    place, parts = PACKAGE.parent, dotted.split(".")
    for part in parts:
        if (place / part).is_dir():
            place = place / part
        elif (place / f"{part}.py").exists():
            place = place / f"{part}.py"
        else:
            listed = place / "__init__.pyi"
            text = (place if place.is_file() else listed if listed.exists() else place / "__init__.py").read_text()
            return re.search(rf"\b{part}\b", text) is not None
    return True


def missing(text: str) -> list[str]:
    return [
        *(path for path in FILE.findall(text) if not exists(path)),
        *(name for name in BARE.findall(text) if name not in NAMES),
        *(path for path in SCRIPT.findall(text) if not (ROOT / path).exists()),
        *(dotted for dotted in MODULE.findall(text) if not names_something(dotted)),
    ]


def test_files_and_modules_that_a_text_names_exist():
    assert {str(path): gone for path in TEXTS if (gone := missing(path.read_text()))} == {}


def test_a_file_or_module_that_does_not_exist_is_noticed():
    text = (
        "see `core/tock.py`, tock.py, `ur_admittance.core.tock` and ur_admittance.core.tick.tock; python docs/nothing"
    )
    assert len(missing(text)) == 5


def test_every_guarantee_names_tests_and_they_exist():
    pages = {str(path): claims.unproven(path.read_text()) for path in (ROOT / "docs").rglob("*.md")}
    assert {page: found for page, found in pages.items() if found} == {}


def test_a_guarantee_without_a_test_is_noticed_and_ends_the_build():
    page = "\n## Always\n\n- **It holds.** Truly.\n- **It stays.** See `core/test_admittance.py::test_of_nothing`.\n"
    assert claims.unproven(page) == [
        "there is no test core/test_admittance.py::test_of_nothing",
        "no test is named for: It holds.** Truly.",
    ]
    with pytest.raises(SystemExit, match=r"x\.md: there is no test"):
        claims.on_page_markdown(page, SimpleNamespace(file=SimpleNamespace(src_uri="x.md")), None, None)


def test_the_layers_of_the_contributing_page_are_those_of_the_contract():
    contract = re.search(r"^layers = \[(.*?)^\]", (ROOT / "pyproject.toml").read_text(), re.MULTILINE | re.DOTALL)
    table = re.findall(r"^ {4}(\w+(?: \| \w+)*) {2}", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    assert contract
    layers = re.findall(r'"([^"]+)"', contract[1])
    assert table[-len(layers) :] == layers
