"""Three ways to the arm: trajectory topic (test_push.py), velocity topic, and the action with bounded retry."""

import os
import threading
import time

import numpy as np
import pytest

from .watched import steady_speed

pytest.importorskip("rclpy")

FORCE, SPEED = 8.0, (8.0 - 1.5) / (2 * 0.8 * (8 * 200) ** 0.5)


def hold_push(arm):
    arm.client.set_parameter("push.wrench", [0.0, FORCE, 0.0, 0.0, 0.0, 0.0], "/ur_sim")
    arm.client.set_parameter("push.duration", 2.5, "/ur_sim")
    assert arm.client.trigger("/ur_sim/push").success


def test_velocity_commands_move_the_arm_as_the_law_says(arm_with_node):
    arm = arm_with_node({"output": "velocity"}, {"controller": "forward_velocity_controller"})
    arm.bring_up()
    arm.activate()
    hold_push(arm)
    begin = time.monotonic()
    time.sleep(3.0)
    assert steady_speed(arm.joints, begin + 1.0, begin + 2.3) == pytest.approx(SPEED, rel=0.02)
    arm.still()


def test_a_killed_node_leaves_an_arm_that_stops_by_itself(arm_with_node):
    arm = arm_with_node({"output": "velocity"}, {"controller": "forward_velocity_controller"})
    arm.bring_up()
    arm.activate()
    hold_push(arm)
    time.sleep(1.0)
    assert max(map(abs, arm.joint_state().velocity)) > 0.05
    arm.processes.running[1].kill()
    arm.still(timeout=5.0)


def test_speed_scaling_slows_a_trajectory_down(processes, setup_of):
    from builtin_interfaces.msg import Duration
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    processes.start("sim_node", {"speed_scaling": 0.5})
    arm = setup_of(processes)
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


def test_the_action_moves_the_arm_in_the_direction_of_the_push(generated, processes, setup_of, patient, position):
    environment = {"PYTHONPATH": os.pathsep.join([str(generated), os.environ.get("PYTHONPATH", "")])}
    processes.start("sim_node", environment=environment)
    processes.start("admittance_node", {**patient, "output": "action"}, environment=environment)
    arm = setup_of(processes)
    arm.bring_up()
    before = position(arm.joint_state())
    hold_push(arm)
    begin = time.monotonic()
    time.sleep(4.0)
    arm.still()
    moved = position(arm.joint_state()) - before
    assert steady_speed(arm.joints, begin + 1.2, begin + 2.4) == pytest.approx(SPEED, rel=0.05)
    assert moved[1] == pytest.approx(2.5 * SPEED, rel=0.1)  # the whole way: goals come late, none is lost
    assert abs(moved[2]) < 0.1 * moved[1]
    assert arm.state()["mode"] == "active"


class RefusingController(threading.Thread):
    """A plain action server that rejects every goal."""

    def __init__(self, client):
        super().__init__()
        from control_msgs.action import FollowJointTrajectory
        from rclpy.action import ActionServer, GoalResponse

        self.goals = 0

        def refuse(goal):
            self.goals += 1
            return GoalResponse.REJECT

        self.server = ActionServer(
            client.node,
            FollowJointTrajectory,
            "/refusing/follow_joint_trajectory",
            execute_callback=lambda handle: FollowJointTrajectory.Result(),
            goal_callback=refuse,
        )


def test_rejected_goals_are_tried_again_a_few_times_then_the_node_stops(
    generated, processes, setup_of, patient, client
):
    environment = {"PYTHONPATH": os.pathsep.join([str(generated), os.environ.get("PYTHONPATH", "")])}
    refusing = RefusingController(client)
    action = "/scaled_joint_trajectory_controller/follow_joint_trajectory"
    processes.start("sim_node", environment=environment)
    remap = {f"{action}/_action/{part}": f"/refusing/follow_joint_trajectory/_action/{part}"
             for part in ("send_goal", "get_result", "cancel_goal", "feedback", "status")}  # fmt: skip
    processes.start("admittance_node", {**patient, "output": "action"}, remap=remap, environment=environment)
    arm = setup_of(processes)
    arm.bring_up()
    arm.wait_for(life="inactive", timeout=30.0)
    arm.client.until(lambda: refusing.goals == 7, 5, "six goals and a last one that is a standstill")
    assert "6 goals in a row were rejected" in arm.state()["reason"]
    refusing.server.destroy()


