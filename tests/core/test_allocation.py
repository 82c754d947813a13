"""The compiled tick takes no memory: Numba's own runtime counts what compiled code asks for."""

import numpy as np
import pytest
from numba import njit
from numba.core.runtime import _nrt_python, rtsys

from ur_admittance.core.records import COMMAND, Mode, new
from ur_admittance.core.tick import tick


@pytest.fixture
def allocations():
    """How often compiled code has asked for memory so far."""
    _nrt_python.memsys_enable_stats()
    yield lambda: rtsys.get_allocation_stats().alloc
    _nrt_python.memsys_disable_stats()


@njit
def taking(n):
    return np.zeros(n).sum()


def test_the_count_sees_an_array_that_compiled_code_makes(allocations):
    taking(3)
    before = allocations()
    taking(3)
    assert allocations() == before + 1


def test_a_tick_allocates_nothing_in_any_mode(ideal_arm, allocations, record_property):
    """Many controllers in one call: whatever one of them took would be counted as often."""
    arm, count = ideal_arm(**{"admittance.stiffness": [100.0] * 3 + [0.0] * 3}), 200
    params, state, sample = (np.repeat(record, count) for record in (arm.params, arm.state, arm.samples(1)))
    command, modes, most = new(COMMAND, count), set(), 0
    sample["wrench"] = np.random.default_rng(3).normal(size=(count, 6)) * [80, 80, 80, 5, 5, 5]  # some are too much
    for revision in range(1, 20):  # each tick adopts new parameters
        params["revision"] += revision % 2
        before = allocations()
        tick(params, state, sample, command)
        most = max(most, allocations() - before)
        sample["q"] = command["q"]
        modes |= set(command["mode"].tolist())
    record_property("allocations of a call with 200 ticks", float(most))
    assert most <= 4  # the four arrays on their way from Python
    assert modes == {Mode.ACTIVE, Mode.FAULT}
