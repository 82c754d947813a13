"""ROS 2 networks that no other worker of this test run has, on this machine only."""

import os
import zlib

EACH = 3  # domains of a worker: one for its nodes, two for the arms of the contract
WORKERS = 4
RUNS = 8


def domain(number: int = 0) -> int:
    """1 to 96: higher ones meet the ports that Linux gives to anybody."""
    run = zlib.crc32(os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid())).encode()) % RUNS
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % WORKERS
    return 1 + (run * WORKERS + worker) * EACH + number
