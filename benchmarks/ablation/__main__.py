"""Each mechanism of contact, limits and motion off, one at a time: what fails on fixed seeds, and which tests do.

    python -m benchmarks.ablation                          all that was not measured on this core yet; 40 minutes
    python -m benchmarks.ablation --only "hit observer"    one of them, again

What is kept is the table of docs/how-to/campaign.md (docs/render.py --write).
Numbers of the campaign's families begin at 0, hands are the odd ones that benchmarks/hand.py reports on. Every
mechanism has a process of its own, which makes the library anew: one on each core.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import pytest

from benchmarks.ablation.switch import MECHANISMS
from ur_admittance_lab.episodes.batch import cores
from ur_admittance_lab.evidence import older, stamp

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "docs" / "measured" / "ablation.json"
EPISODES = 24  # of each family
PRESSED, FREE = "hand against a surface", "hand in free space"  # benchmarks/hand.py, without and with --free
HANDS = {PRESSED: 40, FREE: 12}
NOTHING = "nothing"  # is off


def measure(where: list[str], episodes: int, hands: dict[str, int]) -> dict[str, Any]:
    """Failures by place and check, and a digest of each command."""
    from benchmarks import hand
    from ur_admittance_lab.campaign.families import episode
    from ur_admittance_lab.campaign.run_campaign import judge
    from ur_admittance_lab.episodes import simulate

    found: dict[str, dict[str, Any]] = {}
    for place in where:
        failures: Counter[str] = Counter()
        digests: list[str] = []
        if place in hands:
            numbers = range(1, 1 + 2 * hands[place], 2)
            for outcome in hand.judge(numbers, 1, hand.draw_free if place == FREE else hand.draw):
                digests.append(digest(repr(outcome).encode()))
                failures["oscillates"] += place == PRESSED and outcome.bounces
                failures[outcome.stop or "-"] += 1
                failures["avoidable stop"] += outcome.stop == "OVER_FORCE" and outcome.bound < outcome.limit
                failures["damped for nothing"] += place == FREE and outcome.raised > 0.0
            del failures["-"]
        else:
            drawn = {id(one.case): one for one in (episode(place, number) for number in range(episodes))}

            def checks(case: Any, trace: Any, drawn: dict[int, Any] = drawn) -> tuple[set[str], str]:
                broken = {reading.check for reading in judge(drawn[id(case)], trace).broken}
                return broken, digest(trace.command.tobytes())

            for broken, one in simulate([one.case for one in drawn.values()], checks, threads=1):
                failures.update(broken)
                digests.append(one)
        found[place] = {"failures": {k: int(n) for k, n in sorted(failures.items()) if n}, "digests": digests}
    return found


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:8]


def failing(tests: list[str]) -> list[str]:
    """Those of the tests that fail in this process."""
    failed: list[str] = []

    class Watch:
        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if report.failed:
                failed.append(report.nodeid)

    quietly = ["-q", "--tb=no", "--timeout=0", "-p", "no:cacheprovider"]
    if tests and pytest.main([*quietly, *(str(ROOT / test) for test in tests)], plugins=[Watch()]) > 1:
        raise SystemExit(f"{', '.join(tests)}: pytest could not run them")
    return failed


def in_child(name: str, where: list[str], episodes: int, hands: dict[str, int], tests: list[str]) -> dict[str, Any]:
    """With this mechanism off, or NOTHING: {"places": measure(), "tests": failing()}"""
    with tempfile.TemporaryDirectory() as folder:
        out, environment = Path(folder) / "found.json", dict(os.environ)
        if name != NOTHING:
            copy = MECHANISMS[name].switch_off(Path(folder))
            environment["PYTHONPATH"] = os.pathsep.join([str(copy), str(ROOT)])
            environment["UR_ADMITTANCE_CACHE"] = folder
        asked = json.dumps([where, episodes, hands, tests])
        command = [sys.executable, "-m", "benchmarks.ablation", "--child", asked, str(out)]
        subprocess.run(command, env=environment, cwd=ROOT, check=True)
        return dict(json.loads(out.read_text()))


def child(asked: str, out: str) -> None:
    where, episodes, hands, tests = json.loads(asked)
    found = {"tests": failing(tests), "places": measure(where, episodes, hands)}
    Path(out).write_text(json.dumps(found))


def compared(found: dict[str, Any], base: dict[str, Any]) -> dict[str, Any]:
    """Failures beyond those with everything on, in how many cases anything differs, and the tests that fail."""
    more: dict[str, int] = {}
    less: dict[str, int] = {}
    cases = different = 0
    for place, result in found["places"].items():
        plain = base[place]
        cases += len(result["digests"])
        different += sum(a != b for a, b in zip(result["digests"], plain["digests"], strict=True))
        for check in sorted(result["failures"].keys() | plain["failures"].keys()):
            change = result["failures"].get(check, 0) - plain["failures"].get(check, 0)
            if change:
                (more if change > 0 else less)[f"{place}: {check}"] = change
    return {"cases": cases, "different": different, "more": more, "less": less, "tests": found["tests"]}


def main() -> None:
    parser = argparse.ArgumentParser(description="Each mechanism off, one at a time.")
    parser.add_argument("--only", choices=MECHANISMS, action="append")
    parser.add_argument("--episodes", type=int, default=EPISODES)
    parser.add_argument("--file", type=Path, default=FILE)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(*options.child)
        return
    kept: dict[str, Any] = json.loads(options.file.read_text()) if options.file.exists() else {}
    if not kept or older(kept):
        every = list(dict.fromkeys(place for one in MECHANISMS.values() for place in one.where))
        base = in_child(NOTHING, every, options.episodes, HANDS, [])["places"]
        kept = {"evidence": stamp("core"), "episodes": options.episodes, "base": base, "rows": {}}
    todo = options.only or [name for name in MECHANISMS if name not in kept["rows"]]
    with ThreadPoolExecutor(cores()) as pool:
        children = {
            pool.submit(in_child, name, one.where, kept["episodes"], HANDS, one.tests): name
            for name, one in MECHANISMS.items()
            if name in todo
        }
        try:
            for done in as_completed(children):
                kept["rows"][children[done]] = compared(done.result(), kept["base"])
                kept["rows"] = {name: kept["rows"][name] for name in MECHANISMS if name in kept["rows"]}
                options.file.write_text(json.dumps(kept, indent=1) + "\n")
                print(children[done], kept["rows"][children[done]], flush=True)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


if __name__ == "__main__":
    main()
