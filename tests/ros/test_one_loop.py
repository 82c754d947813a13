"""What every form has, the ROS form has too: a recording that replays exactly, `why`, the page, requests by name."""

import os
import re
import signal
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
import pytest

from ur_admittance import library
from ur_admittance.core.records import Mode
from ur_admittance.recording.log import read_log
from ur_admittance.recording.replay import replay
from ur_admittance.recording.why import why
from ur_admittance.runtime.mailbox import send
from ur_admittance.runtime.telemetry import TelemetryReader

pytest.importorskip("rclpy")

NAME = f"ros-test-{os.getpid()}"


def test_a_node_is_recorded_and_the_recording_replays_with_every_bit_equal(arm_with_node, tmp_path):
    path = tmp_path / "run.mcap"
    arm = arm_with_node({"log": str(path), "controller_name": NAME})
    arm.bring_up()
    arm.push([0, 8, 0, 0, 0, 0], 1.5)
    assert arm.client.set_parameter("admittance.mass", [4.0, 4.0, 4.0, 0.4, 0.4, 0.4]).successful
    arm.push([0, 0, 150, 0, 0, 0], 0.5)  # over-force: a fault to ask about
    arm.wait_for(mode="fault")
    assert arm.client.transition("cleanup"), arm.state()
    log = read_log(path)
    assert log.complete
    assert log.lost == 0
    result = replay(log)
    assert result.exact, str(result)
    assert int(result.recomputed.sum()) == len(log.ticks) - 1  # all but the first, whose state is the start
    assert log.about["model"] == "ur5e"
    assert np.abs(log.ticks["command"]["qd"]).max() > 0.05
    assert "above safety.max_force" in why(log)
    # a second configure begins a second file
    assert arm.client.transition("configure", timeout=60.0), arm.state()
    assert arm.client.transition("cleanup"), arm.state()
    assert read_log(tmp_path / "run-2.mcap").complete


def test_an_existing_recording_is_never_overwritten(processes, tmp_path):
    path = tmp_path / "old.mcap"
    path.write_text("precious")
    process = processes.start("admittance_node", {"log": str(path)})
    assert process.wait(timeout=60) == 2
    assert "exists already" in process.log.read_text()
    assert path.read_text() == "precious"


def test_other_programs_ask_the_node_by_name_and_its_life_cycle_and_parameters_follow(arm_with_node):
    arm = arm_with_node({"controller_name": NAME})
    assert arm.client.transition("configure", timeout=60.0), arm.state()
    assert send({"request": "activate"}, NAME).accepted
    arm.wait_for(life="active", mode="active")
    assert not send({"request": "activate"}, NAME).accepted
    assert send({"set": {"admittance.min_motion_threshold": 2.5}}, NAME).accepted
    arm.client.until(lambda: arm.client.parameter("admittance.min_motion_threshold") == 2.5, 5, "the ROS parameter")
    # the next change through ROS keeps the one that came by name
    assert arm.client.set_parameter("safety.max_force", 80.0).successful
    assert arm.client.parameter("admittance.min_motion_threshold") == 2.5
    refused = send({"set": {"admittance.mass": [-1, 8, 8, 1, 1, 1]}}, NAME)
    assert not refused.accepted
    with TelemetryReader(NAME) as reader:
        time.sleep(0.2)
        records = reader.drain()
        assert records["command"]["mode"][-1] == Mode.ACTIVE
    assert send({"request": "stop"}, NAME).accepted
    arm.wait_for(life="inactive")
    # a stop has the last word, and is harmless while nothing moves
    assert send({"request": "activate"}, NAME).accepted
    assert send({"request": "stop"}, NAME).accepted
    assert send({"request": "stop"}, NAME).accepted
    time.sleep(1.0)
    assert arm.state()["life"] == "inactive"
    assert "a callback failed" not in arm.processes.running[1].log.read_text()


