"""Every contact case with this controller and with plain admittance, as one table and figures.

python -m benchmarks.contact                             about ten minutes
python -m benchmarks.contact --quick                     few seeds: a minute or two
python -m benchmarks.contact --out docs/assets/contact   what the page about contact shows

Ends with 1 when a target is not met.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from benchmarks.contact import boundary, cases
from benchmarks.contact.cases import HEAVY_FILTER, PLAIN, PLAIN_SEEDS, Row, outcome
from ur_admittance import figures
from ur_admittance.analysis.axis_loop import loop_of
from ur_admittance.params import Parameters
from ur_admittance_lab.evidence import keep
from ur_admittance_lab.stability.stability_map import save

FULL = {"seeds": 5, "starts": 100, "minutes": 10.0}
QUICK = {"seeds": 2, "starts": 5, "minutes": 1.0}


def measure(quick: bool = False, say: Callable[[str], None] = lambda text: None) -> dict[str, Any]:
    """Every row, and the table of least damping."""
    size = QUICK if quick else FULL
    seeds = range(int(size["seeds"]))
    rows = [
        *cases.contact(seeds, say),
        *cases.following(seeds, say),
        *cases.peg(int(size["starts"]), say),
        *cases.feel(seeds, say),
        *cases.guiding(seeds, size["minutes"], say),
        *cases.pressed_by_hand(seeds, say),
    ]
    cells = boundary.table(say)
    return {"seeds": len(seeds), "rows": rows, "cells": cells}


def as_dict(result: dict[str, Any]) -> dict[str, Any]:
    rows = [asdict(row) | {"worst": row.worst, "met": row.met} for row in result["rows"]]
    cells = [asdict(cell) | {"error_percent": cell.error} for cell in result["cells"]]
    return {"seeds": result["seeds"], "rows": rows, "least_damping": cells}


def markdown(result: dict[str, Any]) -> str:
    """The two tables of the page."""
    lines = [
        f"Worst of {result['seeds']} seeds (plain admittance: of {min(PLAIN_SEEDS, result['seeds'])}, and a fifth of "
        "the starts); 10 ms delay, 25 Hz servo, 0.1 N of noise. From `python -m benchmarks.contact`.",
        "",
        "| case | figure | this controller | plain admittance | wanted |",
        "|---|---|---|---|---|",
    ]
    lines += [_line(row) for row in result["rows"]]
    lines += [
        "",
        "Least stable damping [Ns/m] on a floor (M = 8 kg, K = 0, no stabiliser), simulated and from the eigenvalues.",
        "",
        "| delay, weight of the old sample, servo | surface | simulated | predicted | error |",
        "|---|---|---|---|---|",
    ]
    for cell in result["cells"]:
        robot = f"{1e3 * cell.delay:g} ms, {cell.old:g}, {cell.servo_hz:g} Hz"
        surface = f"{cell.stiffness / 1e3:g} kN/m"
        lines.append(f"| {robot} | {surface} | {cell.simulated:.3g} | {cell.predicted:.3g} | {cell.error:+.1f} % |")
    return "\n".join(lines) + "\n"


def numbers(result: dict[str, Any]) -> dict[str, dict[str, dict[str, float]]]:
    """Worst values, for pages that quote them: wall_10_kN_m, overshoot, ours."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for row in result["rows"]:
        case, figure = (re.sub(r"\W+", "_", text) for text in (row.case, row.figure))
        found.setdefault(case, {})[figure] = {"ours": row.worst} | ({"plain": _plain(row)} if row.plain else {})
    return found


def _plain(row: Row) -> float:
    return min(row.plain) if row.at_least else max(row.plain)


def _line(row: Row) -> str:
    def text(value: float) -> str:
        return f"{value:.2g} {row.unit}".strip() if abs(value) < 10 else f"{value:.0f} {row.unit}".strip()

    plain = text(_plain(row)) if row.plain else ""
    bound = "at least" if row.at_least else "at most"
    wanted = "" if row.target is None else f"{bound} {row.target:g} {row.unit}".strip()
    verdict = "" if row.met is None else (" ✓" if row.met else " ✗")
    return f"| {row.case} | {row.figure} | {text(row.worst)}{verdict} | {plain} | {wanted} |"


def figure() -> Figure:
    """The first seconds on a wall of 10 and 100 kN/m, from D = 80 Ns/m with a heavy filter."""
    picture, rows = figures.panels((9, 6), 2, sharex=True)
    for ax, stiffness in zip(rows, (1e4, 1e5), strict=True):
        for changes, label, colour in ((PLAIN, "plain admittance", "tab:red"), ({}, "this controller", "tab:blue")):
            trace = outcome("wall", 0, changes | HEAVY_FILTER, stiffness=stiffness, hold=3.0).trace
            ax.plot(trace.t, -trace.contact[:, 0], color=colour, linewidth=1.2, label=label)
        ax.axhline(10.0, color="black", linewidth=0.8, linestyle="--")
        ax.set_ylabel("force [N]")
        ax.set_title(f"wall of {stiffness / 1e3:g} kN/m", fontsize=10)
        ax.set_xlim(0.5, 4.5)
        ax.grid(alpha=0.3)
    rows[0].legend(loc="upper right", fontsize=9)
    rows[-1].set_xlabel("time [s]")
    return picture


def write(result: dict[str, Any], folder: Path) -> list[Path]:
    """The table, in Markdown, its numbers by case and figure, and the pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    keep(folder / "contact.json", "core", numbers(result))
    (folder / "contact_table.txt").write_text(markdown(result), encoding="utf-8")
    figure().savefig(folder / "bounce.svg")
    defaults = Parameters().changed({"robot.response_time": 0.0164})
    save(loop_of(defaults), "default parameters", folder / "stability_map.svg")
    return [folder / name for name in ("contact_table.txt", "contact.json", "bounce.svg", "stability_map.svg")]


def main() -> int:
    parser = argparse.ArgumentParser(description="Contact, following, insertion, feel, against plain admittance.")
    parser.add_argument("--out", type=Path, help="folder for the table (Markdown) and the figures")
    parser.add_argument("--quick", action="store_true", help="few seeds")
    parser.add_argument("--json", action="store_true", help="print every figure as JSON")
    arguments = parser.parse_args()
    result = measure(arguments.quick, lambda text: print(text, file=sys.stderr))
    print(json.dumps(as_dict(result), indent=2) if arguments.json else markdown(result))
    if arguments.out is not None:
        for path in write(result, arguments.out):
            print(f"written: {path}", file=sys.stderr)
    return 1 if any(row.met is False for row in result["rows"]) else 0


if __name__ == "__main__":
    sys.exit(main())
