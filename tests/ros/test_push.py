"""Push the arm over DDS: it moves as the law says, stays, and obeys the services and parameters of the node."""

import time

import numpy as np
import pytest

from ur_admittance.recording.messages import quaternion

from .watched import flange_pose, steady_speed

pytest.importorskip("rclpy")

D = 2 * 0.8 * (8 * 200) ** 0.5  # [Ns/m] of the default parameters
THRESHOLD = 1.5  # [N]
FORCE = 8.0  # [N]


@pytest.fixture(scope="module")
def running(module_processes, setup_of, patient):
    module_processes.start("sim_node")
    module_processes.start("admittance_node", {**patient, "monitor_rate": 100.0})
    return setup_of(module_processes)


@pytest.fixture
def arm(running):
    """Nothing that an earlier test has set, put on or taken away is left."""
    running.client.trigger("/ur_sim/let_go")
    running.fresh()
    zero, one = [0.0] * 6, [8.0] * 3 + [0.8] * 3
    defaults = {"sensor.bias": zero, "admittance.stiffness": zero, "admittance.mass": one}
    for name, value in (defaults | {"admittance.enabled_axes": [True] * 6}).items():
        assert running.client.set_parameter(name, value).successful
    return running


def test_steady_speed_of_a_push_is_force_over_damping(arm, position):
    begin = time.monotonic()
    arm.push([0, FORCE, 0, 0, 0, 0], 3.0)
    expected = (FORCE - THRESHOLD) / D
    measured = steady_speed(arm.joints, begin + 1.0, begin + 3.0)
    assert measured == pytest.approx(expected, rel=0.02)


def test_pushed_the_arm_moves_and_stays(arm, position):
    before = position(arm.joint_state())
    arm.push([0, FORCE, 0, 0, 0, 0], 1.0)
    arm.still()
    after = position(arm.joint_state())
    time.sleep(0.5)
    assert after[1] - before[1] > 0.05
    assert np.abs(position(arm.joint_state()) - after).max() < 5e-4


def test_a_live_change_of_the_mass_takes_effect(arm, position):
    """Ten times the mass at the same damping: after 0.3 s of pushing the arm has hardly begun to move."""
    damping = [D] * 3 + [6.4] * 3
    assert arm.client.set_parameter("admittance.damping", damping).successful
    assert arm.client.set_parameter("admittance.mass", [80.0, 80.0, 80.0, 0.8, 0.8, 0.8]).successful
    time.sleep(1.2)  # the ramp
    before = position(arm.joint_state())[1]
    arm.push([0, FORCE, 0, 0, 0, 0], 0.4)
    heavy = position(arm.joint_state())[1] - before
    arm.still()
    # whole numbers are taken for doubles, as people type them
    assert arm.client.set_parameter("admittance.mass", [8, 8, 8, 1, 1, 1]).successful
    assert arm.client.parameter("admittance.mass") == pytest.approx([8.0, 8.0, 8.0, 1.0, 1.0, 1.0])
    time.sleep(1.2)
    before = position(arm.joint_state())[1]
    arm.push([0, FORCE, 0, 0, 0, 0], 0.4)
    light = position(arm.joint_state())[1] - before
    arm.still()
    assert light > 3.0 * heavy > 0.0


def test_a_bad_value_is_refused_with_the_sentence_and_the_old_one_stays(arm):
    before = arm.client.parameter("admittance.mass")
    result = arm.client.set_parameter("admittance.mass", [8.0, 8.0, -1.0, 0.8, 0.8, 0.8])
    assert not result.successful
    assert result.reason == "admittance.mass[2] = -1 kg: must be >= 0.001"
    result = arm.client.set_parameter("max_linear_velocity", -0.5)
    assert result.reason == "max_linear_velocity = -0.5 m/s: must be > 0"
    result = arm.client.set_parameter("admittance.mas", 1.0)
    assert result.reason == "admittance.mas is not a parameter; the nearest known name is admittance.mass"
    result = arm.client.set_parameter("joint_limits.velocity", [9.0] * 6)
    assert "limit of ur5e" in result.reason
    assert arm.client.parameter("admittance.mass") == before
    assert arm.state()["mode"] == "active"


