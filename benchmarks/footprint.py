"""Memory, CPU and start of what users start: a bare loop, the simulated arm, `run` on the emulator, a ROS 2 node.

python -m benchmarks.footprint                              three minutes; a bare loop with nothing compiled, too
python -m benchmarks.footprint --ros .venv-ros/bin/python   with a node, on the network of this machine alone
python -m benchmarks.footprint --source ../before           another checkout beside this one, in the same run
python -m benchmarks.footprint --write                      -> docs/measured/footprint.json
"""

import argparse
import compileall
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.machine import cpu_seconds, machine, resident_mb
from ur_admittance.errors import UrAdmittanceError
from ur_admittance_lab.emulator.emulator_process import EmulatorProcess
from ur_admittance_lab.evidence import keep

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "docs" / "measured" / "footprint.json"
LIBRARY = "libur_admittance.so"
LONGEST = 600.0  # [s] of a start: old checkouts compile in it
LOOK_S, SETTLE_S, JUDGED_S = 0.1, 5.0, 15.0
ACTIVE = "activate: done"  # says a node

BARE = """
import json, time
begin = time.monotonic()
from ur_admittance.control import AdmittanceController
from ur_admittance.model import robot_model
import_s = time.monotonic() - begin
controller = AdmittanceController(robot_model("ur5e"))
controller.configure()
controller.activate()
sample = controller.sample
sample["dt"], sample["q"] = 0.002, controller.model.home
controller.update()
active_at = time.monotonic()
assert controller.mode.name == "ACTIVE", controller.reason
for _ in range(1000):
    sample["wrench"][0] = 10.0
    sample["q"], sample["qd"] = controller.command["q"], controller.command["qd"]
    controller.update()
assert controller.mode.name == "ACTIVE", controller.reason
import resource
rss_mb = int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() / 1e6
print(json.dumps({"import_s": import_s, "active_at": active_at, "rss_mb": rss_mb}))
"""

Figures = dict[str, float]


def of(source: Path, **more: str) -> dict[str, str]:
    """The environment of processes that run this source."""
    return os.environ | {"PYTHONPATH": str(source)} | more


def bare_loop(source: Path = ROOT / "src", cache: Path | None = None) -> Figures:
    """A process that does nothing else: import_s, start_s until it is active, rss_mb. cache: where it finds and keeps
    what is compiled; None: where it always does."""
    compiled = {"UR_ADMITTANCE_CACHE": str(cache), "NUMBA_CACHE_DIR": str(cache)} if cache else {}
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", BARE], env=of(source, **compiled), capture_output=True, text=True, timeout=LONGEST
    )
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise UrAdmittanceError(f"bench: the controller did not run in its own process: {last}")
    found: Figures = json.loads(done.stdout)
    return {"start_s": found.pop("active_at") - began, **found}


def starts(source: Path = ROOT / "src") -> Figures:
    """As on a computer that sees this package for the first time: start_s with nothing compiled (cold), with the
    library of a wheel (shipped), again (warm); and what else `bare_loop` measures."""
    with tempfile.TemporaryDirectory() as folder:
        copy, cache = Path(folder) / "source", Path(folder) / "cache"
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__", "native"))
        compileall.compile_dir(copy, quiet=1)  # as pip does
        found = {"cold_s": bare_loop(copy, cache)["start_s"]}
        found |= bare_loop(copy, cache)
        for made in cache.rglob(LIBRARY):  # older checkouts had none
            native = copy / "ur_admittance" / "native"
            native.mkdir()
            made.rename(native / LIBRARY)
            found["shipped_s"] = bare_loop(copy, Path(folder) / "empty")["start_s"]
    return found


