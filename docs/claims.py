"""What MkDocs does with promises: the build fails when the test that is named for one does not exist.

`core/test_law.py::test_of_it`    a test that proves what is said, from the folder tests
## Always                         each guarantee below it ("- **...") names at least one
"""

import re
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1] / "tests"
TEST = re.compile(r"`([\w/]+\.py)::(\w+)`")


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


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> None:
    found = unproven(markdown)
    if found:
        raise SystemExit(f"{page.file.src_uri}: {'; '.join(found)}")
