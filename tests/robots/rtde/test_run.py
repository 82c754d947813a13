"""`ur-admittance run --robot ADDRESS` as its user has it: a process of its own, asked through the mailbox."""

import subprocess
import sys
import time
import uuid
from contextlib import contextmanager

import numpy as np
import pytest

from ur_admittance.cli.status_line import lines
from ur_admittance.core.records import Mode, Status
from ur_admittance.errors import UrAdmittanceError
from ur_admittance.robots.rtde import link
from ur_admittance.runtime.mailbox import send
from ur_admittance.runtime.telemetry import TelemetryReader
from ur_admittance_lab.emulator.emulator_process import EmulatorProcess


def until(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture(scope="module")
def started():
    with EmulatorProcess("--patience", "0.4") as started:
        yield started


@pytest.fixture
def emulator(started):
    started.tell("reset")
    return started


@pytest.fixture
def run(emulator):
    """(process, name): a controller at work on the emulator."""
    name = f"run_{uuid.uuid4().hex[:8]}"
    command = [sys.executable, "-m", "ur_admittance", "run", "--robot", emulator.host, "--yes", "--name", name]
    command += ["--dashboard"]  # which takes a while to start, between the connection and the first cycle
    command += ["--set", "guiding.enable=none"]  # the hand of an emulator holds no button
    command += ["--set", "safety.joint_state_timeout=0.3", "--set", "safety.wrench_timeout=0.3"]
    command += ["--connection", "watchdog_hz=2"]  # a busy computer
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    yield process, name
    if process.poll() is None:
        process.kill()
    process.wait(timeout=10)


def opened(name):
    found = []

    def there():
        try:
            found.append(TelemetryReader(name))
        except UrAdmittanceError:
            return False
        return True

    until(there, 60.0)
    return found[0]


@contextmanager
def active(name):
    """(telemetry, its newest command) of a controller that has become active."""
    with opened(name) as telemetry:
        until(lambda: telemetry.latest() is not None, 60.0)
        command = lambda: telemetry.latest()["command"]  # noqa: E731
        until(lambda: command()["mode"] == Mode.ACTIVE, 60.0)
        yield telemetry, command


def test_a_protective_stop_is_left_by_unlocking_and_a_reset_and_each_stop_says_why(emulator, run):
    process, name = run
    with active(name) as (telemetry, command):
        emulator.tell("protective stop")
        until(lambda: command()["mode"] == Mode.FAULT)
        assert command()["status"] == Status.PROTECTIVE_STOP
        refused = send({"request": "reset_fault"}, name)
        assert not refused.accepted
        assert "protective stop: look for the cause" in refused.text
        emulator.tell("unlock delay 0.5")  # five seconds otherwise
        until(lambda: emulator.dashboard("unlock protective stop") == "Protective stop releasing")
        time.sleep(0.2)
        assert command()["mode"] == Mode.FAULT  # nothing comes back by itself
        answer = send({"request": "reset_fault"}, name, timeout=10.0)
        assert answer.accepted, answer.text
        until(lambda: command()["mode"] == Mode.INACTIVE)
        assert send({"request": "activate"}, name).accepted
        until(lambda: command()["mode"] == Mode.ACTIVE)
        emulator.tell("push 0 20 0 0 0 0")
        until(lambda: np.linalg.norm(command()["twist"][:3]) > 0.02)
        emulator.tell("push 0 0 0 0 0 0")
        emulator.tell("slider 0.3")
        time.sleep(1.5)
        emulator.dashboard("stop")  # of the program, on the pendant
        until(lambda: command()["mode"] == Mode.FAULT)
        until(lambda: link.WAS_STOPPED in telemetry.reason())
        shown = str(lines(telemetry))
        assert "ask reset_fault" in shown
        assert "not yet" not in shown
    process.terminate()
    output, _ = process.communicate(timeout=20)
    assert process.returncode == 1, output  # in a fault
    assert "Why: the robot is in a protective stop." in output
    assert f"Why: {link.WAS_STOPPED}." in output
    assert "The speed slider is at 30 %" in output


def test_a_clamped_arm_goes_back_on_request_then_reset_and_activation_work(emulator, run):
    process, name = run
    with active(name) as (telemetry, command):
        start = np.array(command()["p_tcp"])
        emulator.tell("push 0 20 0 0 0 0")
        until(lambda: np.linalg.norm(command()["p_tcp"] - start) > 0.05 or command()["mode"] == Mode.FAULT)
        assert command()["mode"] == Mode.ACTIVE, telemetry.reason()
        assert send({"set": {"safety.max_force": 10.0}}, name, timeout=5.0).accepted
        until(lambda: command()["mode"] == Mode.FAULT and not command()["qd"].any())
        refused = send({"request": "reset_fault"}, name, timeout=5.0)
        assert not refused.accepted
        assert "the cause is still there: force" in refused.text
        there = np.array(command()["p_tcp"])
        assert send({"request": "retreat"}, name, timeout=5.0).accepted
        until(lambda: np.linalg.norm(command()["p_tcp"] - there) > 0.005)
        assert command()["status"] == Status.RETREATING
        emulator.tell("push 0 0 0 0 0 0")
        until(lambda: command()["status"] == Status.RETREATED and not command()["qd"].any())
        assert send({"request": "reset_fault"}, name, timeout=5.0).accepted
        until(lambda: command()["mode"] == Mode.INACTIVE)
        assert send({"request": "activate"}, name, timeout=5.0).accepted
        until(lambda: command()["mode"] == Mode.ACTIVE)
    process.terminate()
    output, _ = process.communicate(timeout=20)
    assert process.returncode == 0, output
