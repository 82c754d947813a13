"""Breaks the program on purpose, one small change at a time, and counts which changes no test notices.

    python scripts/mutants.py core control params/record.py --count 30 --seed 1
    python scripts/mutants.py core --tests v0.1                            the same changes, the tests of another commit

A change: a comparison turned round, + for -, * for /, `and` for `or`, a condition negated, a number doubled, a call or
an assignment left out. Files and folders are given from src/ur_admittance; each gets `--count` changes. The work is
done in a copy of the repository. To compile a changed core takes longer than most tests, so there the kernels run as
plain Python (UR_ADMITTANCE_PLAIN=1), with the tests that need little time that way. Tests that noticed a change are the
first to be tried on the next.
"""

import argparse
import ast
import io
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("src/ur_admittance")
TESTS = {
    "core": ["tests/core", "tests/robots/simulated/test_live_changes.py", "tests/control/test_life_cycle.py"],
    "control": [
        "tests/control",
        "tests/core/test_faults.py",
        "tests/core/test_fusion.py",
        "tests/calibration/test_zeroing.py",
    ],
    "params": ["tests/params", "tests/core/test_condition.py", "tests/core/test_admittance.py"],
}
PLAIN = {"core", "params"}  # whose tests run without the compiler
TEST_S = 1.0  # of processor time: longer tests are left out
COMPILE_S = 600.0  # where kernels are compiled, a changed one is compiled anew
LONG_S = 300.0  # for all tests of the changed file, if the quick ones have noticed nothing
HANGING = 4.0  # times as long as without a change, plus START_S: the change made a loop endless
START_S = 60.0
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
        elif (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)) or (
            isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute | ast.Subscript)
        ):
            yield node, "leave out"


def change(node: ast.AST, how: str) -> None:
    if how == "negate":
        assert isinstance(node, ast.If)
        node.test = ast.UnaryOp(ast.Not(), node.test)
    elif how == "double":
        assert isinstance(node, ast.Constant)
        node.value *= 2.0  # type: ignore[operator]
    elif how == "leave out":
        assert isinstance(node, ast.Expr | ast.Assign)
        node.__class__, node.value = ast.Expr, ast.Constant(None)  # type: ignore[assignment]
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


class Suite:
    """The tests of one folder that pass without a change and are quick."""

    def __init__(self, copy: Path, folder: str):
        self.copy, self.plain = copy, folder in PLAIN
        self.log = copy / "tried.txt"
        tests = [name for name in TESTS[folder] if (copy / name).exists()]
        if not self.plain:
            self.run(tests)  # compiles
        self.run([*tests, "--tb=native", f"--limit={TEST_S}"])
        self.seconds = {test: float(time) for outcome, time, test in self.tried() if outcome == "passed"}
        self.kills: Counter[str] = Counter()
        self.limit_s = HANGING * sum(self.seconds.values()) + (START_S if self.plain else COMPILE_S)

    def run(self, arguments: list[str], limit_s: float | None = None) -> int:
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(map(str, (self.copy / "src", self.copy, Path(__file__).parent))),
            "PYTHONDONTWRITEBYTECODE": "1",
            "UR_ADMITTANCE_PLAIN": str(int(self.plain)),
            "UR_ADMITTANCE_CACHE": str(self.copy / "compiled"),
            "TRIED": str(self.log),
        }
        self.log.write_text("")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "mutants", "--timeout=0"]
        # Processor time, not the clock's: a busy computer must not decide.
        limit = limit_s and (lambda: resource.setrlimit(resource.RLIMIT_CPU, (int(limit_s), int(limit_s))))
        done = subprocess.run(
            [*command, *arguments], cwd=self.copy, env=environment, capture_output=True, preexec_fn=limit or None
        )
        return done.returncode

    def tried(self) -> list[list[str]]:
        return [line.split(" ", 2) for line in self.log.read_text().splitlines()]

    def killed_by(self, file: str) -> str:
        """The first test that notices, empty: none does."""
        stem = Path(file).stem
        order = sorted(self.seconds, key=lambda test: (stem not in test, -self.kills[test], self.seconds[test]))
        if self.run(["-x", *order], self.limit_s) == 0:
            own = f"tests/core/test_{stem}.py"  # with those that take longer
            return own if (self.copy / own).exists() and self.run(["-x", own], LONG_S) == 1 else ""
        tried = self.tried()
        test = tried[-1][2] if tried and tried[-1][0] == "failed" else "the start or the end of the tests"
        self.kills[test] += 1
        return test


def pytest_addoption(parser):  # type: ignore[no-untyped-def]  # this file is the plugin of its own runs, too
    parser.addoption("--limit", type=float, default=0.0, help="processor time of a test [s]")


def pytest_runtest_protocol(item):  # type: ignore[no-untyped-def]
    def give_up(*_: object) -> None:
        raise TimeoutError("takes too long")

    signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, item.config.getoption("--limit"))


def pytest_runtest_logreport(report):  # type: ignore[no-untyped-def]
    if report.when == "call" or report.outcome == "failed":
        with Path(os.environ["TRIED"]).open("a") as log:
            log.write(f"{report.outcome} {report.duration:.3f} {report.nodeid}\n")


def places_of(name: str) -> list[tuple[str, int]]:
    path = ROOT / PACKAGE / name
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return [
        (str(file.relative_to(ROOT / PACKAGE)), index)
        for file in files
        for index in range(len(list(sites(ast.parse(file.read_text())))))
    ]


def copied(folder: Path, commit: str) -> Path:
    """The repository, with the tests of another commit if one is given."""
    copy = folder / "copy"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv*", "site", ".mypy_cache", "__pycache__"))
    if commit:
        shutil.rmtree(copy / "tests")
        archive = subprocess.run(["git", "archive", commit, "tests"], cwd=ROOT, check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(copy, filter="data")
    return copy


def tell(*words: object) -> None:
    print(*words, flush=True)  # noqa: T201


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", help="files or folders of the package")
    parser.add_argument("--count", type=int, default=20, help="changes of each, drawn at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tests", default="", metavar="COMMIT", help="use the tests of that commit")
    parser.add_argument("--skip", type=Path, help="output of an earlier run: try only what survived there")
    options = parser.parse_args()
    known = options.skip.read_text().splitlines() if options.skip else []
    scores = []
    with tempfile.TemporaryDirectory() as folder:
        copy = copied(Path(folder), options.tests)
        for name in options.names:
            suite = Suite(copy, name.split("/")[0])
            tell(f"{name}: {len(suite.seconds)} tests of {sum(suite.seconds.values()):.0f} s")
            places = places_of(name)
            chosen = random.Random(options.seed).sample(places, min(options.count, len(places)))
            killed = 0
            for file, index in chosen:
                target = copy / PACKAGE / file
                original = target.read_text()
                text, words = mutant(original, index)
                if any(line.startswith("killed") and f" {file}:{words}" in line for line in known):
                    killed += 1
                    continue
                target.write_text(text)
                test = suite.killed_by(file)
                target.write_text(original)
                killed += bool(test)
                tell(f"{'killed  ' if test else 'SURVIVED'} {file}:{words}" + f"    by {test}" * bool(test))
            scores.append(f"{name}: {killed} of {len(chosen)} noticed, {100 * killed / len(chosen):.0f} %")
            tell(f"{scores[-1]}; {len(places)} changes are possible")
    tell("\n".join(scores))


if __name__ == "__main__":
    main()
