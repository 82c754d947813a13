"""Beside one UR driver (its strict double, Jazzy): pauses, stops, switches, changed frames, and what is refused."""

import signal
import time

import numpy as np
import pytest

pytest.importorskip("rclpy")

from .driver_cases import push_speed
from .scene import SPEED, Scene, no_jump
from .watched import steady_speed


@pytest.fixture(scope="module")
def running(client):
    """One driver and one node for all tests of this file."""
    with Scene(client, "jazzy", "trajectory") as scene:
        assert client.transition("configure", timeout=60.0), scene.setup.state()
        yield scene
        print(scene.processes.logs())  # noqa: T201  shown for a failed test only


@pytest.fixture
def scene(running):
    """Active at the start of the arm, with a TCP at the flange and the driver's own controller."""
    client = running.client
    client.trigger("/ur_sim/unlock")  # refused, as the next ones, where nothing is to be done
    client.trigger("/ur_sim/resume")
    assert client.set_parameter("pendant.tcp", [0.0] * 6, "/ur_sim").successful
    assert client.set_parameter("switch.to", "scaled_joint_trajectory_controller", "/ur_sim").successful
    client.trigger("/ur_sim/switch")
    running.setup.fresh()
    assert client.trigger("/ur_sim/clear_report").success
    yield running
    running.let_go()


@pytest.mark.realtime
def test_after_a_pause_of_a_second_the_commands_go_on_at_the_arm(scene):
    scene.at_speed()
    scene.node.send_signal(signal.SIGSTOP)
    time.sleep(1.0)
    scene.node.send_signal(signal.SIGCONT)
    scene.setup.wait_for(life="inactive", timeout=10.0)
    no_jump(scene)


def test_a_protective_stop_is_a_fault_with_the_robots_word_and_resuming_needs_a_reset(scene):
    client = scene.client
    scene.at_speed()
    assert client.trigger("/ur_sim/protective_stop").success
    scene.setup.wait_for(life="inactive", mode="fault", status="PROTECTIVE_STOP", timeout=10.0)
    assert "safety mode is PROTECTIVE_STOP" in scene.setup.state()["reason"]
    assert not client.transition("activate")
    time.sleep(0.6)
    assert client.trigger("/ur_sim/unlock").success
    assert client.trigger("/ur_sim/resume").success
    client.until(lambda: scene.report()["active"], 10, "the controller is active again")
    time.sleep(1.0)  # the hand still pushes
    assert client.life() == "inactive"
    stood = scene.setup.joint_state().position
    assert client.trigger("/ur_sim/clear_report").success
    client.until(lambda: client.trigger("/admittance_node/reset_fault").success, 5, "the fault is reset")
    scene.let_go()
    time.sleep(0.6)
    assert client.transition("activate"), scene.setup.state()
    time.sleep(0.5)
    assert np.abs(np.array(scene.setup.joint_state().position) - stood).max() < 2e-3
    no_jump(scene)


def test_an_inactive_controller_is_a_fault_and_refuses_activation(scene):
    client = scene.client
    assert client.set_parameter("switch.to", "none", "/ur_sim").successful
    assert client.trigger("/ur_sim/switch").success
    scene.setup.wait_for(life="inactive", mode="fault", timeout=10.0)
    assert "scaled_joint_trajectory_controller is inactive" in scene.setup.state()["reason"]
    assert client.trigger("/admittance_node/reset_fault").success
    assert not client.transition("activate")
    client.until(lambda: "would drop every command" in scene.setup.state()["reason"], 5, scene.setup.state())
    for name in ("scaled_joint_trajectory_controller", "joint_trajectory_controller"):  # both fit
        assert client.set_parameter("switch.to", name, "/ur_sim").successful
        assert client.trigger("/ur_sim/switch").success
        assert client.transition("activate"), scene.setup.state()
        before = scene.report()["taken"].get(name, 0)
        client.until(lambda: scene.report()["taken"].get(name, 0) > before + 100, 5, "its messages are taken")  # noqa: B023
        assert client.transition("deactivate"), scene.setup.state()  # active until now: nothing old was believed
    no_jump(scene)


def test_the_pendants_tcp_turns_the_wrench_and_a_change_of_it_is_a_fault(scene):
    client, turned = scene.client, [0.0, 0.0, 0.15, 0.0, 0.0, float(np.pi / 2)]
    assert client.transition("deactivate")
    assert client.set_parameter("pendant.tcp", turned, "/ur_sim").successful
    time.sleep(0.2)  # until its messages have arrived
    assert client.transition("activate"), scene.setup.state()
    assert client.parameter("sensor.position") == pytest.approx([0.0, 0.0, 0.15], abs=1e-3)
    assert client.parameter("sensor.rotation") == pytest.approx([0.0, 0.0, np.pi / 2], abs=1e-3)
    assert push_speed(scene, 2.0) == pytest.approx(1.0, abs=0.02)  # along y, as the hand
    assert client.set_parameter("pendant.tcp", [0.0] * 6, "/ur_sim").successful
    scene.setup.wait_for(life="inactive", mode="fault", timeout=5.0)
    assert "has moved on the tool by 150 mm and 90 degrees" in scene.setup.state()["reason"]
    assert client.trigger("/admittance_node/reset_fault").success
    assert client.transition("activate"), scene.setup.state()
    assert client.parameter("sensor.position") == pytest.approx([0.0, 0.0, 0.0], abs=1e-3)
    no_jump(scene)


def test_a_second_publisher_of_joint_states_or_wrenches_is_a_fault_and_refuses_activation(scene):
    from geometry_msgs.msg import WrenchStamped

    other = scene.client.node.create_publisher(WrenchStamped, "/wrist_ft_sensor", 1)
    try:
        scene.setup.wait_for(life="inactive", mode="fault", timeout=5.0)
        assert "2 nodes publish on /wrist_ft_sensor" in scene.setup.state()["reason"]
        assert scene.client.trigger("/admittance_node/reset_fault").success
        assert not scene.client.transition("activate")
    finally:
        scene.client.node.destroy_publisher(other)


def test_a_refused_set_of_parameters_changes_nothing_and_the_clock_stays_while_configured(scene):
    from rcl_interfaces.srv import SetParametersAtomically
    from rclpy.parameter import Parameter

    client, before = scene.client, scene.client.parameter("admittance.mass")

    def set_all(**values):
        given = [Parameter(name.replace("__", "."), value=value).to_parameter_msg() for name, value in values.items()]
        request = SetParametersAtomically.Request(parameters=given)
        return client.call(SetParametersAtomically, "/admittance_node/set_parameters_atomically", request).result

    assert not set_all(admittance__mass=[4.0] * 6, output="velocity").successful  # read-only
    assert list(client.parameter("admittance.mass")) == list(before)
    result = set_all(admittance__mass=[4.0] * 6, use_sim_time=True)
    assert "must not change while the node is configured" in result.reason
    assert list(client.parameter("admittance.mass")) == list(before)
    begin = time.monotonic()
    scene.push()
    time.sleep(2.2)
    assert steady_speed(scene.setup.joints, begin + 1.0, begin + 2.0) == pytest.approx(SPEED, rel=0.02)