def test_the_least_time_to_rest_changes_live(arm):
    from trajectory_msgs.msg import JointTrajectory

    from ur_admittance.robots.ros.command_outputs import HOLD_S

    def rest_ns(message):
        return message.points[-1].time_from_start.nanosec

    commands = arm.client.listen(JointTrajectory, "/scaled_joint_trajectory_controller/joint_trajectory")
    for duration in (0.08, 0.04):
        assert arm.client.set_parameter("trajectory_duration", duration).successful
        arm.client.until(
            lambda: commands and abs(rest_ns(commands[-1][1]) - 1e9 * (HOLD_S + duration)) < 1e3,  # noqa: B023
            5,
            "the new duration",
        )


def test_filter_parameters_take_the_place_of_each_other(arm):
    assert arm.client.set_parameter("admittance.filter_cutoff_hz", 40.0).successful
    assert np.isnan(arm.client.parameter("admittance.filter_coefficient"))
    assert arm.client.set_parameter("admittance.filter_coefficient", 0.8).successful
    assert np.isnan(arm.client.parameter("admittance.filter_cutoff_hz"))


def test_every_parameter_is_described_with_unit_and_range(arm):
    from rcl_interfaces.srv import DescribeParameters, ListParameters

    names = arm.client.call(ListParameters, "/admittance_node/list_parameters").result.names
    assert {"admittance.mass", "safety.max_force", "tool.tcp", "workspace.min"} <= set(names)
    request = DescribeParameters.Request(names=["safety.max_force", "admittance.mass"])
    force, mass = arm.client.call(DescribeParameters, "/admittance_node/describe_parameters", request).descriptors
    assert "[N]" in force.description
    assert force.floating_point_range[0].from_value == 0.0
    assert "6 numbers >= 0.001" in mass.additional_constraints


def test_zero_makes_the_present_reading_the_new_zero(arm):
    """A wrong bias pulls at the arm; zeroed, it is gone. While somebody pushes, zeroing is refused."""
    wrong = [0.0, 6.0, -3.0, 0.2, 0.0, 0.0]
    refused = arm.client.set_parameter("sensor.bias", wrong)  # it would pull at once
    assert not refused.successful
    assert "the arm is active and would feel a push of 6.7" in refused.reason
    assert arm.client.transition("deactivate")
    arm.client.set_parameter("admittance.enabled_axes", [False] * 6)
    assert arm.client.set_parameter("sensor.bias", wrong).successful
    arm.activate()
    time.sleep(0.5)
    unconfirmed = arm.client.trigger("/admittance_node/zero_ft_sensor")
    assert not unconfirmed.success  # while active 6.7 N might be a push
    arm.client.until(lambda: arm.client.trigger("/admittance_node/zero_free_tool").success, 10, "a new zero")
    assert np.abs(arm.client.parameter("sensor.bias")).max() < 0.05
    arm.client.set_parameter("admittance.enabled_axes", [True] * 6)
    time.sleep(1.5)
    arm.client.until(lambda: abs(arm.twists[-1][1].twist.linear.y) < 1e-3, 5, "rest")
    arm.push([0, FORCE, 0, 0, 0, 0], 1.0)
    answer = arm.client.trigger("/admittance_node/zero_ft_sensor")
    assert not answer.success
    assert "zeroing refused" in answer.message
    arm.still()


def test_stop_slows_down_and_gives_the_command_topic_back(arm):
    from trajectory_msgs.msg import JointTrajectory

    commands = arm.client.listen(JointTrajectory, "/scaled_joint_trajectory_controller/joint_trajectory")
    time.sleep(0.5)
    arm.push([0, FORCE, 0, 0, 0, 0], 0.6)
    answer = arm.client.trigger("/admittance_node/stop")
    assert answer.success
    assert arm.client.life() == "inactive"
    time.sleep(0.3)
    assert max(map(abs, commands[-1][1].points[0].velocities)) == 0.0
    count = len(commands)
    time.sleep(0.3)
    assert len(commands) == count
    assert arm.client.node.count_publishers("/scaled_joint_trajectory_controller/joint_trajectory") == 0
    speeds = np.array([m.points[0].velocities for _, m in commands])
    assert np.abs(np.diff(speeds, axis=0)).max() < 20.0 * 0.02  # no jump larger than the limit over a late period


