"""An arm that programs move, without an admittance node: a trajectory, init_robot, the command line."""

import json
import sys
import time

import numpy as np
import pytest

from .watched import NAMES

pytest.importorskip("rclpy")


@pytest.fixture(scope="module")
def running(module_processes):
    module_processes.start("sim_node", {"start": [0.3, -1.5, 1.5, -1.5, -1.5, 0.2]})
    return module_processes


@pytest.fixture
def arm(running, setup_of):
    """At its start, at full speed."""
    found = setup_of(running)
    assert found.client.trigger("/ur_sim/reset").success
    assert found.client.set_parameter("speed_scaling", 1.0, "/ur_sim").successful
    found.joints.clear()
    return found


def test_speed_scaling_slows_a_trajectory_down(arm):
    from builtin_interfaces.msg import Duration
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    assert arm.client.set_parameter("speed_scaling", 0.5, "/ur_sim").successful
    topic = "/scaled_joint_trajectory_controller/joint_trajectory"
    publisher = arm.client.publisher(JointTrajectory, topic)
    start = arm.joint_state()
    goal, pan = list(start.position), start.name.index("shoulder_pan_joint")
    goal[pan] += 0.4
    point = JointTrajectoryPoint(positions=goal, time_from_start=Duration(sec=2))

    def moving():
        """One message may be lost while the two sides find each other."""
        publisher.publish(JointTrajectory(joint_names=start.name, points=[point]))
        time.sleep(0.3)
        return arm.joint_state().position[pan] > start.position[pan] + 0.01

    arm.client.until(moving, 20)
    time.sleep(5.0)
    arm.still()
    way = [(m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec, m.position[pan] - start.position[pan])
           for _, m in arm.joints]  # fmt: skip
    middle = np.array([(t, x) for t, x in way if 0.1 < x < 0.3])
    assert np.polyfit(middle[:, 0] - middle[0, 0], middle[:, 1], 1)[0] == pytest.approx(0.5 * 0.4 / 2.0, rel=0.02)
    assert way[-1][1] == pytest.approx(0.4, abs=0.01)


@pytest.mark.realtime
def test_init_robot_moves_smoothly_to_a_named_configuration(arm, processes):
    arm.joint_state()
    mover = processes.start("init_robot", {"configuration": "home"})
    assert mover.wait(timeout=60) == 0, mover.log.read_text()
    arm.still()
    state = arm.joint_state()
    home = dict(zip(NAMES, [0.0, -np.pi / 2, np.pi / 2, -np.pi / 2, -np.pi / 2, 0.0], strict=True))
    assert all(abs(q - home[name]) < 0.005 for name, q in zip(state.name, state.position, strict=True))
    speeds = np.array([m.velocity for _, m in arm.joints])
    assert 0.05 < np.abs(speeds).max() < 0.6
    refused = processes.start("init_robot", {"configuration": "moon"})
    assert refused.wait(timeout=60) == 2
    assert "configuration = 'moon': must be one of home" in refused.log.read_text()


@pytest.mark.realtime
def test_the_command_line_uses_the_arm_of_a_running_system(arm, processes):
    """Nothing of ROS has to be started for it; --dry-run reads only, measure-response moves the arm."""
    before = np.array(arm.joint_state().position)
    program = [sys.executable, "-m", "ur_admittance"]
    listed = processes.start_command([*program, "calibrate", "--robot", "ros", "--dry-run", "--poses", "6"], "listed")
    assert listed.wait(timeout=60) == 0
    assert "excitation 0." in listed.log.read_text()
    assert np.abs(np.array(arm.joint_state().position) - before).max() < 1e-4
    measured = processes.start_command([*program, "measure-response", "--robot", "ros", "--yes", "--json"], "measured")
    assert measured.wait(timeout=60) == 0
    result = json.loads(measured.log.read_text().splitlines()[-1])
    assert result["robot"] == "ur5e"
    assert 0.003 < result["response_time"] < 0.03
    speeds = np.abs([m.velocity for _, m in arm.joints])
    assert 1e-3 < speeds.max() < 0.2
    arm.still()
