"""Habits of this repository: small files, and a runner of tests that hides nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LARGEST = 1_000_000  # [bytes]
QUICKLY = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # half of the time of a pytest with nothing to do


def test_no_tracked_file_is_over_a_megabyte(missing):
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z"]  # in a container the files belong to somebody else
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        missing("not a git checkout")
    files = [ROOT / name for name in listed.stdout.split("\0") if name]
    assert len(files) > 300
    assert [str(file) for file in files if file.is_file() and file.stat().st_size > LARGEST] == []


TESTS = """
import os, pathlib, pytest
KIND = os.environ["KIND"]
def first_time(name):
    path = pathlib.Path(name)
    return not path.exists() and path.write_text("") == 0
@pytest.mark.parametrize("name", ["a", "b c/[d]", "e"])
def test_flaky(name):
    assert not (name in "ab c/[d]" or KIND == "three") or not first_time(name.encode().hex())
def test_other():
    if KIND == "fails":
        assert False
    if KIND == "skips later":
        assert not first_time("skip")
        pytest.skip("no")
    if KIND == "crashes":
        os.abort()
    if KIND == "leaves":
        os._exit(0)
if KIND == "cannot be imported":
    raise RuntimeError
"""


WAITS = """
import pathlib, time
def test_the_other_runs():
    pathlib.Path("{mine}").touch()
    end = time.monotonic() + {seconds}
    while not pathlib.Path("{other}").exists():
        assert time.monotonic() < end
        time.sleep(0.05)
"""


def run_tests(folder, kind, **environment):
    (folder / "test_some.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\n")
    pytest_command = f"{sys.executable} -m pytest -q"
    command = [sys.executable, str(ROOT / "scripts" / "run_tests.py"), pytest_command, "test_some.py"]
    environment = {key: text for key, text in os.environ.items() if key != "UR_ADMITTANCE_CI"} | environment
    done = subprocess.run(
        command, cwd=folder, env=environment | QUICKLY | {"KIND": kind}, capture_output=True, text=True
    )
    return done.returncode, done.stdout.splitlines()


def test_second_tries_are_named_and_counted(tmp_path):
    code, lines = run_tests(tmp_path, "", UR_ADMITTANCE_CI="1")
    flaky = ["  test_some.py::test_flaky[a]", "  test_some.py::test_flaky[b c/[d]]"]
    assert (code, lines[-4:]) == (0, ["second tries: 2", *flaky, "4 passed, 0 failed"])


def test_three_second_tries_are_a_failure_in_ci_only(tmp_path):
    code, lines = run_tests(tmp_path, "three", UR_ADMITTANCE_CI="1")
    assert (code, lines[-6], lines[-1]) == (1, "second tries: 3", "4 passed, 0 failed")
    for mark in tmp_path.glob("6*"):
        mark.unlink()
    assert run_tests(tmp_path, "three")[0] == 0


@pytest.mark.parametrize(
    ("kind", "last"),
    [
        ("fails", "3 passed, 1 failed"),
        ("skips later", "3 passed, 1 failed"),
        ("crashes", "0 passed, 1 failed"),
        ("leaves", "0 passed, 1 failed"),
        ("cannot be imported", "0 passed, 1 failed"),
    ],
)
def test_a_second_try_excuses_nothing_else(tmp_path, kind, last):
    code, lines = run_tests(tmp_path, kind)
    assert (code, lines[-1]) == (1, last)
    assert "failed:" in lines


@pytest.mark.parametrize(("between", "seconds", "passed"), [((), 20.0, 2), (("then",), 1.0, 1)])
def test_commands_run_beside_each_other_and_those_after_then_later(tmp_path, between, seconds, passed):
    """Each of two commands waits for the other's file: one after the other, the first fails."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    for mine, other in ("ab", "ba"):
        (tmp_path / f"test_{mine}.py").write_text(WAITS.format(mine=mine, other=other, seconds=seconds))
    pytest_command = f"{sys.executable} -m pytest -q"
    parts = [pytest_command, "test_a.py", *between, f"nice {pytest_command}", "test_b.py"]
    command = [sys.executable, str(ROOT / "scripts" / "run_tests.py"), *parts]
    done = subprocess.run(command, cwd=tmp_path, env=os.environ | QUICKLY, capture_output=True, text=True)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (2 - passed, f"{passed} passed, {2 - passed} failed")
    assert sum(line.endswith(("test_a.py", "test_b.py")) and " s: " in line for line in done.stdout.splitlines()) == 2


def test_arguments_without_quotes_are_refused_before_the_first_test():
    command = [sys.executable, str(ROOT / "scripts" / "run_tests.py"), "false", "tests/a", "tests/b"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert "quote them" in done.stderr