def test_reset_desired_pose_lets_a_spring_forget_where_it_was(arm, position):
    arm.client.set_parameter("admittance.stiffness", [200.0, 200.0, 200.0, 20.0, 20.0, 20.0])
    time.sleep(1.2)
    before = position(arm.joint_state())[1]
    arm.push([0, FORCE, 0, 0, 0, 0], 1.5)
    assert arm.client.trigger("/admittance_node/reset_desired_pose").success
    time.sleep(1.5)
    arm.still()
    moved = position(arm.joint_state())[1] - before
    assert moved > 0.5 * (FORCE - THRESHOLD) / 200.0  # the spring would have drawn it back to zero
    arm.client.set_parameter("admittance.stiffness", [0.0] * 6)
    time.sleep(1.2)


def test_the_reference_follows_a_desired_twist_and_a_desired_pose(arm, position):
    from geometry_msgs.msg import PoseStamped, TwistStamped

    twist = arm.client.publisher(TwistStamped, "/admittance_node/desired_twist")
    message = TwistStamped()
    message.twist.linear.z = 0.05
    arm.client.until(lambda: twist.get_subscription_count() > 0, 10, "a node that takes velocities")
    first = flange_pose(arm.joint_state())
    before, turn = first[:3, 3], quaternion(first[:3, :3])
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        twist.publish(message)
        time.sleep(0.02)
    arm.still()
    after = position(arm.joint_state())
    assert after[2] - before[2] == pytest.approx(0.05, abs=0.015)
    pose = PoseStamped()
    pose.header.frame_id = "base_link"
    pose.pose.position.x, pose.pose.position.y, pose.pose.position.z = map(float, before)
    for axis, value in zip("xyzw", turn, strict=True):
        setattr(pose.pose.orientation, axis, float(value))
    sender = arm.client.publisher(PoseStamped, "/admittance_node/desired_pose")
    arm.client.until(lambda: sender.get_subscription_count() > 0, 5)
    sender.publish(pose)
    arm.client.until(lambda: abs(position(arm.joint_state())[2] - before[2]) < 0.003, 10, "back at the first pose")


def test_a_desired_wrench_moves_the_arm_while_it_is_renewed_and_in_a_known_frame(arm, position):
    from geometry_msgs.msg import WrenchStamped

    sender = arm.client.publisher(WrenchStamped, "/admittance_node/desired_wrench")
    message = WrenchStamped()
    message.header.frame_id = "camera_link"
    message.wrench.force.z = -5.0  # the tool is wanted to be pulled down: it moves up
    arm.client.until(lambda: sender.get_subscription_count() > 0, 10, "a node that takes wrenches")
    first = position(arm.joint_state())
    for _ in range(10):
        sender.publish(message)
        time.sleep(0.02)
    time.sleep(0.5)
    assert np.abs(position(arm.joint_state()) - first).max() < 1e-4
    arm.client.until(lambda: "frame_id is 'camera_link', must be 'base_link'" in arm.processes.logs(), 5, "the refusal")
    message.header.frame_id = "base_link"
    for _ in range(25):
        sender.publish(message)
        time.sleep(0.02)
    assert max(map(abs, arm.joint_state().velocity)) > 0.02
    arm.still(timeout=3.0)
    rest = position(arm.joint_state())
    assert rest[2] > first[2] + 0.01
    time.sleep(1.0)
    assert np.abs(position(arm.joint_state()) - rest).max() < 1e-3


def test_the_life_cycle_is_driven_from_outside_and_survives_wrong_requests(arm):
    assert not arm.client.transition("activate")  # is active already
    assert not arm.client.transition("cleanup")
    assert not arm.client.transition(99)
    assert arm.client.life() == "active"
    assert arm.client.transition("deactivate")
    assert not arm.client.transition("deactivate")
    assert arm.client.transition("cleanup")
    assert not arm.client.transition("activate")
    assert arm.client.life() == "unconfigured"
    arm.bring_up()


def test_an_interrupt_ends_the_node_with_a_stop(arm):
    """Last in this file: the node is gone afterwards."""
    import signal

    from trajectory_msgs.msg import JointTrajectory

    commands = arm.client.listen(JointTrajectory, "/scaled_joint_trajectory_controller/joint_trajectory")
    arm.push([0, FORCE, 0, 0, 0, 0], 0.8)
    assert max(abs(v) for _, m in commands for v in m.points[0].velocities) > 0.05
    node = arm.processes.running[1]
    node.send_signal(signal.SIGINT)
    assert node.wait(timeout=20) == 0
    time.sleep(0.2)
    assert max(map(abs, commands[-1][1].points[0].velocities)) == 0.0
