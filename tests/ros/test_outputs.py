"""Two ways to the arm: trajectory topic (test_push.py) and velocity topic."""

import os
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


def test_a_killed_node_leaves_an_arm_that_stops_by_itself(arm_with_node):
    """Velocity commands move it as the law says; the push during which the node is killed is the second one."""
    arm = arm_with_node({"output": "velocity"}, {"controller": "forward_velocity_controller"})
    arm.bring_up()
    arm.activate()
    hold_push(arm)
    begin = time.monotonic()
    time.sleep(3.0)
    assert steady_speed(arm.joints, begin + 1.0, begin + 2.3) == pytest.approx(SPEED, rel=0.02)
    arm.still()
    hold_push(arm)
    time.sleep(1.0)
    assert max(map(abs, arm.joint_state().velocity)) > 0.05
    arm.processes.running[1].kill()
    arm.still(timeout=5.0)


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
