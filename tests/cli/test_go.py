"""ur-admittance go, on the simulated arm and on an emulated UR: what is said, the exit code, and what is left."""

import re
import signal
import subprocess
import sys
import time
import uuid

import numpy as np
import pytest

from ur_admittance.errors import UrAdmittanceError
from ur_admittance.recording.log import read_log
from ur_admittance.recording.replay import replay
from ur_admittance.runtime.mailbox import send
from ur_admittance_lab.emulator.emulator_process import EmulatorProcess

THERE = "5 -92 92 -90 -88 4"  # [deg] near the start, so that a real-time test is short


@pytest.fixture
def name():
    return f"go_{uuid.uuid4().hex[:8]}"


def runs(name, word):
    """Wait for a controller that answers so to the question how its way stands."""
    end = time.monotonic() + 90.0
    while True:
        try:
            if send({"go": "how"}, name).text.startswith(word):
                return
        except UrAdmittanceError:  # not yet
            assert time.monotonic() < end
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "give either --joints or --pose"),
        (["--joints", THERE, "--pose", "0 0 0"], "give either --joints or --pose"),
        (["--joints", "0 -90 90"], "--joints .0 -90 90.: must be 6 numbers"),
        (["--pose", "0.4 0.1"], "--pose .0.4 0.1.: must be 3 or 6 numbers"),
        (["--pose", "0.4 0.1 nan"], "must be 3 or 6 numbers"),
        (["--joints", THERE, "--speed", "5"], "--speed 5.*: must be a number from 0.001 to 0.5 m/s"),
    ],
)
def test_a_goal_that_cannot_be_read_is_refused(called, arguments, sentence):
    done = called("go", *arguments)
    assert done.returncode == 2
    assert re.search(sentence, done.stderr), done.stderr


@pytest.mark.realtime
def test_the_simulated_arm_goes_there_and_back_to_nowhere(called, name, tmp_path):
    log = tmp_path / "go.mcap"
    done = called("go", "--joints", THERE, "--speed", "0.2", "--name", name, "--log", log)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Arrived within 0." in done.stdout
    recording = read_log(log)
    assert replay(recording).exact
    wanted = np.radians([float(angle) for angle in THERE.split()])
    assert np.abs(recording.ticks["sample"]["q"][-1] - wanted).max() < 2e-3
    done = called("go", "--pose", "2 0 0", "--name", name)
    assert done.returncode == 1
    assert "Refused: at " in done.stdout


@pytest.mark.realtime
def test_a_running_controller_is_asked_and_ctrl_c_ends_a_way(name, called):
    command = [sys.executable, "-m", "ur_admittance"]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    running = subprocess.Popen([*command, "run", "--robot", "sim", "--name", name], **options)
    try:
        runs(name, "nowhere")
        done = called("go", "--running", "--joints", THERE, "--speed", "0.2", "--name", name)
        assert (done.returncode, "Arrived within" in done.stdout) == (0, True), done.stdout + done.stderr
        done = called("go", "--running", "--pose", "2 0 0", "--name", name)
        assert (done.returncode, "Refused: at" in done.stdout) == (1, True), done.stdout + done.stderr
    finally:
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=30)
    going = subprocess.Popen([*command, "go", "--joints", "60 -90 90 -90 -90 0", "--name", name], **options)
    runs(name, "going: ")
    time.sleep(1.0)
    going.send_signal(signal.SIGINT)
    said, _ = going.communicate(timeout=30)
    assert going.returncode == 1
    assert "Ended (stopping) after" in said


@pytest.mark.realtime
@pytest.mark.timeout(180)
def test_an_emulated_arm_is_stopped_by_a_stiff_wall_in_its_way(called, name, tmp_path):
    wall = ("--environment", "wall", "--stiffness", "100000", "--gap", "0.05", "--delay", "0.01", "--patience", "0.4")
    log = tmp_path / "wall.mcap"
    with EmulatorProcess(*wall, "--noise", "0.3", "--priority", "20") as emulator:
        command = [
            "go",
            "--robot",
            emulator.host,
            "--yes",
            "--name",
            name,
            "--log",
            log,
            "--set",
            "guiding.enable=none",
        ]
        command += ["--set", "tool.tcp=[0,0,0.15,0,0,0]", "--connection", "state_patience=0.5"]
        command += ["--set", "safety.joint_state_timeout=0.5", "--set", "safety.wrench_timeout=0.5"]
        done = called(*command, "--joints", "0 -78 78 -90 -90 0")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Stopped by " in done.stdout
    recording = read_log(log)
    assert replay(recording).exact
    peak = np.linalg.norm(recording.ticks["sample"]["wrench"][:, :3], axis=1).max()
    print(f"emulated wall: {peak:.0f} N; {done.stdout.splitlines()[-1]}")  # noqa: T201
    assert peak < 90.0
