"""Runs tests; what failed runs once more, alone in a process of its own, and is counted.

    python scripts/run_tests.py PYTEST ARGUMENTS [PYTEST ARGUMENTS ...]
    python scripts/run_tests.py ".venv/bin/python -m pytest" --ignore=tests/ros

Commands run one after the other; one that begins with `nice` runs beside them, in the time they leave, and its output
comes at its end.

Some tests watch real processes in real time, and a busy computer can spoil one: it may try again. A test that fails
twice is a failure, and so is a session that did not get to its end: an error while collecting, a crash, no tests. With
UR_ADMITTANCE_CI set, more than two second tries in all are a failure too, so that tests cannot rot quietly.
"""

import os
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from json import loads
from pathlib import Path
from xml.etree import ElementTree

MOST_IN_CI = 2
MOST_TRIED = 10  # with more failures than this it is not the computer
PASSED, SOME_FAILED = 0, 1  # exit codes of pytest; all others, and signals, are sessions without an end


def session(command: list[str]) -> tuple[int, list[str]] | None:
    """(passed, names of failed tests) of one run of pytest; None: it has no valid end."""
    with tempfile.TemporaryDirectory() as folder:
        report, cache = Path(folder, "report.xml"), Path(folder, "cache")
        command = [*command, f"--junitxml={report}", "-o", f"cache_dir={cache}"]
        done = subprocess.run(command, stdout=subprocess.PIPE if beside(command[0]) else None, text=True, check=False)
        code = done.returncode
        if done.stdout:
            say(done.stdout)
        if code not in (PASSED, SOME_FAILED) or not report.exists():  # pytest writes the report when it is done
            return None
        counts = [suite.attrib for suite in ElementTree.parse(report).iter("testsuite")]
        total, *others = (
            sum(int(count[kind]) for count in counts) for kind in ("tests", "failures", "errors", "skipped")
        )
        failed = cache / "v" / "cache" / "lastfailed"
        names = list(loads(failed.read_text())) if failed.exists() else []
        return None if (code == PASSED) != (not names) else (total - sum(others), names)


def main(arguments: list[str]) -> int:
    if len(arguments) % 2:  # before minutes of tests, not after it
        sys.exit("run_tests.py: every PYTEST needs its ARGUMENTS, as one word: quote them")
    parts = list(zip(arguments[::2], arguments[1::2], strict=True))
    with ThreadPoolExecutor(1) as patient, ThreadPoolExecutor(1) as prompt:
        sessions = [
            (patient if beside(pytest) else prompt).submit(session, [*shlex.split(pytest), *shlex.split(selection)])
            for pytest, selection in parts
        ]
    passed, second, failed = 0, [], []
    for (pytest, selection), done in zip(parts, sessions, strict=True):
        result = done.result()
        if result is None:
            failed.append(f"{pytest} {selection}: did not get to its end")
            continue
        passed += result[0]
        for name in result[1]:
            again = len(result[1]) <= MOST_TRIED and session([*shlex.split(pytest), name]) == (1, [])
            (second if again else failed).append(name)
    if failed:
        say("", "failed:", *(f"  {name}" for name in failed))
    say(f"second tries: {len(second)}", *(f"  {name}" for name in second))
    too_many = len(second) > MOST_IN_CI and bool(os.environ.get("UR_ADMITTANCE_CI"))
    if too_many:
        say(f"more than {MOST_IN_CI} second tries are a failure in CI")
    say(f"{passed + len(second)} passed, {len(failed)} failed")
    return 1 if failed or too_many else 0


def beside(command: str) -> bool:
    return command.startswith("nice")


def say(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