def test_trying_to_start_again_and_again_leaves_one_recording_and_a_person_ends_it(
    processes, setup_of, patient, tmp_path
):
    processes.start("sim_node")
    other = setup_of(processes)
    from trajectory_msgs.msg import JointTrajectory

    other.client.publisher(JointTrajectory, "/scaled_joint_trajectory_controller/joint_trajectory")  # so it is refused
    path = tmp_path / "run.mcap"
    node = processes.start("admittance_node", {**patient, "autostart": True, "log": str(path)})
    tries = lambda: node.log.read_text().count("activate refused")  # noqa: E731
    other.client.until(lambda: tries() >= 2, 90, "two attempts")
    assert other.client.transition("cleanup")  # a person takes over
    kept, before = read_log(path).ticks, tries()
    assert [file.name for file in tmp_path.glob("*.mcap")] == ["run.mcap"]
    other.client.forget()
    time.sleep(1.0)
    assert (tries(), other.client.life()) == (before, "unconfigured")
    node.send_signal(signal.SIGINT)
    assert node.wait(timeout=20) == 0
    assert len(read_log(path).ticks) == len(kept) > 0


def test_ctrl_c_ends_a_node_that_is_compiling(processes, setup_of, tmp_path):
    processes.start("sim_node")
    client, cache = setup_of(processes).client, tmp_path / "cache"
    node = processes.start("admittance_node", {"autostart": True}, environment={"UR_ADMITTANCE_CACHE": str(cache)})
    client.until(lambda: "compiling the controller" in node.log.read_text(), 60, "the first start")
    node.send_signal(signal.SIGINT)
    assert node.wait(timeout=30) == 0
    assert "told to end" in node.log.read_text()
    assert not list(cache.rglob("*.so"))


def test_the_page_shows_a_running_node(arm_with_node):
    arm = arm_with_node({"controller_name": NAME, "dashboard": True})
    assert arm.client.transition("configure", timeout=90.0), arm.state()
    for process in arm.processes.running:  # of the arm and of the node
        maps = Path(f"/proc/{process.pid}/maps").read_text()
        assert library.NAME in maps
        assert "llvmlite" not in maps
    log = arm.processes.running[1].log.read_text()
    address = re.search(r"http://[\w.:]+/?\S*", log)
    assert address, log
    with urllib.request.urlopen(address.group(0), timeout=10) as answer:
        assert b"<html" in answer.read().lower()
    assert arm.client.transition("cleanup"), arm.state()
    with pytest.raises(OSError, match=r"refused|reset"):
        urllib.request.urlopen(address.group(0), timeout=5)


def test_run_with_robot_ros_makes_the_arm_compliant_and_ends_with_a_report(processes, setup_of, tmp_path):
    processes.start("sim_node")
    setup = setup_of(processes)
    path = tmp_path / "run.mcap"
    command = [sys.executable, "-m", "ur_admittance", "run", "--robot", "ros", "--yes", "--name", NAME]
    command += ["--set", "guiding.enable=none"]
    command += ["--set", "safety.wrench_timeout=0.4", "--set", "safety.joint_state_timeout=0.4"]
    process = processes.start_command([*command, "--duration", "4", "--log", str(path)], "run")
    setup.wait_for(life="active", mode="active", timeout=90.0)
    setup.push([0, 20, 0, 0, 0, 0], 1.0)
    assert process.wait(timeout=60) == 0, process.log.read_text()
    text = process.log.read_text()
    assert "cycles; ended:" in text
    assert "read to write" in text
    log = read_log(path)
    assert replay(log).exact
    assert np.abs(log.ticks["command"]["twist"][:, 1]).max() > 0.05


def test_a_loop_that_fails_under_run_is_told_and_is_an_exit_code(processes, setup_of, tmp_path):
    (tmp_path / "stage_that_fails.py").write_text(
        "class Fails:\n    behind, cycles = False, 0\n    def start(self, controller, command): ...\n"
        "    def update(self):\n        self.cycles += 1\n"
        "        if self.cycles > 300: raise RuntimeError('camera gone')\n"
    )
    processes.start("sim_node")
    setup = setup_of(processes)
    command = [sys.executable, "-m", "ur_admittance", "run", "--robot", "ros", "--yes", "--name", NAME]
    command += ["--set", "guiding.enable=none"]
    command += ["--duration", "4", "--set", "safety.wrench_timeout=0.4", "--set", "safety.joint_state_timeout=0.4"]
    command += ["--stage", "stage_that_fails:Fails"]
    process = processes.start_command(command, "run", {"PYTHONPATH": str(tmp_path)})
    setup.wait_for(timeout=90.0)
    assert process.wait(timeout=90) == 1, process.log.read_text()
    text = process.log.read_text()
    assert "camera gone; the arm was stopped" in text
    assert "cycles; ended: failed while" in text
