"""Between the driver and the node: passes joint states and wrenches on, or not, or spoilt."""

import threading

import numpy as np

JOINTS, WRENCH = "/relay/joint_states", "/relay/wrench"


class Relay(threading.Thread):
    """Runs from its making to `close`."""

    def __init__(self, client):
        from geometry_msgs.msg import WrenchStamped
        from sensor_msgs.msg import JointState

        from ur_admittance.robots.ros.polled import COMMANDS, Polled, Waiter

        super().__init__()
        self.joints_on = self.wrench_on = True
        self.spoilt = False  # wrenches are NaN
        self._end = threading.Event()
        node = client.node
        self._joints, self._wrench = Polled(node, JointState, JOINTS), Polled(node, WrenchStamped, WRENCH)
        self._joint_out = client.publisher(JointState, "/joint_states", COMMANDS).handle.publish_raw
        self._wrench_out = client.publisher(WrenchStamped, "/wrist_ft_sensor", COMMANDS).handle.publish_raw
        self._waiter = Waiter(node, self._wrench)
        self.start()

    def run(self):
        while not self._end.is_set():
            self._waiter.wait(20_000_000)
            data = self._joints.take()
            if data is not None and self.joints_on:
                self._joint_out(data)
            data = self._wrench.take()
            if data is not None and self.wrench_on:
                self._wrench_out(data[:-48] + np.full(6, np.nan).tobytes() if self.spoilt else data)

    def close(self):
        self._end.set()
        self.join()
        self._waiter.destroy()
        self._joints.destroy()
        self._wrench.destroy()
