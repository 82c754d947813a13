"""All measured figures that pages quote, measured again where the source has changed since.

make evidence          what is older, one after the other; interrupted, it goes on where it was
make evidence-check    ends with 1 while anything is older: before a release
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from ur_admittance_lab.evidence import older

ROOT = Path(__file__).resolve().parents[1]
MEASURED, ROS = "docs/measured", ROOT / ".venv-ros" / "bin" / "python"
CYCLES = "100e6"


class Step(NamedTuple):
    file: str
    minutes: float  # on two cores
    command: str
    python: Path = Path(sys.executable)


# In this order: what needs a quiet computer first, then what uses all of it.
STEPS = (
    Step(f"{MEASURED}/tick.json", 4, "-m benchmarks.tick --write"),
    Step(f"{MEASURED}/tick_steps.json", 2, "-m benchmarks.tick.steps --write"),
    Step(f"{MEASURED}/realtime.json", 8, "-m benchmarks.loop --seconds 60 --write"),
    Step(f"{MEASURED}/footprint.json", 4, "-m benchmarks.footprint --write"),
    Step(f"{MEASURED}/stages.json", 2, "-m benchmarks.stages --write"),
    Step(f"{MEASURED}/rtde_clients.json", 2, "-m benchmarks.rtde_clients --write"),
    Step(f"{MEASURED}/ros.json", 3, "-m benchmarks.ros_latency --write", ROS),
    Step(f"{MEASURED}/driver.json", 30, f"tests/ros/driver_table.py --write {MEASURED}/driver.json", ROS),
    Step(f"{MEASURED}/guarantees.json", 15, "docs/claims.py"),
    Step(f"{MEASURED}/mistakes.json", 2, "docs/mistakes --write"),
    Step(f"{MEASURED}/typical.json", 2, "docs/mistakes/typical_lines.py --write"),
    Step("docs/assets/contact/contact.json", 10, "-m benchmarks.contact --out docs/assets/contact"),
    Step(f"{MEASURED}/ablation.json", 40, "-m benchmarks.ablation"),
    Step(f"{MEASURED}/campaign.json", 50, f"-m benchmarks.campaign --cycles {CYCLES} --write"),
)


def stale(step: Step) -> str:
    path = ROOT / step.file
    return older(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else "missing"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="measure nothing; end with 1 if anything is older")
    check = parser.parse_args().check
    todo = {step: why for step in STEPS if (why := stale(step))}
    for step, why in todo.items():
        print(f"{step.file}: older ({why}); about {step.minutes:g} min")
    minutes = sum(step.minutes for step in todo)
    print(f"evidence: {len(todo)} of {len(STEPS)} files are older; about {minutes:g} min to measure")
    if check:
        return 1 if todo else 0
    for i, step in enumerate(todo, 1):
        print(f"[{i}/{len(todo)}] {step.command}", flush=True)
        start = time.monotonic()
        code = subprocess.call([str(step.python), *step.command.split()], cwd=ROOT)
        print(f"[{i}/{len(todo)}] {(time.monotonic() - start) / 60.0:.1f} min", flush=True)
        if code or stale(step):
            print(f"{step.file} is still older: {step.command} ended with {code}.", file=sys.stderr)
            return 1
    return subprocess.call([sys.executable, "docs/render.py", "--write"], cwd=ROOT)


if __name__ == "__main__":
    sys.exit(main())
