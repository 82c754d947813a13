"""ROS 2: start the simulated arm and the admittance node, push the tool, watch its velocity on a topic."""

import subprocess
import sys
import time

import rclpy
from geometry_msgs.msg import TwistStamped
from std_srvs.srv import Trigger

WRENCH = "/force_torque_sensor_broadcaster/wrench"  # of UR's driver, whose double the simulated arm is

rclpy.init()
client = rclpy.create_node("example_client")
speeds = [0.0]
client.create_subscription(
    TwistStamped, "/admittance_cartesian_velocity", lambda m: speeds.append(m.twist.linear.y), 10
)
push = client.create_client(Trigger, "/ur_sim/push")
arm = ["-p", "push.wrench:=[0.0, 10.0, 0.0, 0.0, 0.0, 0.0]", "-r", f"{WRENCH}:=/wrist_ft_sensor"]
programs = {"ur_admittance_lab.driver.sim_node": arm, "ur_admittance.ros.admittance_node": ["-p", "autostart:=true"]}
nodes = [
    subprocess.Popen([sys.executable, "-m", name, "--ros-args", *arguments]) for name, arguments in programs.items()
]
try:
    end = time.monotonic() + 90.0  # the first run compiles
    while max(speeds) < 0.05 and time.monotonic() < end:
        if push.service_is_ready():
            push.call_async(Trigger.Request())  # 10 N for one second
        pause = time.monotonic() + 2.0
        while time.monotonic() < pause:
            rclpy.spin_once(client, timeout_sec=0.1)
finally:
    for node in nodes:
        node.terminate()
    for node in nodes:
        node.wait(20)
print(f"the tool moved at up to {1000 * max(speeds):.0f} mm/s")
