"""An arm that the test itself plays."""

import threading
import time

import numpy as np

NAMES = [f"{part}_joint" for part in ("shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3")]
HOME = [0.0, -np.pi / 2, np.pi / 2, -np.pi / 2, -np.pi / 2, 0.0]
STEP_S, CLOCK_STEP_S = 0.005, 0.002
PATIENCE_S = 0.3  # less than the node waits for a clock that stands still
TRAJECTORY = "/scaled_joint_trajectory_controller/joint_trajectory"


class Bench:
    """The test plays robot and sensor: it can stop, lie and change its mind. A thread publishes, at 200 Hz, or, with a
    clock, at 500 Hz of a time that waits for the answer of a node that has answered before."""

    now_ns = 1_000_000_000  # of all benches: time goes on

    def __init__(self, client, description=None, with_clock=False):
        from geometry_msgs.msg import WrenchStamped
        from rclpy.qos import DurabilityPolicy, QoSProfile
        from rosgraph_msgs.msg import Clock
        from sensor_msgs.msg import JointState
        from std_msgs.msg import String
        from trajectory_msgs.msg import JointTrajectory

        self.client, self.names = client, list(NAMES)
        self.joints_on = self.wrench_on = True
        self.force = 0.0
        self.joint_out = client.publisher(JointState, "/joint_states")
        self.wrench_out = client.publisher(WrenchStamped, "/wrist_ft_sensor")
        self.clock_out, self.clock = client.publisher(Clock, "/clock") if with_clock else None, Clock()
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.description_out = client.publisher(String, "/robot_description", latched)
        self.commands = client.listen(JointTrajectory, TRAJECTORY)
        self.kinds = JointState, WrenchStamped, String
        if description is not None:
            self.describe(description)
        self.q = list(HOME)
        self.end = threading.Event()
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def describe(self, text):
        self.description_out.publish(self.kinds[2](data=text))

    def _tick(self, heard):
        """Let time pass, after the answer to the last step if there was one to the step before; returns the number of
        commands that were heard."""
        patience = time.monotonic() + PATIENCE_S
        while self._answered and len(self.commands) == heard and time.monotonic() < patience:
            time.sleep(0.0005)
        self._answered = len(self.commands) > heard
        Bench.now_ns += round(1e9 * CLOCK_STEP_S)
        self.clock.clock.sec, self.clock.clock.nanosec = divmod(Bench.now_ns, 1_000_000_000)
        self.clock_out.publish(self.clock)
        return len(self.commands)

    def _run(self):
        JointState, WrenchStamped, _ = self.kinds
        self._answered, heard = False, 0
        while not self.end.wait(STEP_S if self.clock_out is None else CLOCK_STEP_S):
            if self.clock_out is not None:
                heard = self._tick(heard)
            if self.joints_on:
                if self.commands and self.commands[-1][1].points:
                    self.q = list(self.commands[-1][1].points[0].positions)
                state = JointState(name=self.names, position=self.q, velocity=[0.0] * 6)
                self.joint_out.publish(state)
            if self.wrench_on:
                wrench = WrenchStamped()
                wrench.header.frame_id = "tool0"
                wrench.wrench.force.x = float(self.force)
                self.wrench_out.publish(wrench)

    def close(self):
        self.end.set()
        self.thread.join(timeout=5)


def moving(bench, setup):
    """Push until the arm is commanded to move, at nearly the speed that it reaches: 0.135 rad/s."""
    bench.force = 6.0
    setup.client.until(
        lambda: bench.commands and max(map(abs, bench.commands[-1][1].points[0].velocities)) > 0.12, 10, "motion"
    )
