"""What a measured figure was measured on: the digest of the source it depends on, beside the figure.

Comments, docstrings, the place in a file and the file itself do not count: moving code leaves evidence fresh.
"""

import ast
import datetime
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import ur_admittance

HOUSES = Path(__file__).parents[1]
PARTS = {  # name -> folders below src; the name is what a page says: "measured on an older ..."
    "core": ("ur_admittance/core",),
    "campaign": ("ur_admittance/core", "ur_admittance_lab/episodes", "ur_admittance_lab/campaign"),
    "loop": tuple(f"ur_admittance/{room}" for room in ("core", "control", "runtime", "robots/simulated")),
    "client": tuple(f"ur_admittance/{room}" for room in ("core", "control", "runtime", "robots/rtde")),
    "node": tuple(f"ur_admittance/{room}" for room in ("core", "control", "runtime", "robots/ros", "ros")),
    "product": ("ur_admittance",),
}


@cache
def digest(part: str, houses: Path = HOUSES) -> str:
    """Of all definitions of a part, in any order."""
    found = []
    for folder in PARTS[part]:
        for file in (houses / folder).rglob("*.py"):
            found += [_shape(node) for node in ast.parse(file.read_bytes()).body if not _silent(node)]
    return hashlib.sha256("\n".join(sorted(found)).encode()).hexdigest()[:16]


def _silent(node: Any) -> bool:
    """A docstring, or an import that keeps the names."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return not any(name.asname for name in node.names)
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _shape(node: Any) -> str:
    """Of a syntax tree; ast.dump changes with the version of Python."""
    if isinstance(node, list):
        return "[" + ",".join(_shape(child) for child in node if not _silent(child)) + "]"
    if isinstance(node, ast.AST):
        fields = (f"{name}={_shape(child)}" for name, child in ast.iter_fields(node) if child not in (None, []))
        return f"{type(node).__name__}({' '.join(fields)})"
    return repr(node)


def stamp(part: str) -> dict[str, str]:
    date = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    return {"part": part, "digest": digest(part), "date": date, "version": ur_admittance.__version__}


def keep(path: Path, part: str, figures: dict[str, Any]) -> None:
    """Write figures that were measured just now, on this source."""
    path.write_text(json.dumps({"evidence": stamp(part), **figures}, indent=1) + "\n", encoding="utf-8")


def older(figures: Any) -> str:
    """What is older than the present source, "core, 2026-11-16"; empty: nothing is. Rows count one by one."""
    if isinstance(figures, list):
        return next(filter(None, map(older, figures)), "")
    kept = figures.get("evidence", {})
    if not kept:
        return str(figures.get("date", ""))[:10] or "date unknown"
    part = kept["part"]
    return "" if part in PARTS and kept["digest"] == digest(part) else f"{part}, {kept['date']}"
