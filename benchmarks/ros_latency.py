"""From a wrench on the network to the command that it causes: the node's own path next to the usual design.

    python -m benchmarks.ros_latency [--seconds 20] [--priority 50] [--design own usual beside] [--write]

A client plays robot and sensor at 500 Hz. Every 20 ms one wrench carries a force; the first command whose speeds
answer it ends the measurement. Latency is from before the publish call of the client to after its take of the command,
so both directions of DDS are in it. CPU is that of the node's whole process, from /proc.

    own path   admittance_node: waits for the wrench itself, raw bytes, no executor
    usual      the same controller in a node with subscriptions, a 2 ms timer and message objects, in an executor
    beside     the own path, while the client also plays the driver's pose broadcaster: the wrench is in
               tool0_controller, whose pose comes 500 times per second on /tf and on a topic of its own (tf2_msgs)
"""

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.machine import cpu_seconds, resident_mb
from ur_admittance_lab.evidence import keep

if TYPE_CHECKING:
    from rclpy.node import Node

PULSE_EVERY = 7  # wrenches: not in step with anything that the node does at a round rate
FORCE = 10.0  # [N]
ANSWER = 0.002  # [rad/s] the pulse gives 0.005 in the fastest joint
# A light mass and strong damping: the speed answers within one tick and has died away before the next pulse.
LAW = {
    "admittance.mass": [0.5] * 3 + [0.05] * 3,
    "admittance.damping": [200.0] * 3 + [20.0] * 3,
    "admittance.compensate_mass": False,
    "admittance.filter_coefficient": 1.0,
    "admittance.min_motion_threshold": 0.0,
    "admittance.min_motion_threshold_torque": 0.0,
    "safety.joint_state_timeout": 1.0,
    "safety.wrench_timeout": 1.0,
    "tracking.velocity_gain": [0.0] * 6,
}
DESIGNS = ("own", "usual", "beside")
NAMES = [f"{name}_joint" for name in ("shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3")]
HOME = [0.0, -1.5708, 1.5708, -1.5708, -1.5708, 0.0]
TOPIC = "/scaled_joint_trajectory_controller/joint_trajectory"
DRIVER_FRAME = "tool0_controller"


def usual_node() -> None:
    """What most examples look like: callbacks keep the newest messages, a timer computes and publishes."""
    import rclpy
    from geometry_msgs.msg import WrenchStamped
    from rclpy.node import Node
    from rclpy.qos import qos_profile_sensor_data
    from sensor_msgs.msg import JointState
    from trajectory_msgs.msg import JointTrajectory

    from ur_admittance.control import AdmittanceController
    from ur_admittance.model import robot_model
    from ur_admittance.params import Parameters
    from ur_admittance.robots.ros.command_outputs import trajectory

    class Usual(Node):
        def __init__(self):
            super().__init__("usual_node")
            self.controller = AdmittanceController(robot_model("ur5e"), Parameters().changed(LAW))
            self.controller.configure()
            self.joints = self.wrench = None
            self.active = False
            self.last = time.monotonic()
            self.create_subscription(JointState, "/joint_states", self.keep_joints, qos_profile_sensor_data)
            self.create_subscription(WrenchStamped, "/wrist_ft_sensor", self.keep_wrench, qos_profile_sensor_data)
            self.commands = self.create_publisher(JointTrajectory, TOPIC, 1)
            self.create_timer(0.002, self.tick)

        def keep_joints(self, message):
            self.joints = message

        def keep_wrench(self, message):
            self.wrench = message

        def tick(self):
            if self.joints is None or self.wrench is None:
                return
            sample, now = self.controller.sample, time.monotonic()
            order = [self.joints.name.index(name) for name in NAMES]
            sample["q"] = [self.joints.position[i] for i in order]
            sample["qd"] = [self.joints.velocity[i] for i in order]
            f, t = self.wrench.wrench.force, self.wrench.wrench.torque
            sample["wrench"] = [f.x, f.y, f.z, t.x, t.y, t.z]
            sample["dt"], self.last = min(0.1, max(1e-4, now - self.last)), now
            self.controller.update()
            if not self.active:
                self.controller.activate()
                self.active = True
            command = self.controller.command
            self.commands.publish(trajectory(NAMES, [(command["q"], command["qd"], 0.002)]))

    rclpy.init()
    with contextlib.suppress(KeyboardInterrupt):
        rclpy.spin(Usual())


def pose_broadcaster(node: "Node") -> Callable[[], None]:
    """The driver's: one call publishes the pose of the pendant's TCP, which is the flange."""
    from tf2_msgs.msg import TFMessage

    from ur_admittance.model import robot_model
    from ur_admittance_lab.driver import driver_messages as messages
    from ur_admittance_lab.driver.tcp import PendantTcp

    position, turned = PendantTcp([0.0] * 6, 0.0, [0.0] * 3).pose(*robot_model("ur5e").forward(HOME))
    poses = messages.poses(node, "/tcp_pose_broadcaster/pose", "base")
    transforms = messages.transforms(node, TFMessage, "base", DRIVER_FRAME)

    def publish() -> None:
        poses.send(0, position, turned)
        transforms.send(0, position, turned)

    return publish


