"""What stops the arm on a network: the right sentence, braking without a jump, and the way back."""

import time

import numpy as np
import pytest

from .bench import TRAJECTORY, moving

pytest.importorskip("rclpy")
pytestmark = pytest.mark.realtime  # this process plays the arm, and what it hears late looks like a jump
WITH_CLOCK = False


def stopped_smoothly(bench, setup, within=4.0):
    """The last command is standstill, and the way there had no jump. Returns the reason."""
    setup.wait_for(life="inactive", timeout=within)
    time.sleep(0.2)
    speeds = np.array([m.points[0].velocities for _, m in bench.commands[-300:]])
    assert np.abs(speeds[-1]).max() == 0.0
    moving = np.flatnonzero(np.abs(speeds).max(axis=1) > 1e-9)  # less is rounding
    if len(moving):  # braking takes its time: no single command takes most of the speed away, and none brings it back
        fastest = np.abs(speeds).max()
        assert np.abs(np.diff(speeds, axis=0)).max() < 0.6 * fastest
        assert len(speeds) - moving[-1] > 5
    return setup.state()["reason"]


def back_again(setup):
    answer = setup.client.trigger("/admittance_node/reset_fault")
    assert answer.success, answer.message
    assert setup.client.transition("activate"), setup.state()
    setup.wait_for(mode="active")


def test_joint_states_that_stop_are_a_fault_with_a_way_back(world):
    bench, setup = world
    moving(bench, setup)
    bench.joints_on = False
    assert "no joint state for" in stopped_smoothly(bench, setup)
    answer = setup.client.trigger("/admittance_node/reset_fault")
    assert not answer.success
    assert "the cause is still there" in answer.message
    assert not setup.client.transition("activate")
    bench.joints_on, bench.force = True, 0.0
    time.sleep(0.2)
    back_again(setup)


def test_a_wrench_that_stops_is_a_fault_with_a_way_back(world):
    bench, setup = world
    moving(bench, setup)
    bench.wrench_on = False
    assert "no wrench for" in stopped_smoothly(bench, setup)
    assert "is the sensor streaming?" in setup.state()["reason"]
    bench.wrench_on, bench.force = True, 0.0
    time.sleep(0.2)
    back_again(setup)


def test_a_number_that_is_none_stops_the_arm(world):
    bench, setup = world
    moving(bench, setup)
    bench.force = float("nan")
    assert "the wrench is not a finite number" in stopped_smoothly(bench, setup)
    bench.force = 0.0
    time.sleep(0.2)
    back_again(setup)


def test_too_much_force_stops_the_arm(world):
    bench, setup = world
    bench.force = 150.0
    assert "force 150.0 N is above safety.max_force 100.0 N" in stopped_smoothly(bench, setup)
    bench.force = 0.0
    time.sleep(0.2)
    back_again(setup)


def test_a_clamped_arm_goes_back_on_request_then_reset_and_activation_work(world):
    bench, setup = world
    moving(bench, setup)
    time.sleep(0.5)
    bench.force = 150.0
    stopped_smoothly(bench, setup)
    refused = setup.client.trigger("/admittance_node/reset_fault")
    assert not refused.success
    assert "the cause is still there: force 150.0 N" in refused.message
    before = len(bench.commands)
    answer = setup.client.trigger("/admittance_node/retreat")
    assert answer.success, answer.message
    setup.client.until(lambda: len(bench.commands) > before + 20, 10, "commands of the retreat")
    speeds = np.array([m.points[0].velocities for _, m in bench.commands[before:]])
    assert 0.0 < np.abs(speeds).max() <= 0.1 * (1 + 1e-9)
    bench.force = 0.0
    setup.client.until(lambda: "the arm has gone back" in setup.state()["reason"], 10, "the end of the retreat")
    back_again(setup)


def test_a_second_publisher_of_commands_stops_the_node_and_keeps_it_from_starting(world):
    from trajectory_msgs.msg import JointTrajectory

    bench, setup = world
    moving(bench, setup)
    setup.client.publisher(JointTrajectory, TRAJECTORY)
    assert "also publishes on" in stopped_smoothly(bench, setup)
    assert "/test_client" in setup.state()["reason"]
    bench.force = 0.0
    assert not setup.client.transition("activate")
    setup.client.until(lambda: "an arm has one commander" in setup.state()["reason"], 5)
    setup.client.node.destroy_publisher(setup.client.made.pop())
    setup.client.until(lambda: setup.client.transition("activate"), 10, "activation")


def test_a_changed_description_stops_the_arm_until_it_is_configured_again(world, urdf):
    bench, setup = world
    bench.describe(urdf.replace('name="ur5e"', 'name="other"'))
    assert "robot_description has changed" in stopped_smoothly(bench, setup)
    assert not setup.client.transition("activate")
    assert setup.client.transition("cleanup")
    assert setup.client.transition("configure", timeout=60.0)
    setup.activate()
