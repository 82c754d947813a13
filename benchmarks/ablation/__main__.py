"""Each mechanism of contact, limits and motion off, one at a time, on fixed seeds.

    python -m benchmarks.ablation                          all of them, on one core; half an hour
    python -m benchmarks.ablation --only "hit observer"    one, added to what is kept

What is kept is the table of docs/how-to/campaign.md (docs/render.py --write).
Numbers of the campaign's families begin at 0, hands are the odd ones that benchmarks/hand.py reports on. Every
mechanism has a process of its own.
"""

import argparse
import ast
import hashlib
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.ablation.switch import MECHANISMS, Mechanism, switch_off
from ur_admittance.core import tick

FILE = Path(__file__).resolve().parents[2] / "docs" / "measured" / "ablation.json"
EPISODES = 24  # of each family
PRESSED, FREE = "hand against a surface", "hand in free space"  # benchmarks/hand.py, without and with --free
HANDS = {PRESSED: 40, FREE: 12}
NOTHING = "nothing"  # is off


def measure(
    mechanism: Mechanism | None, where: tuple[str, ...], episodes: int, hands: dict[str, int]
) -> dict[str, Any]:
    """In a process that has run no tick. Failures by place and check, and a digest of each command."""
    from benchmarks import hand
    from ur_admittance_lab.campaign.families import episode
    from ur_admittance_lab.campaign.run_campaign import judge
    from ur_admittance_lab.episodes import batch, simulate

    if mechanism is not None:
        switch_off(mechanism)
        batch.warm_up = lambda *_: None  # it would load the tick as it is
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


def core() -> str:
    """What was measured: a digest of the core's code, whatever its comments and docstrings."""
    code = []
    for file in sorted(Path(tick.__file__).parent.rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
                node.body = node.body[1:]
        code.append(ast.dump(tree))
    return digest("".join(code).encode())


def in_child(name: str, where: tuple[str, ...], episodes: int, hands: dict[str, int]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "found.json"
        asked = json.dumps([name, where, episodes, hands])
        subprocess.run([sys.executable, "-m", "benchmarks.ablation", "--child", asked, str(out)], check=True)
        return dict(json.loads(out.read_text()))


def compared(found: dict[str, Any], base: dict[str, Any]) -> dict[str, Any]:
    """Failures beyond those with everything on, and in how many cases anything differs."""
    more: dict[str, int] = {}
    less: dict[str, int] = {}
    cases = different = 0
    for place, result in found.items():
        plain = base[place]
        cases += len(result["digests"])
        different += sum(a != b for a, b in zip(result["digests"], plain["digests"], strict=True))
        for check in sorted(result["failures"].keys() | plain["failures"].keys()):
            change = result["failures"].get(check, 0) - plain["failures"].get(check, 0)
            if change:
                (more if change > 0 else less)[f"{place}: {check}"] = change
    return {"cases": cases, "different": different, "more": more, "less": less}


def main() -> None:
    parser = argparse.ArgumentParser(description="Each mechanism off, one at a time.")
    parser.add_argument("--only", choices=[NOTHING, *MECHANISMS], action="append")
    parser.add_argument("--episodes", type=int, default=EPISODES)
    parser.add_argument("--file", type=Path, default=FILE)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        name, where, episodes, hands = json.loads(options.child[0])
        found = measure(MECHANISMS.get(name), tuple(where), episodes, hands)
        Path(options.child[1]).write_text(json.dumps(found))
        return
    kept: dict[str, Any] = {"base": {}, "rows": {}}
    if options.file.exists():
        kept = json.loads(options.file.read_text())
    for name in options.only or [NOTHING, *MECHANISMS]:
        if name == NOTHING:
            every = tuple(dict.fromkeys(place for one in MECHANISMS.values() for place in one.where))
            kept = {
                "core": core(),
                "episodes": options.episodes,
                "base": in_child(NOTHING, every, options.episodes, HANDS),
                "rows": {},
            }
        else:
            found = in_child(name, MECHANISMS[name].where, kept["episodes"], HANDS)
            kept["rows"][name] = compared(found, kept["base"])
        options.file.write_text(json.dumps(kept, indent=1) + "\n")
        if name != NOTHING:
            print(name, kept["rows"][name], flush=True)


if __name__ == "__main__":
    main()
