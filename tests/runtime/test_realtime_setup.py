"""The privileges of the loop: told, and given back."""

import gc
import os
import subprocess
import sys

from ur_admittance.runtime.realtime import realtime


def _situation():
    return (
        os.sched_getscheduler(0),
        os.sched_getparam(0).sched_priority,
        os.sched_getaffinity(0),
        gc.isenabled(),
        gc.get_freeze_count(),
        sys.getswitchinterval(),
    )


def test_everything_is_restored_also_after_an_exception():
    before = _situation()
    core = min(os.sched_getaffinity(0))
    try:
        with realtime(priority=10, core=core) as setup:
            assert not gc.isenabled()
            assert os.sched_getaffinity(0) == {core}
            assert setup.collector_frozen
            assert setup.core == core
            raise KeyError
    except KeyError:
        pass
    assert _situation() == before


def test_the_line_tells_what_was_obtained():
    with realtime(priority=10, core=min(os.sched_getaffinity(0))) as setup:
        assert str(setup).startswith("real-time: SCHED_FIFO 10 ")
        assert f"SCHED_FIFO 10 {'yes' if setup.scheduler else 'no'}" in str(setup)
        assert f"memory locked {'yes' if setup.memory_locked else 'no'}" in str(setup)
        assert str(setup).endswith("garbage collector frozen")


def test_what_cannot_be_had_is_told_and_nothing_raises():
    before = _situation()
    with realtime(priority=1000, core=4096, lock_memory=False) as setup:
        assert "SCHED_FIFO 1000 no (" in str(setup)
        assert "core 4096 no (this process may use 0" in str(setup)
        assert not setup.scheduler
        assert setup.core is None
    assert _situation() == before


def test_nothing_is_touched_when_nothing_is_asked_for():
    before = _situation()
    with realtime(None, False, None, False, None) as setup:
        assert _situation() == before
    assert str(setup) == "real-time: nothing asked for"


def test_processes_started_by_the_loop_are_not_privileged():
    """A recorder with real-time priority could starve the machine."""
    code = "import os; print(os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK)"
    with realtime(priority=10, lock_memory=False, freeze_collector=False):
        policy = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)
    assert int(policy.stdout) == os.SCHED_OTHER