def start(design: str, priority: int) -> subprocess.Popen:
    if design == "usual":
        command = [sys.executable, "-m", "benchmarks.ros_latency", "--usual-node"]
    else:
        command = [sys.executable, "-m", "ur_admittance.ros.admittance_node", "--ros-args"]
        for name, value in (LAW | {"autostart": True, "realtime_priority": priority}).items():
            command += ["-p", f"{name}:={str(value).lower()}"]
    return subprocess.Popen(command)


def measure(design: str, seconds: float, priority: int) -> dict[str, float]:
    """Latencies [ms] and CPU [% of one core] of one design."""
    import numpy as np
    import rclpy
    from rclpy.node import Node
    from std_msgs.msg import String
    from trajectory_msgs.msg import JointTrajectory

    from ur_admittance.model import robot_model
    from ur_admittance.robots.ros import prepared
    from ur_admittance.robots.ros.polled import COMMANDS, LATCHED, Polled, Waiter
    from ur_admittance.runtime.realtime import realtime
    from ur_admittance_lab.driver import driver_messages as messages
    from ur_admittance_lab.urdf_writer import generate

    context = rclpy.Context()
    rclpy.init(context=context)
    node = Node("latency_client", context=context)
    description = node.create_publisher(String, "/robot_description", LATCHED)
    description.publish(String(data=generate(robot_model("ur5e"))))
    commands = Polled(node, JointTrajectory, TOPIC, COMMANDS)
    waiter = Waiter(node, commands)
    joints = prepared.joint_states(node, "/joint_states", NAMES)
    beside = design == "beside"
    broadcast = pose_broadcaster(node) if beside else lambda: None
    wrenches = prepared.wrenches(node, "/wrist_ft_sensor", DRIVER_FRAME if beside else "tool0")
    quiet, pulse = np.zeros(6), np.array([0.0, FORCE, 0.0, 0.0, 0.0, 0.0])

    process = start(design, priority)
    latencies, periods = [], []
    answered = pulsed_at = sent = 0
    waiting = False
    deadline = time.perf_counter_ns()
    begin = cpu = None
    last_command = 0
    commands_seen = 0
    try:
        with realtime(priority=priority or None, lock_memory=False):
            limit = time.monotonic() + seconds + 90.0
            while time.monotonic() < limit:
                deadline = max(deadline + 2_000_000, time.perf_counter_ns() - 2_000_000)
                while True:
                    left = deadline - time.perf_counter_ns()
                    if left <= 0:
                        break
                    if not waiter.wait(left):
                        continue
                    data = commands.take()
                    now = time.perf_counter_ns()
                    if data is None:
                        continue
                    commands_seen += 1
                    if last_command:
                        periods.append((now - last_command) * 1e-6)
                    last_command = now
                    point = messages.read_trajectory(data).points[0]
                    if waiting and np.abs(point.qd).max() > ANSWER:
                        latencies.append((now - pulsed_at) * 1e-6)
                        waiting, answered = False, answered + 1
                if begin is None and commands_seen > 500:
                    begin, cpu = time.monotonic(), cpu_seconds(process.pid)
                    latencies.clear()
                    periods.clear()
                if begin is not None and time.monotonic() - begin > seconds:
                    break
                joints.send(0, HOME, quiet)
                broadcast()
                sent += 1
                if sent % PULSE_EVERY == 0 and commands_seen > 100:
                    waiting, pulsed_at = True, time.perf_counter_ns()
                    wrenches.send(0, -pulse if (sent // PULSE_EVERY) % 2 else pulse)
                else:
                    wrenches.send(0, quiet)
        if begin is None or cpu is None:
            raise SystemExit(f"{design}: no commands came")
        used = 100.0 * (cpu_seconds(process.pid) - cpu) / (time.monotonic() - begin)
        memory = resident_mb(process.pid)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            process.kill()
        node.destroy_node()
        context.try_shutdown()
    values = np.array(latencies)
    return {
        "pulses": len(values),
        "median": float(np.median(values)),
        "p99": float(np.percentile(values, 99)),
        "worst": float(values.max()),
        "period_p99": float(np.percentile(periods, 99)),
        "cpu": used,
        "memory": memory,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--priority", type=int, default=0, help="SCHED_FIFO of client and node, 0: none")
    parser.add_argument("--design", nargs="+", choices=DESIGNS, default=DESIGNS[:2])
    parser.add_argument("--write", action="store_true", help="into docs/measured, for the page about ROS 2")
    parser.add_argument("--usual-node", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.usual_node:
        usual_node()
        return
    try:
        import rclpy  # noqa: F401
    except ImportError:
        print("rclpy is not installed; skipped (pip install 'ur-admittance[ros]')")
        return
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    os.environ["ROS_DOMAIN_ID"] = str(random.SystemRandom().randint(1, 100))
    print(
        f"{'design':8} {'pulses':>7} {'median':>9} {'p99':>9} {'worst':>9} {'period p99':>11} {'CPU':>7} {'memory':>8}"
    )
    found = {}
    for design in options.design:
        r = found[design] = measure(design, options.seconds, options.priority)
        print(
            f"{design:8} {r['pulses']:7.0f} {r['median']:6.2f} ms {r['p99']:6.2f} ms {r['worst']:6.2f} ms "
            f"{r['period_p99']:8.2f} ms {r['cpu']:5.1f} % {r['memory']:5.0f} MB"
        )
    if options.write:
        found |= {"seconds": options.seconds, "cores": os.cpu_count()}
        keep(Path(__file__).parents[1] / "docs/measured/ros.json", "node", found)


if __name__ == "__main__":
    main()
