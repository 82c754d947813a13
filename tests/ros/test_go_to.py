"""Going to a pose in ROS: asked for by topics, and by the command line as a program of its own."""

import sys
import time
import uuid

import numpy as np
import pytest

pytest.importorskip("rclpy")

from .scene import Scene
from .watched import NAMES

SLOW_COMPUTER = {"guiding.enable": "none", "safety.joint_state_timeout": 0.5, "safety.wrench_timeout": 0.5}


def test_an_arm_is_sent_to_joints_and_to_a_pose_by_topics(client):
    from geometry_msgs.msg import PoseStamped
    from sensor_msgs.msg import JointState

    with Scene(client, "jazzy", "trajectory", node=SLOW_COMPUTER) as scene:
        to_joints = client.publisher(JointState, "/admittance_node/go_to_joints")
        to_pose = client.publisher(PoseStamped, "/admittance_node/go_to_pose")
        client.until(lambda: to_joints.get_subscription_count() and to_pose.get_subscription_count(), 60)
        scene.bring_up()
        stood = scene.setup.joint_state()
        start = dict(zip(stood.name, stood.position, strict=True))
        goal = {name: start[name] + d for name, d in zip(NAMES, [0.1, -0.1, 0.1, 0.0, 0.1, 0.2], strict=True)}
        to_joints.publish(JointState(name=NAMES[::-1], position=[goal[name] for name in NAMES[::-1]]))
        client.until(lambda: "goes to a pose" in scene.setup.state()["reason"], 10)
        assert scene.setup.state()["leader"] == "taken to a pose"
        client.until(lambda: "arrived within" in scene.setup.state()["reason"], 30)
        came = scene.setup.joint_state()
        assert max(abs(q - goal[name]) for name, q in zip(came.name, came.position, strict=True)) < 2e-3
        far = PoseStamped()
        far.pose.position.x = 3.0
        to_pose.publish(far)
        client.until(lambda: "refused: at" in scene.setup.state()["reason"], 10)
        to_joints.publish(JointState(name=NAMES[:2], position=[0.0, 0.0]))
        client.until(lambda: "go_to_joints: has no position of elbow_joint" in scene.processes.logs(), 10)


@pytest.mark.realtime
@pytest.mark.parametrize("stiffness", [1e5, 5e3])
def test_a_wall_in_the_way_stops_the_arm(client, stiffness):
    from geometry_msgs.msg import WrenchStamped
    from sensor_msgs.msg import JointState

    wall = {"environment.kind": "wall", "environment.stiffness": stiffness, "environment.gap": 0.05}
    with Scene(client, "jazzy", "trajectory", node=SLOW_COMPUTER, sim=wall) as scene:
        to_joints = client.publisher(JointState, "/admittance_node/go_to_joints")
        client.until(to_joints.get_subscription_count, 60)
        scene.bring_up()
        assert client.trigger("/ur_sim/set_environment").success
        forces = client.listen(WrenchStamped, "/wrist_ft_sensor")
        stood = scene.setup.joint_state()
        start = dict(zip(stood.name, stood.position, strict=True))
        goal = [start[name] + d for name, d in zip(NAMES, [0.0, 0.21, -0.21, 0.0, 0.0, 0.0], strict=True)]
        to_joints.publish(JointState(name=NAMES, position=goal))
        client.until(lambda: "stopped by" in scene.setup.state()["reason"], 30, f"a stop; {scene.setup.state()}")
        time.sleep(0.5)
        felt = [(m.wrench.force.x, m.wrench.force.y, m.wrench.force.z) for _, m in forces]
        peak = float(np.linalg.norm(felt, axis=1).max())
        print(f"a wall of {stiffness:g} N/m: {peak:.0f} N; {scene.setup.state()['reason']}")  # noqa: T201
        assert 15.0 < peak < 100.0
        assert scene.setup.state()["mode"] == "active"


@pytest.mark.realtime
def test_the_command_line_takes_the_arm_of_a_running_system_there_and_ends(client, processes):
    processes.start("sim_node", {"start": [0.3, -1.5, 1.5, -1.5, -1.5, 0.2]})
    command = [sys.executable, "-m", "ur_admittance", "go", "--robot", "ros", "--yes", "--set", "guiding.enable=none"]
    command += ["--set", "safety.joint_state_timeout=0.5", "--set", "safety.wrench_timeout=0.5"]
    command += ["--connection", "realtime_priority=20", "--name", f"go_{uuid.uuid4().hex[:8]}"]
    done = processes.start_command([*command, "--joints", "20 -90 90 -90 -85 10", "--speed", "0.1"], "there")
    assert done.wait(timeout=90) == 0, done.log.read_text()
    assert "Arrived within" in done.log.read_text()
    done = processes.start_command([*command, "--joints", "20 -90 90 -90 100 10"], "refused")
    assert done.wait(timeout=90) == 1, done.log.read_text()
    assert "Refused: at" in done.log.read_text()
