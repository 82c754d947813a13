"""tune on threads and on a Dask cluster of this machine: simulations per second, the same bits, a worker that dies.

    python -m benchmarks.cluster --jobs 400

Starts a scheduler and one or two workers, each a process of its own with one thread, on loopback.
"""

import argparse
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.machine import machine
from ur_admittance_lab.tuning.cluster import GROUP, Cluster
from ur_admittance_lab.tuning.knowledge import Knowledge
from ur_admittance_lab.tuning.task import FRESH
from ur_admittance_lab.tuning.tasks import Press
from ur_admittance_lab.tuning.trials import Batch, Job, Threads, Values

TASK = Press(Knowledge(robots=("ur3e", "ur5e", "ur10e")))
STARTED = 120.0  # [s] that workers may take to appear


def start(*arguments: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", *arguments]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@contextmanager
def loopback(count: int) -> Iterator[tuple[str, list["subprocess.Popen[bytes]"]]]:
    """Address of a scheduler with this many workers, and the workers."""
    from distributed import Client

    connect: Any = Client  # has no types
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scheduler.json"
        where = ("--scheduler-file", str(file), "--no-dashboard", "--host", "127.0.0.1")
        processes = [start("distributed.cli.dask_scheduler", "--port", "0", *where)]
        try:
            while not file.exists():
                time.sleep(0.05)
            worker = ("distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny", *where)
            processes += [start(*worker) for _ in range(count)]
            address = str(json.loads(file.read_text())["address"])
            with connect(address, set_as_default=False) as client:
                client.wait_for_workers(count, timeout=STARTED)
            yield address, processes[1:]
        finally:
            for process in processes:
                process.kill()
                process.wait()


def timed(
    batch: Batch,
    jobs: Sequence[Job],
    workers: Sequence["subprocess.Popen[bytes]"] = (),
    progress: Callable[[int, int], Any] | None = None,
) -> tuple[list[Values], str]:
    """Figures, and once everything is loaded: jobs per second, and processor time per job, which others on the machine
    hardly change."""
    batch(TASK, jobs[: 4 * GROUP])
    begin, used = time.perf_counter(), _processor_time(workers)
    figures = batch(TASK, jobs, progress)
    seconds, used = time.perf_counter() - begin, _processor_time(workers) - used
    each = f"{1e3 * used / len(jobs):5.1f} ms each" if not progress else " " * 13  # a dead worker's time is lost
    return figures, f"{len(jobs) / seconds:6.1f} /s  {each}"


def _processor_time(workers: Sequence["subprocess.Popen[bytes]"]) -> float:
    """Of this process and these [s]."""
    ticks = os.sysconf("SC_CLK_TCK")
    total = time.process_time()
    for worker in workers:
        fields = Path(f"/proc/{worker.pid}/stat").read_text().rsplit(")", 1)[1].split()
        total += (int(fields[11]) + int(fields[12])) / ticks
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--jobs", type=int, default=400)
    count = parser.parse_args().jobs
    parameters = TASK.rivals()["preset assembly"]
    jobs = [Job(0, FRESH, i, parameters) for i in range(count)]
    message = len(pickle.dumps((TASK, jobs[:GROUP])))
    answer = len(pickle.dumps(Threads(1)(TASK, jobs[:GROUP])))
    print(machine())
    print(f"{count} jobs of 5 s, groups of {GROUP}: {message} bytes there, {answer} bytes back")
    expected, rate = timed(Threads(1), jobs)
    print(f"{'1 thread':24} {rate}")
    figures, rate = timed(Threads(2), jobs)
    print(f"{'2 threads':24} {rate}  same bits: {figures == expected}")
    for workers in (1, 2):
        with loopback(workers) as (address, processes), Cluster(address) as cluster:
            figures, rate = timed(cluster, jobs, processes)
            print(f"{f'cluster, {workers} worker(s)':24} {rate}  same bits: {figures == expected}")
    with loopback(2) as (address, processes), Cluster(address) as cluster:
        died: list[int] = []

        def kill(done: int, total: int) -> None:
            if done >= total // 2 and not died:
                processes[0].kill()
                died.append(done)

        figures, rate = timed(cluster, jobs, progress=kill)
        print(f"{'2 workers, one killed':24} {rate}  same bits: {figures == expected}, killed after {died[0]} jobs")


if __name__ == "__main__":
    main()
