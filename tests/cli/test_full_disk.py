"""A disk that fills up while it is recorded: told at once and by the exit code; the arm does not notice.

The limit on the size of files stands in for the disk."""

import os
import re
import resource
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ur_admittance.cli import app
from ur_admittance.cli.status_line import lines
from ur_admittance.core.records import Mode
from ur_admittance.errors import UrAdmittanceError
from ur_admittance.recording.log import read_log
from ur_admittance.runtime.telemetry import TelemetryReader

ROOM = 100_000  # [bytes]


def recorder_of(program, patience=60.0):
    """The process id of the recorder that this program has started."""
    end = time.monotonic() + patience
    while time.monotonic() < end and program.poll() is None:
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
                if parent == program.pid and "recording.recorder" in (folder / "cmdline").read_text():
                    return int(folder.name)
            except OSError:
                continue
        time.sleep(0.02)
    raise AssertionError(f"no recorder; the program said: {program.communicate(timeout=10.0)}")


def warning_in_the_status(name, patience=10.0):
    with TelemetryReader(name) as reader:
        end = time.monotonic() + patience
        while not reader.warning():
            assert time.monotonic() < end, "the status never told"
            time.sleep(0.02)
        while (latest := reader.latest()) is None:
            time.sleep(0.02)
        return str(lines(reader)), Mode(int(latest["command"]["mode"]))


def attached(name):
    end = time.monotonic() + 60.0
    while time.monotonic() < end:
        try:
            TelemetryReader(name).close()
            return
        except UrAdmittanceError:
            time.sleep(0.02)
    raise AssertionError(f"{name} did not start within 60 s")


@pytest.mark.timeout(220)
def test_a_disk_that_fills_while_an_arm_runs_is_told_in_the_status_and_by_exit_code_1(tmp_path):
    log, name = tmp_path / "run.mcap", f"full{uuid.uuid4().hex[:8]}"
    command = [sys.executable, "-m", "ur_admittance", "run", "--name", name, "--log", str(log), "--duration", "3"]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ)
    try:
        resource.prlimit(recorder_of(program), resource.RLIMIT_FSIZE, (ROOM, ROOM))
        attached(name)
        status, mode = warning_in_the_status(name)
        said, _ = program.communicate(timeout=60.0)
    finally:
        program.kill()  # nothing happens if it has ended
        program.communicate()
    told = re.search(rf"recording to {log} ended after (\d+) cycles: File too large", said)
    assert told is not None, said
    assert told[0] in status
    assert mode == Mode.ACTIVE, "the arm goes on"
    assert "cycles; ended: 3 s were over" in said
    assert f"the recording is incomplete: {told[0]}" in said
    assert program.returncode == 1
    assert 0 < int(told[1]) <= len(read_log(log).ticks), "what it says is in the file is in the file"


def test_a_scenario_whose_recording_ends_early_is_exit_code_1(tmp_path):
    log = tmp_path / "push.mcap"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, hard))
    try:
        done = CliRunner().invoke(app, ["sim", "push", "--log", str(log)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert done.exit_code == 1
    assert "the recording is incomplete" in done.stderr
    assert "rms_error" in done.stdout, "what was measured is still reported"
