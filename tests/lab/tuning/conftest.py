"""What the tests of tune share."""

import pytest

from ur_admittance_lab.tuning.knowledge import Knowledge, Range
from ur_admittance_lab.tuning.tasks import TASKS

SPEEDS = {"guide": Range(0.1, 0.35)}


@pytest.fixture(params=TASKS)
def task(request):
    """Each task, on three arms."""
    speed = SPEEDS.get(request.param, Range(0.02, 0.05))
    return TASKS[request.param](Knowledge(robots=("ur3e", "ur5e", "ur10e"), speed=speed))
