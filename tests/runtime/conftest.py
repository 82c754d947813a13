"""A real controller, a robot that costs nothing, and programs in other processes."""

import os
import subprocess
import sys
import time
import uuid
from pathlib import Path

import numpy as np
import pytest

from ur_admittance.control import AdmittanceController
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.runtime import registry
from ur_admittance_lab.null_robot import NullRobot

PERIOD = 0.002


@pytest.fixture
def controller():
    """A configured controller; `activate` has been asked for."""
    controller = AdmittanceController(robot_model("ur5e"), Parameters().changed({"safety.steady_force_time": 1e6}))
    controller.configure()
    controller.activate()
    return controller


@pytest.fixture
def robot():
    """Pushed with 20 N from its second reading on: with the default damping of 64 Ns/m the tool moves at 0.3 m/s."""
    robot = NullRobot(PERIOD)
    robot.wrench[:] = [20.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    return robot


@pytest.fixture
def name():
    """A name for shared memory that no other test uses; what is left over is removed."""
    unique = "test-" + uuid.uuid4().hex[:12]
    yield unique
    for purpose in ("telemetry", "mailbox"):
        registry.shared_file(unique, purpose).unlink(missing_ok=True)


@pytest.fixture
def child():
    """child(code, *arguments) starts a Python program and waits for its line "ready"; it is killed after the test."""
    started = []

    def start(code, *arguments):
        process = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")},
        )
        started.append(process)
        assert process.stdout.readline().strip() == "ready"
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def eventually():
    """eventually(condition) waits up to 10 s for it."""

    def wait(condition, timeout=10.0):
        end = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < end, "did not happen in time"
            time.sleep(0.01)

    return wait


@pytest.fixture
def same_bits():
    def compare(a, b):
        return np.asarray(a).tobytes() == np.asarray(b).tobytes()

    return compare
