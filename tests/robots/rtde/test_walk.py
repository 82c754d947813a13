"""The walk of a user with an arm: calibrate, check, include the file, run, push; all by the command line."""

import os
import subprocess
import sys
import uuid

import numpy as np
import pytest
from typer.testing import CliRunner

from ur_admittance.calibration import calm_arm as calibration_arm
from ur_admittance.cli import app
from ur_admittance.params import load_parameters
from ur_admittance.robots.rtde.direct_link import SERVO, DirectLink
from ur_admittance.robots.rtde.library_link import Commander
from ur_admittance_lab.emulator.emulator_process import EmulatorProcess

from .test_run import active, until

TOOL = ("--tool-mass", "1.2", "--noise", "0.05")
MASS = 1.2
QUICK = ("--patience", "0.4", "--pace", "10")  # robot seconds per second, where nothing is judged by the clock
HURRY = {"PEAK_SPEED": 0.6, "CALM_SPEED": 2.0, "CALM_ACCELERATION": 8.0, "OLD": 2.0}  # OLD: a busy computer
BUSY = ("--set", "safety.joint_state_timeout=0.5", "--set", "safety.wrench_timeout=0.5")
MINE = """
/**:
  ros__parameters:
    include: calibration.yaml
    tool.tcp: [0.0, 0.0, 0.15, 0.0, 0.0, 0.0]
    safety: {joint_state_timeout: 0.3, wrench_timeout: 0.3}   # a busy computer
"""


def ask(*arguments):
    result = CliRunner().invoke(app, [*arguments])
    return result.exit_code, result.output + str(result.exception or "")


@pytest.fixture(scope="module", params=["raw", "builtin"] if os.environ.get("SWEEP") else ["raw"])
def walk(request, tmp_path_factory):
    """(source, folder with calibration.yaml and mine.yaml): calibrated and checked on an emulator."""
    folder = tmp_path_factory.mktemp(request.param)
    file = str(folder / "calibration.yaml")
    with pytest.MonkeyPatch.context() as hurry, EmulatorProcess(*TOOL, *QUICK) as emulator:
        for name, value in HURRY.items():
            hurry.setattr(calibration_arm, name, value)
        arm = ("--robot", emulator.host, "--yes")
        code, output = ask("calibrate", *arm, "--sensor", request.param, "--poses", "6", "--out", file)
        assert code == 0, output
        code, output = ask("calibrate", "check", file, *arm)  # with the sensor of the file
        assert code == 0, output
        assert "good: at most" in output
        other = {"raw": "builtin", "builtin": "raw"}[request.param]
        code, output = ask("calibrate", "check", file, *arm, "--sensor", other)
        assert code != 0
        assert f"--sensor {other}: tool and bias were calibrated with sensor.source = {request.param}" in output
    (folder / "mine.yaml").write_text(MINE, encoding="utf-8")
    return request.param, folder


def test_a_calibration_finds_what_its_source_leaves_of_the_tool(walk):
    source, folder = walk
    found = load_parameters(folder / "mine.yaml")
    assert found.sensor.source == source
    expected = MASS if source == "raw" else 0.0  # the robot has removed its payload
    assert found.tool.mass == pytest.approx(expected, abs=0.01)


def test_a_calibrated_arm_runs_as_the_file_says_and_yields_to_a_push(walk):
    source, folder = walk
    name = f"walk_{uuid.uuid4().hex[:8]}"
    with EmulatorProcess(*TOOL, "--patience", "0.4") as emulator:
        mine = ("run", "--robot", emulator.host, "--yes", "--preset", str(folder / "mine.yaml"))
        other = {"raw": "builtin", "builtin": "raw"}[source]
        code, output = ask(*mine, "--sensor", other)
        assert code != 0
        assert f"calibrated with sensor.source = {source}" in output
        code, output = ask(*mine, "--set", f"sensor.source={other}")
        assert code != 0
        assert f"calibrated with sensor.source = {source}" in output
        command = [sys.executable, "-m", "ur_admittance", *mine, "--name", name]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            with active(name) as (_, newest):
                start = np.array(newest()["p_tcp"])
                count = newest()["stamp_ns"]
                until(lambda: newest()["stamp_ns"] - count > 1_000_000_000)
                assert np.linalg.norm(newest()["p_tcp"] - start) < 1e-3  # nothing pushes
                emulator.tell("push 0 15 0 0 0 0")
                until(lambda: newest()["p_tcp"][1] - start[1] > 0.05)
                emulator.tell("push 0 0 0 0 0 0")
                assert abs(newest()["p_tcp"][2] - start[2]) < 0.005
            process.terminate()
            output, _ = process.communicate(timeout=30)
            assert process.returncode == 0, output
        finally:
            process.kill()
            process.wait(timeout=10)


def test_settings_of_the_connection_are_reached_from_the_command_line():
    for given, sentence in (
        ("command=fast", "robot setting command = 'fast': input should be 'speed' or 'servo'"),
        ("speed=1", "robot setting speed: is unknown; must be one of command, sensor, second, payload_kg"),
        ("gain=9", "robot setting gain = 9.0: must be 100 to 2000"),
    ):
        code, output = ask("run", "--robot", "127.0.0.1", "--yes", "--connection", given)
        assert code != 0
        assert sentence in output


@pytest.mark.parametrize(
    ("client", "owner", "method", "servo"),
    [("ur_rtde", Commander, "stream", b"V"), ("direct", DirectLink, "_send", SERVO)],
    ids=["ur_rtde", "direct"],
)
def test_client_servoj_and_payload_are_taken_from_the_command_line(monkeypatch, client, owner, method, servo):
    sent = []
    original = getattr(owner, method)
    monkeypatch.setattr(owner, method, lambda *values: sent.append(values[1]) or original(*values))
    settings = ("--connection", "command=servo", "--connection", "payload_kg=1.2", "--connection", "state_patience=0.5")
    with EmulatorProcess(*TOOL, "--patience", "0.4", "--payload", "0.5") as emulator:
        arm = ("--robot", emulator.host, "--yes", "--client", client)
        code, output = ask("run", *arm, "--duration", "2", *settings, *BUSY)
    assert code == 0, output
    assert "payload (1.2 kg)" in output
    assert "before: 0.5 kg" in output
    assert sent.count(servo) > 20


def test_a_client_is_refused_where_there_is_none():
    for robot in ("sim", "ros"):
        code, output = ask("run", "--robot", robot, "--client", "direct")
        assert code != 0
        assert f"--client direct: is for an arm with an address, not for {robot}" in output
