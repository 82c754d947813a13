"""A simulated arm and the admittance node, seen and handled from outside."""

import json
import math
import time

import numpy as np

from .client import READY_S

# Denavit-Hartenberg parameters of the UR5e as Universal Robots publishes them: an oracle of its own for positions.
DH_A = (0.0, -0.425, -0.3922, 0.0, 0.0, 0.0)
DH_D = (0.1625, 0.0, 0.0, 0.1333, 0.0997, 0.0996)
DH_ALPHA = (math.pi / 2, 0.0, 0.0, math.pi / 2, -math.pi / 2, 0.0)
NAMES = (
    "shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint",
)  # fmt: skip


def flange_position(message):
    """x, y, z of the flange in base_link [m]."""
    return flange_pose(message)[:3, 3]


def flange_pose(message):
    """T_base_link_flange (4, 4)."""
    q = [message.position[message.name.index(name)] for name in NAMES]
    T = np.diag([-1.0, -1.0, 1.0, 1.0])  # base_link -> the UR's own base
    for angle, a, d, alpha in zip(q, DH_A, DH_D, DH_ALPHA, strict=True):
        c, s, ca, sa = math.cos(angle), math.sin(angle), math.cos(alpha), math.sin(alpha)
        T = T @ np.array([[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1]])
    return T


def steady_speed(joints, start, end, axis=1):
    """Median over windows of 0.1 s of the slope of the measured tool position [m/s]: a pause of the machine, in which
    the hand lets go, spoils some windows and not the median. start, end: monotonic time [s]."""
    slopes = []
    for k in range(int((end - start) / 0.1)):
        picked = [m for t, m in joints if start + 0.1 * k <= t < start + 0.1 * (k + 1)]
        if len(picked) < 5:
            continue
        stamps = np.array([m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec for m in picked])
        slopes.append(np.polyfit(stamps - stamps[0], [flange_position(m)[axis] for m in picked], 1)[0])
    return float(np.median(slopes))


class Setup:
    """A simulated arm and the admittance node, watched by a client."""

    def __init__(self, processes, client):
        from geometry_msgs.msg import TwistStamped, WrenchStamped
        from sensor_msgs.msg import JointState
        from std_msgs.msg import String

        self.processes, self.client = processes, client
        self.states = client.listen(String, "/admittance_node/state", latched=True)
        self.twists = client.listen(TwistStamped, "/admittance_cartesian_velocity")
        self.joints = client.listen(JointState, "/joint_states")
        self.hand = client.publisher(WrenchStamped, "/ur_sim/hand")
        self.pushing = None

    def state(self):
        return self.state_of(self.states[-1][1]) if self.states else {}

    @staticmethod
    def state_of(message):
        return json.loads(message.data)

    def wait_for(self, timeout=20.0, **wanted):
        self.client.until(
            lambda: all(self.state().get(key) == value for key, value in wanted.items()),
            timeout,
            f"{wanted}; the state is {self.state()}",
        )

    def bring_up(self):
        """configure and activate from outside."""
        assert self.client.transition("configure", timeout=READY_S), self.state()
        assert self.client.transition("activate"), self.state()
        self.wait_for(mode="active")

    def fresh(self):
        """Active, with the arm at its start: whatever the last test or a pause of the machine has left behind."""
        client = self.client
        self.wait_for(timeout=READY_S)
        if client.life() == "unconfigured":
            assert client.transition("configure", timeout=READY_S), self.state()
        if client.life() == "active":
            assert client.transition("deactivate"), self.state()
        client.trigger("/ur_sim/reset")
        self.activate()
        return self

    def activate(self):
        client = self.client
        for _ in range(3):
            if client.transition("activate"):
                break
            client.trigger("/admittance_node/reset_fault")
        self.wait_for(life="active", mode="active")

    def push(self, wrench, seconds, ends=True):
        """A hand at the TCP, base axes, through a plain topic; ends: it lets go then."""
        from geometry_msgs.msg import WrenchStamped

        self.client.until(lambda: self.hand.get_subscription_count() > 0, 10, "an arm that feels the hand")
        message = WrenchStamped()
        force, torque = message.wrench.force, message.wrench.torque
        force.x, force.y, force.z, torque.x, torque.y, torque.z = map(float, wrench)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.hand.publish(message)
            time.sleep(0.02)
        if ends:
            self.hand.publish(WrenchStamped())

    def joint_state(self):
        """A joint state that was measured after this call: a busy client has older ones in its queue."""
        now = time.time()

        def fresh():
            stamp = self.joints[-1][1].header.stamp if self.joints else None
            return stamp is not None and stamp.sec + 1e-9 * stamp.nanosec > now

        self.client.until(fresh, 10.0, "a joint state")
        return self.joints[-1][1]

    def still(self, timeout=10.0):
        """Wait until the measured joints stand still."""

        def stands():
            time.sleep(0.2)
            return max(map(abs, self.joint_state().velocity)) < 2e-3

        self.client.until(stands, timeout, "standstill")
