"""Breaks the program on purpose, one small change at a time, and counts which changes no test notices.

    python scripts/mutants.py control params/record.py --count 40 --seed 1

A change: a comparison turned round, + for -, * for /, `and` for `or`, a condition negated, a number doubled. Files are
given from src/ur_admittance; each has its tests below. The work is done in a copy of the repository.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("src/ur_admittance")
TESTS = {  # the first whose name begins the file's
    "core/spatial.py": ["tests/core/test_spatial.py"],
    "core/quadratic.py": ["tests/core/test_quadratic.py", "tests/core/test_choose.py"],
    "core/": ["tests/core"],
    "control/": ["tests/control", "tests/core/test_faults.py", "tests/calibration/test_zeroing.py"],
    "params/": ["tests/params", "tests/core/test_wrench.py", "tests/core/test_law.py"],
}
TIMEOUT_S = 1800.0  # a changed core is compiled anew
SWAPS: dict[type, type] = {
    ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


def sites(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Every node that can be changed, and how; none inside annotations, docstrings and texts."""
    for node in ast.walk(tree):
        if (isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS) or (
            isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp) and type(node.op) in SWAPS
        ):
            yield node, "swap"
        elif isinstance(node, ast.If):
            yield node, "negate"
        elif isinstance(node, ast.Constant) and type(node.value) is float and node.value != 0.0:
            yield node, "double"


def change(node: ast.AST, how: str) -> None:
    if how == "negate":
        assert isinstance(node, ast.If)
        node.test = ast.UnaryOp(ast.Not(), node.test)
    elif how == "double":
        assert isinstance(node, ast.Constant)
        node.value *= 2.0  # type: ignore[operator]
    elif isinstance(node, ast.Compare):
        node.ops[0] = SWAPS[type(node.ops[0])]()
    else:
        node.op = SWAPS[type(node.op)]()  # type: ignore[attr-defined]


def mutant(text: str, index: int) -> tuple[str, str]:
    """(the changed file, what was changed)."""
    tree = ast.parse(text)
    node, how = list(sites(tree))[index]
    before = ast.unparse(node).splitlines()[0]
    change(node, how)
    after = ast.unparse(node).splitlines()[0]
    return ast.unparse(ast.fix_missing_locations(tree)), f"{node.lineno}: {before}  ->  {after}"  # type: ignore[attr-defined]


def killed(copy: Path, file: str) -> bool:
    """Whether a test fails, or does not end."""
    tests = next(tests for name, tests in TESTS.items() if file.startswith(name))
    environment = os.environ | {"PYTHONPATH": f"{copy / 'src'}{os.pathsep}{copy}", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--timeout", "900", *tests]
    try:
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", help="files or folders of the package")
    parser.add_argument("--count", type=int, default=20, help="changes to try, drawn at random")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    files = []
    for name in options.files:
        path = ROOT / PACKAGE / name
        files += sorted(path.rglob("*.py")) if path.is_dir() else [path]
    places = [
        (str(path.relative_to(ROOT / PACKAGE)), index)
        for path in files
        for index in range(len(list(sites(ast.parse(path.read_text())))))
    ]
    chosen = random.Random(options.seed).sample(places, min(options.count, len(places)))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv*", "site", ".mypy_cache"))
        survivors = 0
        for file, index in chosen:
            target = copy / PACKAGE / file
            original = target.read_text()
            text, words = mutant(original, index)
            target.write_text(text)
            dead = killed(copy, file)
            target.write_text(original)
            survivors += not dead
            print(f"{'killed  ' if dead else 'SURVIVED'} {file}:{words}", flush=True)  # noqa: T201
    print(f"{len(chosen) - survivors} of {len(chosen)} changes were noticed ({len(places)} are possible)")  # noqa: T201


if __name__ == "__main__":
    main()
