"""A long campaign put together from its pieces: what `ur-admittance campaign --json` printed, one file each.

ur-admittance campaign --seed 0 --episodes 2500 --json > piece_0.json        numbers 0 to 249 of each family
ur-admittance campaign --seed 250 --episodes 2500 --json > piece_1.json      ... and so on: any machine, any order
python -m benchmarks.campaign piece_*.json                                   counts and causes of all pieces
python -m benchmarks.campaign piece_*.json --write                           what the page about campaigns shows
"""

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

KEPT = Path(__file__).resolve().parents[1] / "docs" / "measured" / "campaign.json"


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
        "episodes": dict(episodes),
        "cycles": dict(cycles),
        "total_cycles": cycles.total(),
        "total_episodes": episodes.total(),
        "hours": sum(piece["seconds"] for piece in pieces) / 3600.0,
        "cpu_share_of_checks": sum(p["check_seconds"] for p in pieces) / sum(p["seconds"] for p in pieces),
        "checks": checks,
        "findings": [[*key, number] for key, number in sorted(findings.items(), key=lambda entry: -entry[1])],
        "stops": [[*key, number] for key, number in sorted(stops.items(), key=lambda entry: -entry[1])],
    }


def share(worst: dict[str, Any]) -> float:
    bound, value = float(worst["bound"]), float(worst["value"])
    return value / bound if bound > 0.0 else (float("inf") if value > 0.0 else 0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pieces", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help=f"keep the sums in {KEPT.name}")
    arguments = parser.parse_args()
    result = merged([json.loads(piece.read_text()) for piece in arguments.pieces])
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
        KEPT.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
