"""`ur-admittance bringup` as a person does it: a process of its own, answers on its input, pushes on the tool."""

import os
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ur_admittance.params import load_parameters
from ur_admittance.robots.rtde.bringup.bringup_report import load_report
from ur_admittance.robots.rtde.bringup.moving import NAMES
from ur_admittance_lab.emulator.emulator_process import EmulatorProcess

PUSHES = {
    "push +x": "push 10 0 0 0 0 0",
    "push +y": "push 0 10 0 0 0 0",
    "push +z": "push 0 0 10 0 0 0",
    "twist +z": "push 0 0 0 0 0 -1",  # the tool points down
    "twist +x": "push 0 0 0 0 -1 0",
    "twist +y": "push 0 0 0 -1 0 0",
}
pytestmark = [pytest.mark.timeout(240), pytest.mark.realtime]  # a push of a second, states within 100 ms
PATIENCE = 30.0  # [s] for the next thing to be said


class Person:
    """Reads what is said and answers it: a table of (pattern, answer), in any order; a callable is called."""

    def __init__(self, emulator: EmulatorProcess, out: Path, *options: str) -> None:
        command = [sys.executable, "-u", "-m", "ur_admittance", "bringup", "--robot", emulator.host, "--out", str(out)]
        self.process = subprocess.Popen(
            [*command, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        self.said, self._seen = "", 0

    def until(self, pattern: str, answers: dict[str, object] | None = None) -> None:
        """Answer what is asked until the pattern is said; "" is its end."""
        assert self.process.stdout is not None
        while True:
            waiting = self.said[self._seen :]
            found = [
                (match.start(), match.end(), answer)
                for key, answer in [(pattern, None), *(answers or {}).items()]
                if key and (match := re.search(key, waiting))
            ]
            if found:
                _, length, answer = min(found)
                self._seen += length
                if answer is None:
                    return
                self.answer(answer)
                continue
            assert select.select([self.process.stdout], [], [], PATIENCE)[0], self.said
            data = os.read(self.process.stdout.fileno(), 4096).decode()
            self.said += data
            if not data:
                assert not pattern, self.said
                return

    def answer(self, answer: object) -> None:
        if callable(answer):
            answer()
        else:
            assert self.process.stdin is not None
            self.process.stdin.write(f"{answer}\n".encode())
            self.process.stdin.flush()

    def ended(self) -> int:
        self.until("")
        return self.process.wait(10.0)


@pytest.fixture(scope="module")
def emulator():
    with EmulatorProcess("--noise", "0.2", "--calibrated", "3", "--patience", "0.4") as emulator:
        yield emulator


@pytest.fixture
def robot(emulator):
    emulator.tell("reset")
    return emulator


def confident(robot: EmulatorProcess) -> dict[str, object]:
    """The answers of a person for whom all goes well."""
    answers: dict[str, object] = {
        r"Your name.*> ": "Ada",
        r"Enter: go on.*> ": "",
        r"TCP in the flange frame.*> ": "0 0 150",
        r"hand on the emergency stop\? .*> ": "y",
        r"y: yes, r: repeat.*> ": "y",
        r"That is not good yet.*> ": "r",  # a busy machine may hold up a robot cycle
        r"thank you, let go": lambda: robot.tell("let go"),
        r"pull the network cable": lambda: robot.tell("cut 2"),
        r"Plug the cable in again.*> ": "",
        r"\nreal-time: .*frozen": lambda: (time.sleep(1.0), robot.tell("push 0 10 0 0 0 0 1.5")),  # seen at rest first
    }
    for words, push in PUSHES.items():
        answers[rf"{re.escape(words)}: (push|twist) the tool"] = lambda push=push: robot.tell(push)
    return answers


@pytest.fixture(scope="module")
def out(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("bringup") / "bringup.yaml"


def test_a_bring_up_ends_in_a_report_that_run_takes_as_its_configuration(robot, out: Path) -> None:
    without_calibration = {
        r"8 of 10(?s:.*?)emergency stop\? .*> ": "s",
        r"Why is it skipped.*> ": "done by the next test",
    }
    person = Person(robot, out, "--seconds", "4")
    person.until("From now on:", without_calibration | confident(robot))
    assert person.ended() == 0, person.said
    report = load_report(out)
    assert tuple(report.entries) == NAMES
    assert {entry.by for entry in report.entries.values()} == {"Ada"}
    assert [name for name, entry in report.entries.items() if entry.state != "done"] == ["calibration"]
    assert report.about["serial number"] == "20200000001"
    assert "0.00 mm and 0.00 degrees are left" in report.entries["kinematics"].lines[0]
    assert "the arm would move along +y" in report.entries["frames"].lines[1]
    speed, left = map(
        float, re.findall(r"pulled at ([\d.]+) mm/s, the flange went on for ([\d.]+) mm", out.read_text())[0]
    )
    assert speed > 10.0
    assert (
        left < speed * 0.15
    )  # [s]: 20 ms until the script brakes, and the brakes; a held speed would last the whole cut
    parameters = load_parameters(out)
    assert parameters.tool.tcp[2] == 0.15
    assert 0.002 < parameters.robot.response_time < 0.02
    assert parameters.velocity_scale_factor == 0.1
    moved, speed = map(float, re.findall(r"moved up to ([\d.]+) mm away at up to ([\d.]+) mm/s", out.read_text())[0])
    assert moved > 5.0
    assert speed < 0.1 * 1e3 * parameters.max_linear_velocity + 0.1
    command = [sys.executable, "-m", "ur_admittance", "run", "--robot", robot.host, "--preset", str(out)]
    command += ["--connection", "watchdog_hz=2", "--connection", "state_patience=0.5"]  # a busy computer
    command += ["--set", "safety.joint_state_timeout=0.5", "--set", "safety.wrench_timeout=0.5"]
    ran = subprocess.run([*command, "--duration", "0.5", "--yes"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "response_time is unknown" not in ran.stdout


def test_a_step_done_again_changes_the_configuration(robot, out: Path) -> None:
    assert load_parameters(out).sensor.source == ""
    with robot.hurried():
        person = Person(robot, out, "--from", "calibration", "--poses", "6")
        person.until("9 of 10", confident(robot))
        person.until(r"emergency stop\? .*> ")
        person.answer("q")
        assert person.ended() == 0, person.said
    assert load_report(out).entries["calibration"].state == "done"
    assert "motion" not in load_report(out).entries
    parameters = load_parameters(out)
    assert parameters.sensor.source == "builtin"
    assert parameters.tool.mass < 0.05  # the payload is right
    assert parameters.tool.tcp[2] == 0.15  # of a step before it


def test_what_was_measured_survives_ctrl_c_and_a_skipped_step_says_why(robot, tmp_path: Path) -> None:
    out, careful = tmp_path / "bringup.yaml", {r"Enter: go on.*> ": ""}
    person = Person(robot, out, "--by", "Ada")
    person.until(r"Has everything been fixed.*> ", careful)
    person.answer("y")
    person.until(r"Is this the arm in front of you.*> ", careful)
    time.sleep(0.3)  # a signal between the question and the reading of its answer would wait for that
    person.process.send_signal(signal.SIGINT)
    assert person.ended() != 0
    assert "Go on with: ur-admittance bringup" in person.said
    assert [entry.state for entry in load_report(out).entries.values()] == ["done", "measured"]

    person = Person(robot, out)
    person.until(r"Is this the arm in front of you.*> ")  # asked again, not measured again
    person.answer("y")
    person.until(r"3 of 10.*\n(.*\n)*Enter: go on.*> ")
    person.answer("s")
    person.until(r"Why is it skipped.*> ")
    person.answer("seen on another day")
    person.until(r"4 of 10.*\n(.*\n)*Enter: go on.*> ")
    person.answer("q")
    assert person.ended() == 0
    entries = load_report(out).entries
    assert [entry.state for entry in entries.values()] == ["done", "done", "skipped"]
    assert entries["kinematics"].lines == ("reason: seen on another day",)
    assert entries["kinematics"].by == "Ada"

    out.write_text(out.read_text().replace("20200000001", "20199999999"))
    person = Person(robot, out)
    assert person.ended() == 2
    assert "serial number 20199999999, but 20200000001 answers" in person.said


def test_a_step_that_finds_the_cause_in_an_earlier_one_names_the_command_that_repeats_it(robot, tmp_path: Path) -> None:
    """The emulator has a tool of 150 mm and no TCP on its pendant; a person who types y for Enter accepts that."""
    out, skipped = tmp_path / "my bringup.yaml", {}
    for title in ("Computer, network and robot", "The type of the arm", "Its own geometry", "The force sensor"):
        skipped[rf"of \d+  {title}(?s:.*?)Enter: go on.*> "] = "s"
    answers = confident(robot) | skipped | {r"Why is it skipped.*> ": "done by another test"}
    answers |= {r"Enter: go on.*> ": "y", r"TCP in the flange frame.*> ": ""}
    del answers[r"That is not good yet.*> "]
    person = Person(robot, out)
    person.until(r"That is not good yet.*> ", answers)
    person.answer("q")
    assert person.ended() == 0, person.said
    assert "tool.tcp says [0, 0, 0] mm" in person.said
    (command,) = re.findall(r"ur-admittance (bringup .*--from .*)", person.said)
    options = shlex.split(command)[1:]
    assert options[:4] == ["--robot", robot.host, "--out", str(out)]
    person = Person(robot, out, *options[4:])
    person.until(r"What it carries(?s:.*?)Enter: go on.*> ")
    person.answer("q")
    assert person.ended() == 0, person.said
    assert list(load_report(out).entries) == ["check", "model", "kinematics"]
