"""What pages quote stands in them as text, so that they read the same on GitHub, in the site and in an editor.

    python docs/render.py --write    brings every page up to date
    python docs/render.py --check    names page and line of what is out of date

Comments, which no reader sees, say where a text comes from:

    <!-- table: parameters --> ... <!-- end -->                 one of docs/tables.py
    <!-- file: examples/01_push.py --> ... <!-- end -->         a file of the repository, as code
    <!-- api: ur_admittance.World push --> ... <!-- end -->     the Python reference (docs/api.py); all members, or those named
    <!-- text: realtime.machine --> ... <!-- end -->            words from docs/measured/realtime.json
    12.3<!-- mistakes.bent_path.beside_mm .1f -->               a number from docs/measured/mistakes.json, and its format
    `core/test_admittance.py::test_of_it`                              a test; what it has measured is added (docs/claims.py)

A figure that was measured on older source (ur_admittance_lab/evidence.py) gets a †, the page a note below.
"""

import argparse
import re
import sys
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path
from typing import Any

import api
import claims
import tables
from tables import Stale, measured

from ur_admittance_lab.evidence import older

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
START = re.compile(r"(<!-- (table|file|api|text): ([^>]+?) -->)")
BLOCK = re.compile(START.pattern + r"(?:(.*?)(<!-- end -->))?", re.DOTALL)
NUMBER = re.compile(r"[-+.\w]*(<!-- (\w+(?:\.\w+)+)(?: (\S+))? -->)†?")
NOTE = re.compile(r"\n+<!-- older -->.*?<!-- end older -->\n", re.DOTALL)
LANGUAGES = {".c": "c", ".py": "python", ".txt": "text", ".json": "json"}


def value(name: str) -> Any:
    """What was measured, by its name: file.key.key."""
    file, *keys = name.split(".")
    found = measured(file)
    for key in keys:
        if key not in found:
            raise Stale(f"{name}: there is no {key!r}")
        found = found[key]
    return found


def number(match: re.Match[str]) -> str:
    found, form = value(match[2]), match[3]
    shown = format(found, form) if form else (f"{found:.3g}" if isinstance(found, float) else str(found))
    return re.sub(r"^-(?=[0.]+$)", "", shown) + match[1] + mark(match[2].partition(".")[0])  # no "-0.0"


def mark(file: str) -> str:
    """† behind a figure that was measured on older source; the note below the page says which."""
    return "†" if older(measured(file)) else ""


def told(match: re.Match[str]) -> str:
    text = claims.told(match)
    return text.replace("<!-- end -->", mark("guarantees") + "<!-- end -->") if "<!-- end -->" in text else text


def note() -> str:
    """Which of the quoted figures are older than the source; empty: none."""
    dated = [f"`{file}` ({why})" for file in sorted(tables.QUOTED) if (why := older(measured(file)))]
    words = f"† Measured on an older state of the source: {', '.join(dated)}."
    return f"\n\n<!-- older -->\n\n{words}\n\n<!-- end older -->\n" if dated else "\n"


def table(name: str) -> str:
    if name not in tables.TABLES:
        raise Stale(f"there is no table {name!r}")
    return tables.TABLES[name]()


def file(path: str) -> str:
    source = ROOT / path
    if source.parent == DOCS / "measured":
        measured(source.stem)  # of the same run
    if not source.is_file():
        raise Stale(f"{path} does not exist")
    return f"```{LANGUAGES[source.suffix]}\n{source.read_text(encoding='utf-8').strip()}\n```"


KINDS: dict[str, Callable[[str], str]] = {"table": table, "file": file, "api": api.reference}


def block(match: re.Match[str]) -> str:
    start, kind, argument, old, end = match.groups()
    if end is None or START.search(old):
        raise Stale(f"{start} has no <!-- end -->")
    return start + (str(value(argument)) if kind == "text" else f"\n\n{KINDS[kind](argument).strip()}\n\n") + end


# Blocks come last: they change the numbers of the lines below.
QUOTES = ((NUMBER, number), (claims.TOLD, told), (BLOCK, block))


def rendered(page: str) -> str:
    """The page with everything that it quotes brought up to date."""
    page = NOTE.sub("\n", page)
    tables.QUOTED.clear()
    for pattern, quote in QUOTES:

        def located(match: re.Match[str], quote: Callable[[re.Match[str]], str] = quote, page: str = page) -> str:
            try:
                return quote(match)
            except (Stale, LookupError, TypeError, ValueError) as reason:
                what = reason if isinstance(reason, Stale) else f"{match[1]}: {reason}"
                raise Stale(f"{page.count(chr(10), 0, match.start()) + 1}: {what}") from None

        page = pattern.sub(located, page)
    return page.rstrip("\n") + note()


def problem(old: str) -> str:
    """Line and reason, empty: the page is up to date."""
    try:
        new = rendered(old)
    except Stale as reason:
        return str(reason)
    pairs = enumerate(zip_longest(old.splitlines(), new.splitlines()), 1)
    return next((f"{line}: out of date; run: python docs/render.py --write" for line, (a, b) in pairs if a != b), "")


def main() -> int:
    parser = argparse.ArgumentParser(description="What the pages quote, brought up to date or only checked.")
    choice = parser.add_mutually_exclusive_group(required=True)
    choice.add_argument("--write", action="store_true", help="rewrite the pages")
    choice.add_argument("--check", action="store_true", help="end with 1 if a page is out of date")
    write, problems = parser.parse_args().write, []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        found = problem(text)
        if found.endswith("--write") and write:
            page.write_text(rendered(text), encoding="utf-8")
        elif found:
            problems.append(f"{page.relative_to(ROOT)}:{found}")
    print(*problems, sep="\n", end="\n" if problems else "", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
