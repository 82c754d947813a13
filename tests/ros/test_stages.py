"""Stages inside the node: the same names and the same motion as without ROS, and two outputs at the same time."""

import numpy as np
import pytest
from tests.paths import CORNERS, along

pytest.importorskip("rclpy")

PATH = "'path:{},speed=0.05,relative=true'"  # with commas, so in quotes


@pytest.fixture
def points(tmp_path):
    np.savetxt(tmp_path / "points.txt", CORNERS)
    return tmp_path / "points.txt"


def test_a_path_leads_the_arm_references_go_out_and_an_outside_writer_preempts(arm_with_node, points, position):
    from geometry_msgs.msg import TwistStamped
    from sensor_msgs.msg import JointState
    from trajectory_msgs.msg import JointTrajectory

    arm = arm_with_node({"stages": [PATH.format(points), "follower"]})
    references = arm.client.listen(JointState, "/admittance_node/joint_references")
    trajectories = arm.client.listen(JointTrajectory, "/scaled_joint_trajectory_controller/joint_trajectory")
    twist = arm.client.publisher(TwistStamped, "/admittance_node/desired_twist")
    start = position(arm.joint_state())
    first = len(arm.joints) - 1
    arm.bring_up()
    arm.wait_for(leader="led by a stage")
    arm.client.until(lambda: np.linalg.norm(position(arm.joints[-1][1]) - start - CORNERS[-1]) < 5e-4, 30, "the end")
    off, end = along(CORNERS, [position(message) for _, message in arm.joints[first:]])
    assert off < 2e-3  # [m] as in tests/cli and tests/robots/rtde
    assert end < 1e-3

    # two outputs at the same time: what the driver was sent is what a next stage was told
    assert len(references) > 0.5 * len(trajectories) > 100
    told = {tuple(np.round(message.position, 9)) for _, message in references}
    sent = [tuple(np.round(message.points[0].positions, 9)) for _, message in trajectories]
    assert sum(point in told for point in sent[100:-100]) > 50
    assert list(references[-1][1].name) == list(trajectories[-1][1].joint_names)

    message = TwistStamped()
    message.header.frame_id = "base_link"
    twist.publish(message)
    arm.wait_for(leader="the velocities from outside have ceased; nobody leads")
    assert arm.client.trigger("/admittance_node/resume_stages").success
    arm.wait_for(leader="led by a stage")
    assert arm.client.transition("deactivate"), arm.state()
