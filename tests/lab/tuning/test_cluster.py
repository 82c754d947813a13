"""A Dask cluster on this machine: a scheduler and two workers, each a process of its own, on loopback."""

import json
import os
import subprocess
import sys
import time

import pytest

from ur_admittance.errors import SimulationError
from ur_admittance_lab.tuning import cluster as cluster_module
from ur_admittance_lab.tuning.cluster import Cluster, _same_versions
from ur_admittance_lab.tuning.knowledge import Knowledge
from ur_admittance_lab.tuning.task import FRESH
from ur_admittance_lab.tuning.tasks import Press
from ur_admittance_lab.tuning.trials import Job, Threads

JOBS = 2000 if os.environ.get("SWEEP") else 20
TASK = Press(Knowledge(robots=("ur3e", "ur5e", "ur10e")))


def start(*arguments):
    return subprocess.Popen(
        [sys.executable, "-m", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )


@pytest.fixture
def loopback(tmp_path, optional):
    """Address of the scheduler, its two workers, and its process."""
    optional("distributed")
    file = tmp_path / "scheduler.json"
    where = ("--scheduler-file", str(file), "--no-dashboard")
    processes = [start("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", *where)]
    try:
        while not file.exists():
            time.sleep(0.05)
        worker = ("distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny", "--host", "127.0.0.1", *where)
        processes += [start(*worker), start(*worker)]
        time.sleep(0.1)
        yield json.loads(file.read_text())["address"], processes[1:], processes[0]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def jobs():
    parameters = TASK.rivals()["preset assembly"]
    return [Job(7, FRESH, i, parameters) for i in range(JOBS)]


@pytest.mark.timeout(200)
def test_a_worker_killed_in_the_middle_loses_nothing_and_changes_no_bit(loopback):
    address, workers, _ = loopback
    expected = Threads(1)(TASK, jobs())
    killed = []

    def kill_one(done, total):
        if done >= total // 3 and not killed:
            workers[0].kill()
            killed.append(done)

    from distributed import Client

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
    with Cluster(address) as batch:
        assert batch(TASK, jobs(), kill_one) == expected
    assert killed
    assert killed[0] < JOBS
    assert workers[0].wait() != 0


def test_workers_with_other_versions_and_empty_clusters_are_refused():
    mine = cluster_module.versions()
    _same_versions({"tcp://a": mine}, mine)
    with pytest.raises(SimulationError, match=r"tcp://a has mujoco 1\.0 "):
        _same_versions({"tcp://a": mine | {"mujoco": "1.0"}}, mine)
    with pytest.raises(SimulationError, match="no workers"):
        _same_versions({}, mine)


def test_a_worker_that_joined_late_looks_at_its_versions_itself():
    wanted = cluster_module.versions() | {"numba": "0.1"}
    with pytest.raises(SimulationError, match="it would give other bits"):
        cluster_module.run_group(TASK, jobs()[:1], wanted)


@pytest.mark.timeout(200)
def test_a_scheduler_that_dies_is_one_sentence(loopback):
    from distributed import Client

    address, _, scheduler = loopback
    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
    with Cluster(address) as batch, pytest.raises(SimulationError, match="scheduler is gone; go on with --resume"):
        batch(TASK, jobs(), lambda done, total: scheduler.kill())