def test_without_control_msgs_the_action_is_refused_with_a_sentence(generated, processes, setup_of, patient):
    if _has_control_msgs():
        pytest.skip("control_msgs is installed here")
    kept = [path for path in os.environ["PYTHONPATH"].split(os.pathsep) if path != str(generated)]
    processes.start("sim_node")
    node = {**patient, "output": "action", "ft_frame": "flange"}
    processes.start("admittance_node", node, environment={"PYTHONPATH": os.pathsep.join(kept)})
    arm = setup_of(processes)
    assert not arm.client.transition("configure", timeout=60.0)
    arm.client.until(lambda: "control_msgs" in arm.state().get("reason", ""), 5, arm.state())


def _has_control_msgs():
    import importlib.util

    return importlib.util.find_spec("control_msgs") is not None and not any(
        "ur_admittance_interfaces" in str(p)
        for p in (importlib.util.find_spec("control_msgs").submodule_search_locations)
    )


def test_frames_come_from_tf_static_when_the_description_lacks_them(generated, processes, setup_of, patient, client):
    from geometry_msgs.msg import TransformStamped
    from rclpy.qos import DurabilityPolicy, QoSProfile
    from tf2_msgs.msg import TFMessage

    environment = {"PYTHONPATH": os.pathsep.join([str(generated), os.environ.get("PYTHONPATH", "")])}
    processes.start("sim_node")
    parameters = {**patient, "ft_frame": "ft_sensor_link", "tcp_frame": "probe", "startup_timeout": 2.0}
    processes.start("admittance_node", parameters, environment=environment)
    arm = setup_of(processes)
    assert not client.transition("configure", timeout=60.0)
    client.until(lambda: "waiting for frame ft_sensor_link" in arm.state().get("reason", ""), 5)
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    static = client.publisher(TFMessage, "/tf_static", latched)
    sensor, probe = TransformStamped(), TransformStamped()
    sensor.header.frame_id, sensor.child_frame_id = "tool0", "ft_sensor_link"
    sensor.transform.translation.z = 0.04
    sensor.transform.rotation.z = sensor.transform.rotation.w = float(np.sqrt(0.5))  # a quarter turn about z
    probe.header.frame_id, probe.child_frame_id = "ft_sensor_link", "probe"
    probe.transform.translation.z = 0.11
    static.publish(TFMessage(transforms=[sensor, probe]))
    assert client.transition("configure", timeout=60.0), arm.state()
    assert client.parameter("sensor.rotation") == pytest.approx([0.0, 0.0, np.pi / 2])
    assert client.parameter("sensor.position") == pytest.approx([0.0, 0.0, 0.04])
    assert client.parameter("tool.tcp") == pytest.approx([0.0, 0.0, 0.15, 0.0, 0.0, np.pi / 2])


def test_a_sensor_faster_than_the_loop_does_not_set_its_pace(arm_with_node):
    from trajectory_msgs.msg import JointTrajectory

    arm = arm_with_node({"control_rate": 125.0})  # the simulated sensor sends 500 wrenches per second
    arm.bring_up()
    commands = arm.client.listen(JointTrajectory, "/scaled_joint_trajectory_controller/joint_trajectory")
    arm.client.until(lambda: commands, 10)
    time.sleep(3.0)
    times = np.array([t for t, _ in commands])
    assert 118.0 < (times.size - 1) / (times[-1] - times[0]) < 135.0
