"""A measured figure carries the digest of the source that it was measured on."""

import json
import sys
from pathlib import Path

import pytest

from ur_admittance_lab import evidence

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT)]

import render  # noqa: E402
import tables  # noqa: E402

from benchmarks.evidence import STEPS  # noqa: E402

KERNEL = '''"""A kernel."""

import numpy as np

GAIN = 0.8  # of the filter


def low_pass(x: float, y: float) -> float:
    """y := y + GAIN (x - y)"""
    return y + GAIN * (x - y)
'''


def digest_of(tmp_path: Path, **files: str) -> str:
    core = tmp_path / f"{len(list(tmp_path.iterdir()))}" / "ur_admittance" / "core"
    core.mkdir(parents=True)
    for name, text in files.items():
        (core / f"{name}.py").write_text(text, encoding="utf-8")
    return evidence.digest("core", core.parents[1])


def test_a_changed_constant_or_line_of_a_kernel_makes_its_figures_old(tmp_path: Path) -> None:
    before = digest_of(tmp_path, filters=KERNEL)
    for old, new in (
        ("0.8", "0.9"),
        ("0.8", "0.80001"),
        ("(x - y)\n", "x\n"),
        ("+ GAIN", "- GAIN"),
        ("low_", "high_"),
    ):
        assert old in KERNEL
        assert digest_of(tmp_path, filters=KERNEL.replace(old, new)) != before, new
    assert digest_of(tmp_path, filters=KERNEL, more="LIMIT = 1\n") != before
    renamed = KERNEL.replace("import numpy as np", "from numpy import sin as f")
    other = KERNEL.replace("import numpy as np", "from numpy import cos as f")
    assert digest_of(tmp_path, filters=renamed) != digest_of(tmp_path, filters=other)


def test_comments_docstrings_layout_and_moves_leave_them_fresh(tmp_path: Path) -> None:
    before = digest_of(tmp_path, filters=KERNEL)
    again = KERNEL.replace("of the filter", "why").replace("A kernel", "Two").replace("y := y", "dy =")
    assert digest_of(tmp_path, filters=again.replace("    return", "    # so\n    return")) == before
    head, definition = KERNEL.split("\n\n\n")
    imports = "from ur_admittance.core.gains import GAIN\n\n\n"
    assert digest_of(tmp_path, gains=head, filters=imports + definition) == before


def test_every_part_is_there_and_has_a_digest_of_its_own() -> None:
    for folders in evidence.PARTS.values():
        for folder in folders:
            assert any((evidence.HOUSES / folder).rglob("*.py")), folder
    assert len({evidence.digest(part) for part in evidence.PARTS}) == len(evidence.PARTS)


def test_figures_are_fresh_until_the_source_changes(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    evidence.keep(file, "core", {"us": 3.1})
    kept = json.loads(file.read_text())
    assert set(kept["evidence"]) == {"part", "digest", "date", "version"}
    assert evidence.older(kept) == evidence.older([kept, kept]) == ""
    old = kept | {"evidence": kept["evidence"] | {"digest": "0", "date": "2026-11-16"}}
    assert evidence.older(old) == evidence.older([kept, old]) == "core, 2026-11-16"
    assert evidence.older({"us": 3.1}) == "date unknown"
    assert evidence.older({"us": 3.1, "date": "2026-11-15 09:42 UTC"}) == "2026-11-15"


@pytest.mark.parametrize("fresh", [True, False])
def test_a_page_shows_an_older_figure_as_older(monkeypatch: pytest.MonkeyPatch, fresh: bool) -> None:
    stamp = evidence.stamp("core") | ({} if fresh else {"digest": "0", "date": "2026-11-16"})
    monkeypatch.setattr(tables, "_measured", lambda file: {"evidence": stamp, "us": 3.14})
    page = render.rendered("It takes 9<!-- tick.us .1f --> us.\n")
    note = "\n\n<!-- older -->\n\n† Measured on an older state of the source: `tick` (core, 2026-11-16).\n\n<!-- end older -->"
    assert page == f"It takes 3.1<!-- tick.us .1f -->{'' if fresh else '†'} us.{'' if fresh else note}\n"
    assert render.rendered(page) == page
    monkeypatch.setattr(tables, "_measured", lambda file: {"evidence": evidence.stamp("core"), "us": 3.14})
    assert render.rendered(page) == "It takes 3.1<!-- tick.us .1f --> us.\n"


def test_each_file_that_pages_may_quote_is_measured_by_a_step() -> None:
    there = {str(path.relative_to(ROOT)) for path in (ROOT / "docs" / "measured").glob("*.json")}
    steps = {step.file for step in STEPS}
    assert there - steps <= {"docs/measured/campaign_parameters.json"}  # written with campaign.json
    assert steps - there == {"docs/assets/contact/contact.json"}
