"""Hold-to-run on a robot behind RTDE, with the preset and command of a user: an input that goes off, a process that is
killed."""

import subprocess
import sys
import time
import uuid

import numpy as np
import pytest
from tests.robots.rtde.test_run import active, until

from ur_admittance.core.records import Status
from ur_admittance_lab.emulator.emulator_process import EmulatorProcess

RUN = [sys.executable, "-m", "ur_admittance"]
PATIENT = ["--set", "safety.joint_state_timeout=0.3", "--set", "safety.wrench_timeout=0.3"]
PATIENT += ["--connection", "watchdog_hz=2"]


def rest_after(telemetry, lose):
    """Time [s] and distance [m] from `lose()` until the arm stands."""
    telemetry.position = telemetry.head
    lost_ns = time.time_ns()
    lose()
    time.sleep(1.0)
    records = telemetry.drain(limit=None)
    since = records[records["loop"]["time_ns"] >= lost_ns]
    moving = np.abs(since["sample"]["qd"]).max(axis=1) > 1e-3
    last, p = int(np.flatnonzero(moving)[-1]), since["command"]["p_tcp"]
    np.testing.assert_array_equal(since["command"]["qd"][-1], 0.0)
    return 1e-9 * (since["loop"]["time_ns"][last] - lost_ns), float(np.linalg.norm(p[last] - p[0]))


@pytest.mark.realtime
@pytest.mark.parametrize("source", ["tool:1", "software"])
def test_a_signal_that_is_lost_in_full_motion_stops_the_arm_and_it_goes_on_by_itself(source):
    name, holder = f"hold_{uuid.uuid4().hex[:8]}", None
    with EmulatorProcess("--patience", "0.4") as emulator:
        command = [*RUN, "run", "--robot", emulator.host, "--yes", "--name", name, *PATIENT]
        command += ["--set", f"guiding.source={source}", "--set", "max_linear_velocity=0.25"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            with active(name) as (telemetry, newest):
                emulator.tell("push 0 40 0 0 0 0")
                time.sleep(1.0)
                assert newest()["status"] == Status.NOT_ENABLED  # by the preset, without a word of the user
                assert np.abs(newest()["qd"]).max() == 0.0
                if source == "software":
                    holder = subprocess.Popen([*RUN, "ask", "enable", "--name", name])
                    lose = holder.kill
                else:
                    emulator.tell("digital input 17 on")
                    lose = lambda: emulator.tell("digital input 17 off")  # noqa: E731
                until(lambda: np.linalg.norm(newest()["twist"][:3]) > 0.24)
                seconds, metres = rest_after(telemetry, lose)
                print(f"{source}: at rest after {1e3 * seconds:.0f} ms, {1e3 * metres:.1f} mm")  # noqa: T201
                assert seconds < (0.2 if source == "software" else 0.0) + 0.4
                assert newest()["status"] == (Status.ENABLE_SILENT if source == "software" else Status.NOT_ENABLED)
                emulator.tell("push 0 -40 0 0 0 0")
                if source == "tool:1":
                    emulator.tell("digital input 17 on")
                    until(lambda: newest()["twist"][1] < -0.1)
            process.terminate()
            output, _ = process.communicate(timeout=20)
            assert process.returncode == 0, output
        finally:
            for one in (process, holder):
                if one is not None and one.poll() is None:
                    one.kill()
                    one.wait(timeout=10)
