"""A taught path inside the node, with an output through the driver's service."""

import sys
import uuid

import numpy as np
import pytest

from ur_admittance.model import robot_model
from ur_admittance.recording.log import read_log
from ur_admittance.teaching import curve
from ur_admittance.teaching.taught import Step, Taught

pytest.importorskip("rclpy")

HOME = robot_model("ur5e").home
WAY = [[0.0, 0.0, 0.0], [0.03, 0.02, 0.0], [0.05, 0.06, 0.02]]  # [m] from home


def test_play_with_robot_ros_ends_when_all_is_done(processes, setup_of, tmp_path):
    R, p = robot_model("ur5e").forward(HOME)
    tool = curve.to_vectors(curve.from_matrix(p, R)[None])[0]
    steps = (Step("pose", tool), Step("pose", tool + [0.0, 0.05, 0.0, 0.0, 0.0, 0.0]))
    Taught("ur5e", (0.0,) * 6, tuple(HOME), steps).save(tmp_path / "taught.yaml")
    processes.start("sim_node")
    setup_of(processes)
    command = [sys.executable, "-m", "ur_admittance", "play", str(tmp_path / "taught.yaml"), "--robot", "ros", "--yes"]
    command += ["--name", f"play-{uuid.uuid4().hex[:8]}", "--log", str(tmp_path / "a.mcap")]
    for change in ("guiding.enable=none", "safety.wrench_timeout=0.4", "safety.joint_state_timeout=0.4"):
        command += ["--set", change]
    process = processes.start_command(command, "play")
    assert process.wait(timeout=100) == 0, process.log.read_text()
    assert "ended: the program was done; inactive" in process.log.read_text()
    assert "the loop ends, to stop" not in process.log.read_text()
    y = read_log(tmp_path / "a.mcap").ticks["command"]["p_tcp"][:, 1]
    assert y[-1] - y[0] == pytest.approx(0.05, abs=1e-3)


@pytest.mark.parametrize("speed", [0.05])
def test_a_taught_path_is_replayed_and_its_output_reaches_the_driver(
    generated, arm_with_node, position, tmp_path, speed
):
    from ur_msgs.msg import IOStates

    R, p = robot_model("ur5e").forward(HOME)
    tool = curve.to_vectors(curve.from_matrix(p, R)[None])[0]  # the TCP of a node without tool.tcp is the flange
    path = np.array([tool + np.concatenate([place, np.zeros(3)]) for place in WAY])
    steps = (Step("path", path), Step("output", ("tool:1", True)))
    Taught("ur5e", (0.0,) * 6, tuple(HOME), steps).save(tmp_path / "taught.yaml")
    arm = arm_with_node({"stages": [f"'play:{tmp_path / 'taught.yaml'},speed={speed}'"]})
    io = arm.client.listen(IOStates, "/io_and_status_controller/io_states")
    start = position(arm.joint_state())
    first = len(arm.joints) - 1
    arm.bring_up()
    arm.wait_for(leader="led by a stage")

    def outputs():
        return [one.pin for one in io[-1][1].digital_out_states if one.state]

    arm.client.until(lambda: outputs() == [17], 30, "the output")
    places = np.array([position(message) for _, message in arm.joints[first:]])
    assert places[-1] - start == pytest.approx(WAY[-1], abs=1e-3)
    way = curve.bent(curve.from_vectors(path)).poses[:, :3] - path[0, :3]
    off = np.linalg.norm((places - start)[:, None] - way[None, ::10], axis=2).min(axis=1)
    assert off.max() < 3e-3
