"""Out of a contact stop with `ur-admittance run --robot ADDRESS`: told what to do, unlock, reset, guided away."""

import signal
import subprocess
import sys
import time
import uuid

import numpy as np
import pytest
from typer.testing import CliRunner

from ur_admittance.cli import app
from ur_admittance.cli.status_line import lines
from ur_admittance.core.records import Mode, Status
from ur_admittance.recording.log import read_log
from ur_admittance_lab.emulator.emulator_process import EmulatorProcess

from .test_run import active, until

WALL = ("--environment", "wall", "--gap", "0.05", "--force-limit", "50", "--patience", "0.4", "--priority", "20")
BUSY = (
    "--set",
    "safety.joint_state_timeout=0.5",
    "--set",
    "safety.wrench_timeout=0.5",
    "--connection",
    "state_patience=0.5",
    "--connection",
    "command_patience=0.4",
    "--connection",
    "watchdog_hz=2",
)


def ask(request, name):
    """What somebody types in another terminal, and what they read."""
    result = CliRunner().invoke(app, ["ask", request, "--name", name])
    return result.exit_code == 0, result.output + str(result.exception or "")


@pytest.mark.timeout(180)
def test_three_contact_stops_of_three_are_left_by_unlock_reset_and_a_push():
    name = f"contact_{uuid.uuid4().hex[:8]}"
    with EmulatorProcess(*WALL) as emulator:
        command = [sys.executable, "-m", "ur_admittance", "run", "--robot", emulator.host, "--yes", "--name", name]
        command += ["--set", "guiding.enable=none"]
        process = subprocess.Popen([*command, *BUSY], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            with active(name) as (telemetry, newest):
                for _ in range(3):
                    hit_the_wall(emulator, newest)
                    read = lines(telemetry).plain
                    assert "protective stop; look for the cause" in read
                    assert f"ur-admittance ask unlock --name {name}" in read
                    leave_the_stop(emulator, name, newest)
                    guide_away(emulator, name, telemetry, newest)
                hit_the_wall(emulator, newest)
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=30)
            assert process.returncode == 1, output  # it ended in a fault
            assert "stopped: the robot is in a protective stop" in output
        finally:
            process.kill()
            process.wait(timeout=10)


def hit_the_wall(emulator, newest):
    emulator.tell("unlock delay 60")
    emulator.tell("push 25 0 0 0 0 0")
    until(lambda: newest()["mode"] == Mode.FAULT)
    emulator.tell("let go")
    assert Status(int(newest()["status"])) == Status.PROTECTIVE_STOP
    assert "force 5" in emulator.ask("state")["reason"]


def leave_the_stop(emulator, name, newest):
    accepted, read = ask("reset_fault", name)
    assert not accepted
    assert "protective stop: look for the cause, then unlock it on the pendant, or" in read
    accepted, read = ask("unlock", name)
    assert not accepted
    assert "Cannot unlock protective stop until 5s after occurrence" in read
    until(lambda: emulator.ask("state")["standing"])  # a robot unlocks after 5 s, and stands long before,
    time.sleep(1.0)  # having given way to what it pressed on
    emulator.tell("unlock delay 0.1")
    assert ask("unlock", name) == (True, "the robot is unlocked and stays where it is; now reset the fault\n")
    time.sleep(0.3)
    state = emulator.ask("state")
    assert state["stop"] == "NONE", state["reason"]  # it does not trip again
    assert newest()["mode"] == Mode.FAULT  # and nothing comes back by itself
    assert ask("reset_fault", name)[0]
    until(lambda: newest()["mode"] == Mode.INACTIVE)


def guide_away(emulator, name, telemetry, newest):
    """Activated, the arm stands, whether the wall still presses or not; a push leads it away."""
    start = np.array(newest()["p_tcp"])
    assert ask("activate_with_load", name)[0]  # the wall may still press
    until(lambda: newest()["mode"] in (Mode.ACTIVE, Mode.FAULT))
    assert newest()["mode"] == Mode.ACTIVE, telemetry.reason()
    begin, fastest = newest()["stamp_ns"], 0.0
    while newest()["stamp_ns"] - begin < 1_000_000_000:
        fastest = max(fastest, float(np.linalg.norm(newest()["twist"][:3])))
        time.sleep(0.002)
    assert fastest < 0.02
    assert np.linalg.norm(newest()["p_tcp"] - start) < 0.004
    emulator.tell("push -20 0 0 0 0 0")
    until(lambda: newest()["p_tcp"][0] < start[0] - 0.04 or newest()["mode"] != Mode.ACTIVE)
    emulator.tell("let go")
    assert newest()["mode"] == Mode.ACTIVE, telemetry.reason()


def test_a_new_program_lets_in_slowly_what_presses_on_the_tool_at_its_start(tmp_path):
    log = tmp_path / "run.mcap"
    with EmulatorProcess("--environment", "wall", "--gap", "-0.002", "--priority", "20") as emulator:
        command = [sys.executable, "-m", "ur_admittance", "run", "--robot", emulator.host, "--yes", "--accept", "load"]
        command += ["--set", "guiding.enable=none"]
        command += ["--duration", "3"]
        command += ["--name", f"pressed_{uuid.uuid4().hex[:8]}", "--log", str(log), *BUSY]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stdout + done.stderr
    commands = read_log(log).ticks["command"]
    active = commands[commands["mode"] == Mode.ACTIVE]
    assert np.linalg.norm(active["wrench_tcp"][0, :3]) > 15.0
    assert np.linalg.norm(active["wrench_tcp"][-1, :3]) < 5.0  # it has yielded all the same
    assert np.linalg.norm(active["twist"][:, :3], axis=1).max() < 0.03