def judged(process: "subprocess.Popen[bytes]", ready: Callable[[], bool]) -> Figures:
    """CPU [% of a core] and resident memory [MB] of a process with a loop; starting and loading do not count."""
    end = time.monotonic() + LONGEST
    while not ready():
        if process.poll() is not None or time.monotonic() > end:
            raise UrAdmittanceError(f"bench: did not start: {process.args!r}")
        time.sleep(LOOK_S)
    time.sleep(SETTLE_S)
    before, begin = cpu_seconds(process.pid), time.monotonic()
    time.sleep(JUDGED_S)
    cpu = 100.0 * (cpu_seconds(process.pid) - before) / (time.monotonic() - begin)
    return {"cpu": cpu, "memory": resident_mb(process.pid)}


@contextmanager
def started(
    command: list[str], environment: dict[str, str], log: Path = Path(os.devnull)
) -> "Iterator[subprocess.Popen[bytes]]":
    with log.open("wb") as file, subprocess.Popen(command, env=environment, stdout=file, stderr=file) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)


def run_of(robot: str) -> list[str]:
    return [sys.executable, "-m", "ur_admittance", "run", "--robot", robot, "--name", f"footprint-{os.getpid()}"]


def simulated(source: Path) -> Figures:
    begin = time.monotonic()
    with started(run_of("sim"), of(source)) as process:
        return judged(process, lambda: time.monotonic() > begin + SETTLE_S)


def emulated(source: Path) -> Figures:
    """The emulator is that of this checkout, whatever runs on it."""
    with EmulatorProcess() as emulator, started([*run_of(emulator.host), "--yes"], of(source)) as process:
        return judged(process, lambda: bool(emulator.ask("trace")["cycles"]))


def node(source: Path, python: Path) -> Figures:
    """The node that moves an arm by itself, on the double of the driver."""
    domain = str(random.SystemRandom().randint(1, 100))
    here = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", "ROS_LOCALHOST_ONLY": "1", "ROS_DOMAIN_ID": domain}
    environment = of(source, **here, PYTHONUNBUFFERED="1")
    wrench = "/force_torque_sensor_broadcaster/wrench:=/wrist_ft_sensor"
    driver = [str(python), "-m", "ur_admittance_lab.driver.sim_node", "--ros-args", "-r", wrench]
    own = [str(python), "-m", "ur_admittance.ros.admittance_node", "--ros-args", "-p", "autostart:=true"]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "node.log"
        with started(driver, environment), started(own, environment, log) as process:
            return judged(process, lambda: ACTIVE in log.read_text())


def measure(source: Path, ros: Path | None) -> dict[str, Figures]:
    bare_loop(source)  # compiles
    found = {"bare": starts(source), "simulated": simulated(source), "emulator": emulated(source)}
    return found if ros is None else found | {"node": node(source, ros)}


def show(name: str, found: dict[str, Figures]) -> str:
    bare = found["bare"]
    shipped = f", from a shipped library {bare['shipped_s']:.2f} s" if "shipped_s" in bare else ""
    lines = [
        name,
        f"  bare loop              {bare['rss_mb']:4.0f} MB; import {bare['import_s']:.2f} s",
        f"  its start to active    {bare['start_s']:.2f} s{shipped}, with nothing compiled {bare['cold_s']:.1f} s",
    ]
    for title, key in (("run --robot sim", "simulated"), ("run on the emulator", "emulator"), ("ROS 2 node", "node")):
        if key in found:
            lines.append(f"  {title:22} {found[key]['memory']:4.0f} MB, {found[key]['cpu']:.1f} % of a core")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ros", type=Path, metavar="PYTHON", help="one that has rclpy: measure a node")
    parser.add_argument("--source", type=Path, metavar="CHECKOUT", help="measure this one first")
    parser.add_argument("--write", action="store_true", help=f"keep the numbers in {FILE.name}")
    options = parser.parse_args()
    print(machine())
    if options.source:
        source = options.source.resolve()
        print(show(str(source), measure(source / "src", options.ros)), flush=True)
    found = measure(ROOT / "src", options.ros)
    print(show("this checkout", found))
    if options.write:
        arm = found.pop("simulated")
        keep(FILE, "loop", {**arm, **found})


if __name__ == "__main__":
    main()
