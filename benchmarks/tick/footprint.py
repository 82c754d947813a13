"""Memory, import time and warm-up time of the controller, each measured in a process that does nothing else."""

import json
import os
import subprocess
import sys
import tempfile

from ur_admittance.errors import UrAdmittanceError

LONGEST = 600.0  # [s]

SCRIPT = """
import json, time
begin = time.perf_counter()
from ur_admittance.control import AdmittanceController
from ur_admittance.model import robot_model
import_s = time.perf_counter() - begin
controller = AdmittanceController(robot_model("ur5e"))
begin = time.perf_counter()
controller.configure()
warmup_s = time.perf_counter() - begin
controller.activate()
sample = controller.sample
sample["dt"], sample["q"] = 0.002, controller.model.home
for _ in range(1000):
    controller.update()
    sample["wrench"][0] = 10.0
    sample["q"], sample["qd"] = controller.command["q"], controller.command["qd"]
assert controller.mode.name == "ACTIVE", controller.reason
pages = int(open("/proc/self/statm").read().split()[1])
import resource
rss_mb = pages * resource.getpagesize() / 1e6
print(json.dumps({"import_s": import_s, "warmup_s": warmup_s, "rss_mb": rss_mb}))
"""


def footprint(numba_cache: str | None = None) -> dict[str, float]:
    """import_s, warmup_s and rss_mb of a fresh process; with its own folder of compiled kernels if one is given."""
    environment = dict(os.environ)
    if numba_cache is not None:
        environment["NUMBA_CACHE_DIR"] = numba_cache
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=LONGEST, check=False
    )
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise UrAdmittanceError(f"bench: the controller did not run in its own process: {last}")
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def cold_and_cached() -> tuple[dict[str, float], dict[str, float]]:
    """The same process twice: first with nothing compiled, then with what the first has left."""
    with tempfile.TemporaryDirectory() as folder:
        return footprint(folder), footprint(folder)
