"""The guard runs when the loop hangs: its priority is above the program's, for as long as it watches."""

import os
import threading
from pathlib import Path

import pytest

pytest.importorskip("rclpy")

LOOP = 20


def priorities(process):
    """(policy, priority) of its threads."""
    tasks = [int(task.name) for task in Path(f"/proc/{process}/task").iterdir()]
    return {(os.sched_getscheduler(task), os.sched_getparam(task).sched_priority) for task in tasks}


def test_the_guard_outranks_the_loop_while_it_watches_and_is_an_ordinary_process_otherwise(client, missing):
    from ur_admittance.robots.ros.guard import Guard

    end, permitted = threading.Event(), []

    def loop():
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(LOOP))
            permitted.append(True)
        except PermissionError:
            permitted.append(False)
        end.wait(60.0)

    guard, thread = Guard("watched", "/", "/forward_velocity_controller/commands"), threading.Thread(target=loop)
    process = guard._process.pid
    try:
        assert guard.wait_ready()
        ordinary = {(os.SCHED_OTHER, 0)}
        assert priorities(process) == ordinary
        guard.arm()  # before the loop has its priority
        client.until(guard.looks, 5, "a guard that looks")
        thread.start()
        client.until(lambda: permitted, 5)
        if not permitted[0]:
            missing("SCHED_FIFO is not permitted")
        client.until(lambda: priorities(process) == {(os.SCHED_FIFO, LOOP + 1)}, 5, "all threads above the loop")
        guard.disarm()
        client.until(lambda: priorities(process) == ordinary, 5, "an ordinary process")
    finally:
        end.set()
        guard.close()
        if thread.ident:
            thread.join()


def test_the_rank_is_looked_for_now_and_then_and_never_above_the_highest(monkeypatch):
    from ur_admittance.robots.ros import guard

    theirs, asked, set_to = [0], [], []
    monkeypatch.setattr(guard, "highest_priority", lambda process: asked.append(process) or theirs[0])
    monkeypatch.setattr(guard, "schedule_all", set_to.append)
    rank = guard.Rank(4711)
    for _ in range(guard.RANK_EVERY):
        rank.look(armed=True)
    assert (asked, set_to) == ([4711], [])  # nobody has a priority
    for theirs[0] in (50, 99):
        for _ in range(guard.RANK_EVERY):
            rank.look(armed=True)
    assert set_to == [51, 99]
    for _ in range(10):
        rank.look(armed=False)
    assert set_to == [51, 99, 0]
