"""Switching a mechanism off: a copy of the source in which its text is changed.

The product has no switch for it. A process that finds the copy first makes a library of it: a library belongs to the
digest of its text.
"""

import ast
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

SOURCE = Path(__file__).parents[2] / "src"
CORE = Path("ur_admittance/core")


@dataclass(frozen=True)
class Mechanism:
    """An entry of mechanisms.yaml, which explains the fields."""

    without: str
    where: list[str]
    constants: dict[str, Any] = field(default_factory=dict)
    edits: dict[str, list[list[str]]] = field(default_factory=dict)
    tests: list[str] = field(default_factory=list)
    kept: str = ""

    def files(self) -> dict[Path, str]:
        """Those of the source that change, as they are without the mechanism."""
        found: dict[Path, str] = {}
        for path, value in self.constants.items():
            change(found, path, partial(assigned, value=value))
        for path, edits in self.edits.items():
            change(found, path, partial(edited, path=path, edits=edits))
        return found

    def switch_off(self, folder: Path) -> Path:
        """A copy of the source without it."""
        copy = folder / "src"
        shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__", "native"))
        for file, text in self.files().items():
            (copy / file).write_text(text, encoding="utf-8")
        return copy


MECHANISMS = {
    name: Mechanism(**entry)
    for name, entry in YAML(typ="safe").load(Path(__file__).with_name("mechanisms.yaml")).items()
}


def change(files: dict[Path, str], path: str, how: Callable[[str], str]) -> None:
    """The text of a function or a constant, core.<path>, in files: those that have changed already."""
    module, _, name = path.rpartition(".")
    file = CORE / f"{module.replace('.', '/')}.py"
    text = files.get(file) or (SOURCE / file).read_text(encoding="utf-8")
    found = [node for node in ast.parse(text).body if name in names(node)]
    if len(found) != 1:
        raise LookupError(f"core.{path} is defined {len(found)} times: the mechanism has changed")
    lines, begin, end = text.splitlines(keepends=True), found[0].lineno - 1, found[0].end_lineno
    files[file] = "".join([*lines[:begin], how("".join(lines[begin:end])), *lines[end:]])


def names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return [node.name] if isinstance(node, ast.FunctionDef) else []


def assigned(text: str, value: Any) -> str:
    """Another value; a list as a tuple, which kernels know."""
    new = repr(tuple(value) if isinstance(value, list) else value).replace("inf", "float('inf')")
    return f"{text.partition(' = ')[0]} = {new}\n"


def edited(text: str, path: str, edits: list[list[str]]) -> str:
    for old, new in edits:
        if old not in text:
            raise LookupError(f"core.{path} has no {old!r}: the mechanism has changed")
        text = text.replace(old, new)
    return text
