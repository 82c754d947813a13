"""A recorder in a process of its own survives what happens to it and to the loop, and the loop does not notice."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ur_admittance.core.records import Status
from ur_admittance.errors import LogError
from ur_admittance.recording.log import read_log
from ur_admittance.recording.recorder import RecorderProcess
from ur_admittance.runtime.clock import LockstepClock, RealTimeClock
from ur_admittance.runtime.loop import run
from ur_admittance.runtime.telemetry import TelemetryReader, TelemetryWriter, warn


@pytest.mark.realtime
def test_a_recorder_process_gets_every_cycle_of_a_real_time_loop(name, tmp_path, controller, robot):
    path = tmp_path / "run.mcap"
    with TelemetryWriter(name, model="ur5e", rate=500.0) as telemetry:
        recorder = RecorderProcess(name, path)
        report = run(controller, robot, RealTimeClock(500.0), duration=1.0, telemetry=telemetry)
    assert recorder.finish() == ""
    log = read_log(path)
    assert log.complete
    assert log.lost == 0
    assert len(log.ticks) == report.ticks
    assert log.ticks["loop"]["sequence"][0] == 1
    assert abs(int(log.ticks["loop"]["time_ns"][0]) - time.time_ns()) < 60e9


@pytest.mark.realtime
def test_a_killed_recorder_process_loses_less_than_a_second_and_the_loop_does_not_notice(
    name, tmp_path, controller, robot
):
    path = tmp_path / "run.mcap"
    with TelemetryWriter(name, model="ur5e", rate=500.0) as telemetry:
        recorder = RecorderProcess(name, path)
        killed_at = []

        def kill_later(controller):
            kill_later.ticks += 1
            if kill_later.ticks == 500:
                os.kill(recorder.pid, signal.SIGKILL)
                killed_at.append(time.time_ns())

        kill_later.ticks = 0
        report = run(controller, robot, RealTimeClock(500.0), duration=1.2, telemetry=telemetry, on_tick=kill_later)
    assert "was killed by SIGKILL" in recorder.finish()
    assert report.status == Status.OK
    assert report.publish_problem == ""
    log = read_log(path)
    assert not log.complete
    assert len(log.ticks) > 0
    assert killed_at[0] - int(log.ticks["loop"]["time_ns"][-1]) < 1e9


def test_ctrl_c_does_not_end_the_recorder_before_the_controller(name, tmp_path, controller, robot):
    path = tmp_path / "run.mcap"
    with TelemetryWriter(name, model="ur5e", rate=500.0) as telemetry:
        recorder = RecorderProcess(name, path)
        os.kill(recorder.pid, signal.SIGINT)
        report = run(controller, robot, RealTimeClock(500.0), duration=0.3, telemetry=telemetry)
    assert recorder.finish() == ""
    assert len(read_log(path).ticks) == report.ticks


LOOP = """
import sys
from ur_admittance.control import AdmittanceController
from ur_admittance.model import robot_model
from ur_admittance.runtime.clock import RealTimeClock
from ur_admittance.runtime.loop import run
from ur_admittance_lab.null_robot import NullRobot
from ur_admittance.recording.recorder import RecorderProcess
from ur_admittance.runtime.telemetry import TelemetryWriter
controller = AdmittanceController(robot_model("ur5e"))
controller.configure()
telemetry = TelemetryWriter(sys.argv[1], model="ur5e", rate=500.0)
recorder = RecorderProcess(sys.argv[1], sys.argv[2])
seen = []
def ready(controller):
    seen.append(1)
    if len(seen) == 400:
        print("ready", flush=True)
run(controller, NullRobot(), RealTimeClock(500.0), telemetry=telemetry, on_tick=ready)
"""


def test_when_the_loop_is_killed_the_recorder_completes_the_file(name, tmp_path, child, eventually):
    path = tmp_path / "run.mcap"
    process = child(LOOP, name, path)
    process.kill()
    process.wait()
    eventually(lambda: path.exists() and read_log(path).complete)
    log = read_log(path)
    assert len(log.ticks) >= 400
    assert log.lost == 0


def test_a_recorder_without_a_controller_says_so(tmp_path):
    code = "from ur_admittance.recording.recorder import main; import sys; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, "nobody-there", str(tmp_path / "x.mcap")],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("no controller named 'nobody-there' is running")
    with pytest.raises(LogError, match="the recorder did not start: no controller named 'nobody-there'"):
        RecorderProcess("nobody-there", tmp_path / "x.mcap")


def test_a_full_disk_in_the_recorder_process_is_told_and_the_loop_goes_on(name, controller, robot):
    after = []

    def until_told(controller):
        time.sleep(0.001)
        after.append(reader.warning())
        return len(after) > 100 and after[-100] != ""

    with TelemetryWriter(name, model="ur5e", rate=500.0) as telemetry, TelemetryReader(name) as reader:
        recorder = RecorderProcess(name, Path("/dev/full"))
        report = run(controller, robot, LockstepClock(500.0), duration=60.0, telemetry=telemetry, on_tick=until_told)
    assert after[-1], "it was not told while the loop ran"
    assert recorder.finish() == "recording to /dev/full ended after 0 cycles: No space left on device"
    assert report.status == Status.OK


def test_the_warning_of_a_full_disk_stays_while_another_recording_goes_on(name, controller, robot, tmp_path):
    with TelemetryWriter(name, rate=500.0) as telemetry, TelemetryReader(name) as reader:
        failed = RecorderProcess(name, "/dev/full")
        run(controller, robot, RealTimeClock(500.0), duration=0.1, telemetry=telemetry)
        failed.stop()
        assert "No space left on device" in reader.warning()
        with RecorderProcess(name, tmp_path / "run.mcap"):
            assert "No space left on device" in reader.warning()


def test_the_memory_of_another_version_is_not_written_to(name):
    with TelemetryWriter(name) as telemetry:
        telemetry._memory.header["layout"] += 1
        before = bytes(telemetry._memory.bytes)
        warn(name, "the disk is full")
        assert bytes(telemetry._memory.bytes) == before


def test_the_process_that_records_does_not_load_the_compiler():
    code = "import sys, ur_admittance.recording.recorder; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
