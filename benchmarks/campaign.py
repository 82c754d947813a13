"""A long campaign in pieces, what `ur-admittance campaign --json` printed, one file each, and their sum.

python -m benchmarks.campaign --cycles 100e6 --write    runs pieces, in out/campaign, until there are as many cycles;
                                                        interrupted, it goes on with the next piece
ur-admittance campaign --seed 250 --episodes 2600 --json > piece_250.json    or by hand: any machine, any order
python -m benchmarks.campaign piece_*.json                                   counts and causes of all pieces
python -m benchmarks.campaign piece_*.json --write                           what the page about campaigns shows
"""

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from ur_admittance_lab.campaign import FAMILIES
from ur_admittance_lab.evidence import digest, older

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "docs" / "measured" / "campaign.json"
CHANGING = "parameters"  # the family that has a paragraph of its own
PIECE = 100  # episodes of each family


def pieces_of(cycles: float, first: int) -> list[Path]:
    """Run what is missing of a campaign of that many cycles; its pieces."""
    folder = ROOT / "out" / "campaign" / digest("campaign")
    folder.mkdir(parents=True, exist_ok=True)
    done, start, before = 0, time.monotonic(), 0  # cycles, [s], cycles of an earlier run
    pieces: list[Path] = []
    for number in range(first, first + 10**9, PIECE):
        if done >= cycles:
            return pieces
        path, part = folder / f"piece_{number}.json", folder / "unfinished"
        if not path.exists():
            options = ["--seed", str(number), "--episodes", str(PIECE * len(FAMILIES)), "--json"]
            with part.open("w") as out:
                code = subprocess.call([sys.executable, "-m", "ur_admittance", "campaign", *options], stdout=out)
            if code not in (0, 1):  # 1: it has findings
                raise SystemExit(f"benchmarks.campaign: piece {number} ended with {code}.")
            part.rename(path)
            done += json.loads(path.read_text())["cycles"]
            left = (time.monotonic() - start) * max(cycles - done, 0.0) / (done - before)
            print(f"{done:.3g} of {cycles:.3g} cycles, {left / 60.0:.0f} min left", file=sys.stderr, flush=True)
        else:
            done += json.loads(path.read_text())["cycles"]
            before = done
        pieces.append(path)
    raise AssertionError


def circumstances(finding: dict[str, Any]) -> str:
    """What was going on, in a word or two: the strongest of what the finding tells."""
    during = finding["during"]
    if "INTERNAL_ERROR" in during:
        return "integrator diverged"
    if "SINGULARITY" in during:
        return "near a singularity"
    if finding["check"].endswith("_stopping"):
        return "braking along the joints"
    if "JOINT_POSITION" in during:
        return "before a joint limit"
    if "JOINT_ACCELERATION" in during:
        return "joint acceleration limits"
    return "-"


def merged(pieces: list[dict[str, Any]]) -> dict[str, Any]:
    """Sums, and the worst reading of each check with its episode. Pieces must not overlap."""
    if len({piece.get("evidence", {}).get("digest") for piece in pieces}) > 1:
        raise SystemExit("benchmarks.campaign: the pieces are of different source.")
    firsts = [piece["first_number"] for piece in pieces]
    if len(set(firsts)) < len(firsts):
        raise SystemExit("benchmarks.campaign: two pieces have the same first number.")
    episodes: Counter[str] = Counter()
    cycles: Counter[str] = Counter()
    checks: dict[str, dict[str, Any]] = {}
    findings: Counter[tuple[str, str, str]] = Counter()
    stops: Counter[tuple[str, str]] = Counter()
    for piece in pieces:
        episodes.update(piece["episodes"])
        cycles.update(piece["family_cycles"])
        for finding in piece["findings"]:
            findings[finding["check"], finding["family"], circumstances(finding)] += 1
        for family, names in piece["stops"].items():
            stops.update({(family, name): number for name, number in names.items()})
        for family, tallies in piece["checks"].items():
            for check, tally in tallies.items():
                row = checks.setdefault(check, {"failures": {}, "readings": 0, "worst": None})
                row["readings"] += tally["readings"]
                row["failures"][family] = row["failures"].get(family, 0) + tally["failures"]
                worst = tally["worst"] | {"episode": f"{family}:{tally['worst']['number']}"}
                if row["worst"] is None or share(worst) > share(row["worst"]):
                    row["worst"] = worst
    return {
        "evidence": pieces[0].get("evidence", {}),
        "episodes": dict(episodes),
        "cycles": dict(cycles),
        "total_cycles": cycles.total(),
        "million_cycles": cycles.total() / 1e6,
        "total_episodes": episodes.total(),
        "hours": sum(piece["seconds"] for piece in pieces) / 3600.0,
        "cpu_share_of_checks": sum(p["check_seconds"] for p in pieces) / sum(p["seconds"] for p in pieces),
        "checks": checks,
        "findings": [[*key, number] for key, number in sorted(findings.items(), key=lambda entry: -entry[1])],
        "stops": [[*key, number] for key, number in sorted(stops.items(), key=lambda entry: -entry[1])],
    }


def of_family(name: str, pieces: list[dict[str, Any]]) -> dict[str, Any]:
    """Failures and the worst reading of each check in one family."""
    keys = ("episodes", "family_cycles", "checks", "stops")
    sums = merged([piece | {key: {name: piece[key][name]} for key in keys} for piece in pieces])
    checks = {check: row | {"failures": row["failures"][name]} for check, row in sums["checks"].items()}
    counts = {"episodes": sums["total_episodes"], "cycles": sums["total_cycles"]}
    return {"evidence": sums["evidence"], **counts, "checks": checks}


def share(worst: dict[str, Any]) -> float:
    bound, value = float(worst["bound"]), float(worst["value"])
    return value / bound if bound > 0.0 else (float("inf") if value > 0.0 else 0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pieces", nargs="*", type=Path)
    parser.add_argument("--cycles", type=float, help="run the pieces first, until there are as many cycles")
    parser.add_argument("--seed", type=int, default=1_000_000, help="number of the first episode of each family")
    parser.add_argument("--write", action="store_true", help=f"keep the sums in {KEPT.name}")
    arguments = parser.parse_args()
    paths = arguments.pieces or pieces_of(arguments.cycles or 0.0, arguments.seed)
    if not paths:
        parser.error("pieces, or --cycles")
    pieces = [json.loads(path.read_text()) for path in paths]
    result = merged(pieces)
    print(f"{result['total_episodes']} episodes, {result['total_cycles']} cycles, {result['hours']:.1f} h")
    for check, row in result["checks"].items():
        failed = {family: number for family, number in row["failures"].items() if number}
        w = row["worst"]
        print(f"{check:30} {w['value']:10.4g} of {w['bound']:8.3g} {w['unit']:7} {w['episode']:16} {failed}")
    for check, family, why, number in result["findings"]:
        print(f"{number:6} {check:30} {family:11} {why}")
    for family, name, number in result["stops"]:
        print(f"{number:6} stops in {family} by {name}")
    if arguments.write:
        for path, kept in ((KEPT, result), (KEPT.with_stem("campaign_parameters"), of_family(CHANGING, pieces))):
            path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        if old := older(result):
            print(f"measured on an older {old}", file=sys.stderr)


if __name__ == "__main__":
    main()
