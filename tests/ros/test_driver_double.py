"""The double of UR's driver, seen by a plain client: names, types, quality of service, frames, switching, stops.

Its rules are in test_driver_rules.py.
"""

import json
import os
import time

import numpy as np
import pytest

from .watched import NAMES, flange_position

pytest.importorskip("rclpy")

SCALED, VELOCITY = "scaled_joint_trajectory_controller", "forward_velocity_controller"
R_BASE_LINK = np.diag([-1.0, -1.0, 1.0])  # base is base_link turned by half a turn about z


@pytest.fixture(scope="module")
def double(generated, module_processes, client):
    """Jazzy's rules, all message packages there, a protective stop that can be unlocked at once."""
    from sensor_msgs.msg import JointState

    environment = {"PYTHONPATH": os.pathsep.join([str(generated), os.environ.get("PYTHONPATH", "")])}
    module_processes.start("sim_node", {"unlock_delay": 0.0}, environment=environment)
    client.joints = client.listen(JointState, "/joint_states")
    client.until(lambda: client.joints, 60, "joint states")
    return client


def report(client):
    return json.loads(client.trigger("/ur_sim/report").message)


def switch(client, activate, deactivate):
    from controller_manager_msgs.srv import SwitchController

    request = SwitchController.Request(activate_controllers=activate, deactivate_controllers=deactivate, strictness=2)
    return client.call(SwitchController, "/controller_manager/switch_controller", request)


def states(client):
    from controller_manager_msgs.srv import ListControllers

    listed = client.call(ListControllers, "/controller_manager/list_controllers").controller
    return {one.name: one.state for one in listed}


def test_topics_have_the_driver_s_names_and_quality_of_service(double):
    from rclpy.qos import DurabilityPolicy, ReliabilityPolicy

    latched = {"/robot_description", *(f"/io_and_status_controller/{name}" for name in (
        "robot_program_running", "robot_mode", "safety_mode"))}  # fmt: skip
    streams = {"/joint_states", "/wrist_ft_sensor", "/tf", "/speed_scaling_state_broadcaster/speed_scaling"}
    for topic in latched | streams:
        (info,) = double.node.get_publishers_info_by_topic(topic)
        assert info.qos_profile.reliability == ReliabilityPolicy.RELIABLE
        assert (info.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL) == (topic in latched), topic
    names = double.joints[-1][1].name
    assert sorted(names) == sorted(NAMES)
    assert list(names) == sorted(names)  # not the order of the arm
    for name in (SCALED, "joint_trajectory_controller"):
        assert double.node.count_subscribers(f"/{name}/joint_trajectory") == 1  # also the inactive one
        assert double.parameter("allow_nonzero_velocity_at_trajectory_end", f"/{name}") is False


def test_the_wrench_is_about_the_tcp_of_the_pendant_in_its_axes(double):
    from geometry_msgs.msg import WrenchStamped
    from tf2_msgs.msg import TFMessage

    transforms, wrenches = double.listen(TFMessage, "/tf"), double.listen(WrenchStamped, "/wrist_ft_sensor")
    force, offset = np.array([3.0, 10.0, -4.0]), [0.15, 0.0, 0.05, 0.0, 0.0, np.pi / 2]  # base_link axes
    assert double.set_parameter("pendant.tcp", offset, "/ur_sim").successful
    double.set_parameter("push.wrench", [*force.tolist(), 0.0, 0.0, 0.0], "/ur_sim")
    double.set_parameter("push.duration", 1.5, "/ur_sim")
    assert double.trigger("/ur_sim/push").success
    time.sleep(1.0)
    wrench, (transform,) = wrenches[-1][1], transforms[-1][1].transforms
    assert (transform.header.frame_id, transform.child_frame_id) == ("base", "tool0_controller")
    assert wrench.header.frame_id == "tool0_controller"
    q, p = transform.transform.rotation, transform.transform.translation
    R, p_tcp = rotation(q.x, q.y, q.z, q.w), np.array([p.x, p.y, p.z])
    p_flange = R_BASE_LINK @ flange_position(double.joints[-1][1])
    assert np.linalg.norm(p_tcp - p_flange) == pytest.approx(np.hypot(0.15, 0.05), abs=1e-3)
    pushed = R_BASE_LINK @ force  # in base, at the flange: the simulated tool has no length
    f, t = wrench.wrench.force, wrench.wrench.torque
    assert [f.x, f.y, f.z] == pytest.approx(R.T @ pushed, abs=0.05)
    assert [t.x, t.y, t.z] == pytest.approx(R.T @ np.cross(p_flange - p_tcp, pushed), abs=0.02)
    refused = double.set_parameter("pendant.tcp", [0.0, 0.0, 0.1], "/ur_sim")
    assert "must be six finite numbers" in refused.reason
    double.set_parameter("pendant.tcp", [0.0] * 6, "/ur_sim")


def rotation(x, y, z, w):
    v, K = np.array([x, y, z]), np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return (w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * w * K


def test_controllers_are_listed_and_switched_one_at_a_time(double):
    from std_msgs.msg import Float64MultiArray

    assert states(double)[SCALED] == "active"
    assert states(double)[VELOCITY] == "inactive"
    refused = switch(double, [VELOCITY], [])
    assert not refused.ok
    assert f"claimed by {SCALED}" in refused.message
    commands = double.publisher(Float64MultiArray, f"/{VELOCITY}/commands", 10)
    double.until(lambda: commands.get_subscription_count(), 10)
    double.trigger("/ur_sim/clear_report")
    commands.publish(Float64MultiArray(data=[0.2, 0.0, 0.0, 0.0, 0.0, 0.0]))
    double.until(lambda: report(double)["dropped"] == {VELOCITY: 1}, 10, "a dropped message")
    assert switch(double, [VELOCITY], [SCALED]).ok
    commands.publish(Float64MultiArray(data=[0.2, 0.0, 0.0, 0.0, 0.0, 0.0]))
    double.until(lambda: report(double)["joint_speed_rad_s"] > 0.19, 10, "motion")
    assert switch(double, [SCALED], [VELOCITY]).ok
    double.trigger("/ur_sim/reset")


def test_a_protective_stop_is_told_and_the_controllers_come_back_with_the_program(double):
    from std_msgs.msg import Bool
    from ur_dashboard_msgs.msg import SafetyMode

    program = double.listen(Bool, "/io_and_status_controller/robot_program_running", latched=True)
    safety = double.listen(SafetyMode, "/io_and_status_controller/safety_mode", latched=True)
    double.until(lambda: program and safety, 10, "latched states")
    assert program[-1][1].data
    assert safety[-1][1].mode == SafetyMode.NORMAL
    assert double.trigger("/ur_sim/protective_stop").success
    double.until(lambda: not program[-1][1].data and safety[-1][1].mode == SafetyMode.PROTECTIVE_STOP, 5, "the stop")
    double.until(lambda: states(double)[SCALED] == "inactive", 5, "the controller_stopper")
    assert not double.trigger("/dashboard_client/play").success
    assert double.trigger("/dashboard_client/unlock_protective_stop").success
    assert states(double)[SCALED] == "inactive"
    assert double.trigger("/dashboard_client/play").success
    double.until(lambda: program[-1][1].data and states(double)[SCALED] == "active", 5, "the program")
    assert (program[-1][1].data, safety[-1][1].mode) == (True, SafetyMode.NORMAL)
    assert report(double)["protective_stops"] == ["somebody asked for it"]
