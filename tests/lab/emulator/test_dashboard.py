"""Dashboard answers as UR's manual for e-Series gives them: success means done."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ur_admittance_lab.emulator.emulator_process import EmulatorProcess


def test_a_program_that_is_not_there_is_not_loaded(emulator) -> None:
    assert emulator.dashboard("load x.urp") == "File not found: x.urp"
    assert emulator.dashboard("get loaded program") == "No program loaded"
    assert emulator.dashboard("play") == "Failed to execute: play"
    assert emulator.dashboard("pause") == "Failed to execute: pause"
    assert emulator.dashboard("load installation other.installation") == "File not found: other.installation"
    assert emulator.dashboard("load installation default.installation").startswith("Loading installation: ")


def test_without_a_disk_nothing_is_said_to_be_saved(emulator) -> None:
    for command in ("saveLog", "generate flight report system", "generate support file /programs"):
        assert emulator.dashboard(command).startswith("Error: ")


def test_the_operational_mode_is_set_and_given_back(emulator) -> None:
    assert emulator.dashboard("get operational mode") == "NONE"
    assert emulator.dashboard("set operational mode automatic") == "Operational mode 'AUTOMATIC' is set"
    assert emulator.dashboard("get operational mode") == "AUTOMATIC"
    assert emulator.dashboard("clear operational mode").startswith("No longer controlling the operational mode.")
    assert emulator.dashboard("get operational mode") == "NONE"
    assert emulator.dashboard("set operational mode asleep").startswith("could not understand")
    assert emulator.dashboard("getUserRole").startswith("could not understand")  # of a CB3


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    disk = tmp_path_factory.mktemp("disk")
    (disk / "wait.script").write_text("def wait():\n  while True:\n    sleep(0.1)\n  end\nend\n")
    return disk


@pytest.fixture(scope="module")
def robot(disk: Path) -> Iterator[EmulatorProcess]:
    with EmulatorProcess("--files", str(disk)) as robot:
        yield robot


def test_a_loaded_program_plays_pauses_and_stops_and_a_log_is_on_the_disk(robot, disk) -> None:
    ask = robot.dashboard
    assert ask("load /programs/wait.urp") == "Loading program: /programs/wait.urp"
    assert ask("load ../../etc/passwd") == "File not found: ../../etc/passwd"
    assert ask("programState") == "STOPPED wait.urp"
    for command, answer, state in (
        ("play", "Starting program", "PLAYING"),
        ("pause", "Pausing program", "PAUSED"),
        ("play", "Starting program", "PLAYING"),
        ("stop", "Stopped", "STOPPED"),
    ):
        assert ask(command) == answer
        time.sleep(0.2)
        assert ask("programState") == f"{state} wait.urp"
    assert ask("addToLog a word in time") == "Added log message"
    assert ask("saveLog") == "Log saved to disk"
    assert "a word in time" in (disk / "log_history.txt").read_text()


def test_a_robot_that_is_shut_down_has_ended(robot) -> None:
    assert robot.dashboard("shutdown") == "Shutting down"
    assert robot.process.wait(5.0) == 0


def test_telling_it_what_it_does_not_know_is_an_exit_code(emulator: EmulatorProcess) -> None:
    for command, code, words in (("let go", 0, "ok"), ("bogus", 2, "could not understand 'bogus'; help lists all")):
        line = [sys.executable, "-m", "ur_admittance_lab.emulator", "tell", "--host", emulator.host, command]
        done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == code
        assert words in done.stdout + done.stderr


def test_the_pace_is_changed_while_it_runs(emulator: EmulatorProcess) -> None:
    with emulator.hurried(0.1):
        begin, first = time.monotonic(), emulator.ask("state")["time"]
        time.sleep(0.3)
        passed = emulator.ask("state")["time"] - first
        assert 0.0 < passed <= 0.1 * (time.monotonic() - begin) + 0.01
    assert [emulator.tell(f"pace {pace}") for pace in ("4", "1")] == ["ok", "ok"]
    assert all(emulator.tell(f"pace {pace}").startswith("error") for pace in ("0", "11", "nan", "fast"))
