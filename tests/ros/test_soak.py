"""A long run: memory does not grow, no sign of life is missed. SOAK=600 makes it ten minutes."""

import json
import os
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy")

SECONDS = float(os.environ.get("SOAK", "20"))
GROWTH_MB = 2.0  # after the first third, in which caches fill
LIFE_SIGN_S = 1.0  # ~/state comes at least once per second; a busy machine may delay it by as much again


def resident_mb(process):
    return int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.mark.timeout(SECONDS + 200)
def test_memory_stays_and_life_signs_come_while_the_arm_is_pushed(arm_with_node):
    arm = arm_with_node({"admittance.stiffness": [300.0, 300.0, 300.0, 20.0, 20.0, 20.0]})
    arm.bring_up()
    node = arm.processes.running[1]
    start, memory, ticks = time.monotonic(), [], []
    arm.client.set_parameter("push.duration", 1.0, "/ur_sim")
    while time.monotonic() - start < SECONDS:
        arm.client.trigger("/ur_sim/push")
        arm.client.set_parameter("admittance.min_motion_threshold", float(np.random.default_rng().uniform(1.0, 2.0)))
        time.sleep(1.5)
        memory.append((time.monotonic() - start, resident_mb(node)))
        ticks.append(arm.state()["ticks"])
        assert arm.state()["mode"] == "active", arm.state()
        arm.joints.clear()
        arm.twists.clear()
    # by the node's own stamps: a busy client hears late
    heard = np.array([json.loads(m.data)["stamp"] for t, m in arm.states if t > start])
    late = [m for t, m in memory if t > SECONDS / 3]
    silence = float(np.diff(heard).max())
    report = f"{SECONDS:g} s: memory {memory[0][1]:.1f} to {memory[-1][1]:.1f} MB, longest silence {silence:.2f} s"
    print(report)  # noqa: T201
    assert max(late) - late[0] < GROWTH_MB
    assert silence < 2.0 * LIFE_SIGN_S
    assert (np.diff(ticks) > 0).all()
