"""ROS 2: start the simulated arm and the admittance node, push the tool, watch its velocity on a topic."""

import subprocess
import sys
import time

import rclpy
from geometry_msgs.msg import TwistStamped
from std_srvs.srv import Trigger


def node(module: str, *parameters: str) -> subprocess.Popen:
    arguments = [text for parameter in parameters for text in ("-p", parameter)]
    return subprocess.Popen([sys.executable, "-m", f"ur_admittance.ros.{module}", "--ros-args", *arguments])


rclpy.init()
client = rclpy.create_node("example_client")
fastest = [0.0]


def watch(message: TwistStamped) -> None:
    fastest[0] = max(fastest[0], message.twist.linear.y)


client.create_subscription(TwistStamped, "/admittance_cartesian_velocity", watch, 10)
push = client.create_client(Trigger, "/ur_sim/push")
children = [
    node("sim_node", "push.wrench:=[0.0, 10.0, 0.0, 0.0, 0.0, 0.0]"),
    node("admittance_node", "autostart:=true", "safety.joint_state_timeout:=0.4", "safety.wrench_timeout:=0.4"),
]
end = time.monotonic() + 90.0  # the first run compiles
try:
    while fastest[0] < 0.05 and time.monotonic() < end:
        if push.service_is_ready():
            push.call_async(Trigger.Request())  # 10 N for one second
        pause = time.monotonic() + 2.0
        while fastest[0] < 0.05 and time.monotonic() < pause:
            rclpy.spin_once(client, timeout_sec=0.1)
    print(f"the tool moved at up to {1000 * fastest[0]:.0f} mm/s")
finally:
    for child in children:
        child.terminate()
    for child in children:
        child.wait(20)
sys.exit(0 if fastest[0] >= 0.05 else 1)
