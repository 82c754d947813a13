"""A path in front of the law and a follower behind it, on an arm that is driven through RTDE."""

import uuid

import numpy as np
import pytest
from tests.paths import CORNERS, along

import ur_admittance as ua
from ur_admittance.core.records import Mode
from ur_admittance.recording.replay import replay
from ur_admittance_lab.emulator.emulator_process import EmulatorProcess

TCP = [0.0, 0.0, 0.15, 0.0, 0.0, 0.0]


@pytest.fixture(scope="module")
def emulator():
    with EmulatorProcess("--patience", "0.4") as started:
        yield started


@pytest.mark.parametrize("command", ["speed", "servo"])
def test_a_path_leads_the_arm_along_the_same_lines_as_in_the_simulation(emulator, command, tmp_path):
    emulator.tell("reset")
    changes = {"tool.tcp": TCP, "safety.joint_state_timeout": 0.3, "safety.wrench_timeout": 0.3}
    controller = ua.AdmittanceController(ua.robot_model("ur5e"), ua.Parameters().changed(changes))
    settings = ua.RtdeSettings(state_patience=0.5, command_patience=0.4, command=command)
    path = ua.CartesianPath(CORNERS, speed=0.05, relative=True)
    with ua.RtdeRobot(emulator.host, controller.model, settings) as robot:
        report = ua.run(
            controller,
            robot,
            duration=30.0,  # a busy computer
            activate=True,
            on_tick=lambda c: path.done and np.abs(c.command["twist"]).max() < 1e-3,
            stages=[path, ua.JointFollower()],
            log=tmp_path / "run.mcap",
            name=f"rtde_{uuid.uuid4().hex[:8]}",
        )
    assert path.done, report
    assert report.mode == Mode.INACTIVE
    log = ua.read_log(tmp_path / "run.mcap")
    assert replay(log).exact
    ticks = log.ticks[log.ticks["command"]["mode"] == Mode.ACTIVE]
    off, end = along(CORNERS, ticks["command"]["p_tcp"])
    assert off < 2e-3  # [m] as in tests/cli and tests/ros
    assert end < 1e-3
    assert np.abs(ticks["loop"]["q_sent"] - ticks["command"]["q"]).max() > 1e-6  # the follower was at work
