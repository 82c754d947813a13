"""Runs tests; what failed runs once more, alone in a process of its own, and is counted.

    python scripts/run_tests.py PYTEST ARGUMENTS [PYTEST ARGUMENTS ...] [then PYTEST ARGUMENTS ...]
    python scripts/run_tests.py ".venv/bin/python -m pytest" --ignore=tests/ros

Commands run beside each other, and the output of all but the first comes at their end; those after `then` wait until
all before it have ended.

Some tests watch real processes in real time, and a busy computer can spoil one: it may try again. A test that fails
twice is a failure, and so is a session that did not get to its end: an error while collecting, a crash, no tests. With
UR_ADMITTANCE_CI set, more than two second tries in all are a failure too, so that tests cannot rot quietly.
"""

import os
import shlex
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from json import loads
from pathlib import Path
from xml.etree import ElementTree

MOST_IN_CI = 2
MOST_TRIED = 10  # with more failures than this it is not the computer
PASSED, SOME_FAILED = 0, 1  # exit codes of pytest; all others, and signals, are sessions without an end


def session(command: list[str], shown: bool = True) -> tuple[int, list[str]] | None:
    """(passed, names of failed tests) of one run of pytest; None: it has no valid end. shown: while it runs."""
    with tempfile.TemporaryDirectory() as folder:
        report, cache = Path(folder, "report.xml"), Path(folder, "cache")
        command = [*command, f"--junitxml={report}", "-o", f"cache_dir={cache}"]
        done = subprocess.run(command, stdout=None if shown else subprocess.PIPE, text=True, check=False)
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


def stage(parts: list[tuple[str, str]]) -> list[tuple[int, list[str]] | None]:
    """Results of commands that run beside each other."""

    def run(part: tuple[str, str]) -> tuple[int, list[str]] | None:
        begin = time.monotonic()
        result = session(shlex.split(" ".join(part)), shown=part is parts[0])
        say(f"{time.monotonic() - begin:.0f} s: {' '.join(part)}")
        return result

    with ThreadPoolExecutor(len(parts)) as pool:
        return list(pool.map(run, parts))


def main(arguments: list[str]) -> int:
    stages = split(arguments)
    if any(len(stage) % 2 for stage in stages):  # before minutes of tests, not after it
        sys.exit("run_tests.py: every PYTEST needs its ARGUMENTS, as one word: quote them")
    passed, second, failed = 0, [], []
    for given in stages:
        parts = list(zip(given[::2], given[1::2], strict=True))
        for (pytest, selection), result in zip(parts, stage(parts), strict=True):
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


def split(arguments: list[str]) -> list[list[str]]:
    """At each `then`."""
    stages: list[list[str]] = [[]]
    for word in arguments:
        stages.append([]) if word == "then" else stages[-1].append(word)
    return [stage for stage in stages if stage]


def say(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
