"""CPU and memory of the simulated arm as its user starts it.

python -m benchmarks.footprint --write     -> docs/measured/footprint.json
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from ur_admittance_lab.evidence import keep

RUN_S, JUDGED_S = 25, 15  # the end of the run: what starting and loading cost does not count
LOOK_S = 0.1
FILE = Path(__file__).resolve().parents[1] / "docs" / "measured" / "footprint.json"


def run() -> dict[str, float]:
    """CPU [% of a core] and largest resident memory [MB] of the process with the loop."""
    command = [sys.executable, "-m", "ur_admittance", "run", "--robot", "sim", "--duration", str(RUN_S)]
    process = subprocess.Popen([*command, "--name", f"footprint-{os.getpid()}"], stdout=subprocess.DEVNULL)
    memory, used = 0.0, []  # used: (time, CPU time) [s]
    while process.poll() is None:
        try:
            status = Path(f"/proc/{process.pid}/status").read_text()
            fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
            cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            used.append((time.monotonic(), cpu))
            memory = max(memory, int(status.partition("VmRSS:")[2].split()[0]) / 1e3)
        except (OSError, IndexError):  # it has just ended
            break
        time.sleep(LOOK_S)
    if process.wait():
        raise SystemExit("the run failed")
    end, total = used[-1]
    begin, before = next(row for row in used if row[0] > end - JUDGED_S)
    return {"cpu": 100.0 * (total - before) / (end - begin), "memory": memory}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"keep the numbers in {FILE.name}")
    write = parser.parse_args().write
    found = run()
    print(f"run --robot sim: {found['cpu']:.1f} % of a core, {found['memory']:.0f} MB")
    if write:
        keep(FILE, "loop", found)


if __name__ == "__main__":
    main()
