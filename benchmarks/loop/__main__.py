"""Measure what the page "Real time in Python" tells.

python -m benchmarks.loop                 about one minute; quiet machine, please
python -m benchmarks.loop --seconds 60    longer, for rare events
python -m benchmarks.loop --write         also docs/measured/realtime.{json,txt}, which the page shows
"""

import argparse
import datetime
import sys
from pathlib import Path
from typing import Any

from benchmarks.loop.steps import all_steps
from benchmarks.loop.variants import VARIANTS, measure
from benchmarks.machine import machine
from ur_admittance_lab.evidence import keep

MEASURED = Path(__file__).resolve().parents[2] / "docs" / "measured"


def table(result: dict[str, Any]) -> str:
    lines = [f"{result['date']}  {result['machine']}", "", f"500 Hz for {result['seconds']:g} s each; times in us", ""]
    head = f"{'loop':48}{'late p50':>9}{'p99':>7}{'longest period':>16}"
    lines.append(f"{head}{'publish p99':>13}{'max':>9}{'missed':>8}{'stalls':>8}")
    for row in result["loop"].values():
        cells = f"{row['late_p50']:9.0f}{row['late_p99']:7.0f}{row['period_max']:16.0f}"
        cells += f"{row['publish_p99']:13.0f}{row['publish_max']:9.0f}"
        lines.append(f"{row['title']:48}{cells}{row['missed']:8.0f}{row['stalls']:8.0f}")
    titles = {
        "by_name": "12 readings, searched by name",
        "by_index": "12 readings, by remembered index",
        "by_view": "12 readings, views of the record",
        "inverse_each_time": "law on six axes, NumPy, M inverted in every cycle",
        "fresh": "law on six axes, NumPy, fresh arrays",
        "in_place": "law on six axes, NumPy, arrays made before",
        "whole_tick": "the whole compiled tick, called from Python",
        "ring": "a cycle told through the ring",
        "text": "six of its fields as JSON text",
        "shared": "six numbers to the next stage, shared array",
        "message": "six numbers to the next stage, as a message",
    }
    lines += ["", f"{'one step':56}{'us':>8}"]
    lines += [f"{titles[key]:56}{value:8.2f}" for group in result["steps"].values() for key, value in group.items()]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the loop with one precaution at a time taken away.")
    parser.add_argument("--seconds", type=float, default=6.0, help="per variant")
    parser.add_argument("--write", action="store_true", help="store the result for the documentation")
    arguments = parser.parse_args()
    result = {
        "command": "python -m benchmarks.loop --write",
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": machine(),
        "seconds": arguments.seconds,
        "steps": all_steps(),
        "loop": {
            key: {"title": title, **measure(arguments.seconds, **options)} for key, (title, options) in VARIANTS.items()
        },
    }
    print(table(result))
    if arguments.write:
        keep(MEASURED / "realtime.json", "loop", result)
        (MEASURED / "realtime.txt").write_text(table(result) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
