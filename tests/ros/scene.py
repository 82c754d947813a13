"""One driver (its double), one node, one hand: what happens to them is up to the test."""

import json
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from .processes import WRENCH as DRIVER_WRENCH
from .processes import Processes
from .relay import JOINTS, WRENCH, Relay
from .watched import Setup, flange_position

FORCE, D, THRESHOLD = 8.0, 2 * 0.8 * (8 * 200) ** 0.5, 1.5
SPEED = (FORCE - THRESHOLD) / D  # [m/s] that the law wants
LIMIT = 0.25  # [m/s] max_linear_velocity in every case
NODE = {
    "max_linear_velocity": LIMIT,
    "safety.joint_state_timeout": 0.1,
    "safety.wrench_timeout": 0.1,
    "safety.steady_force_time": 1e6,  # the hand of a test never varies
    "realtime_priority": 20,
    "startup_timeout": 20.0,
}
MOVING = 2e-3  # [rad/s]
MOST_STEP = 0.02  # [rad] between two commands one period apart: a stalled machine, and far below any jump
NEAR = 0.05  # [rad] between the command and the arm


class Scene:
    """One driver, one node, one hand."""

    def __init__(self, client, driver, output, node=None, sim=None, relayed=False, ignored=False):
        """relayed: the node hears the driver through a relay; ignored: its commands go nowhere."""
        self.client, self.driver, self.output = client, driver, output
        self.processes = Processes(Path(tempfile.mkdtemp(prefix="driver_table_")))
        self.sim_parameters = {"driver": driver, "unlock_delay": 0.5, **(sim or {})}
        if output == "velocity":
            self.sim_parameters["controller"] = "forward_velocity_controller"
        sim_names = {"/joint_states": JOINTS, DRIVER_WRENCH: WRENCH} if relayed else None
        nowhere = {endpoint(driver, output): "/nowhere"} if ignored else None
        self.sim = self.processes.start("sim_node", self.sim_parameters, remap=sim_names)
        self._node_options = {"parameters": {**NODE, "output": output, **(node or {})}, "remap": nowhere}
        self.start_node()
        client.forget()
        self.setup = Setup(self.processes, client)
        self.relay = Relay(client) if relayed else None
        self.joints = client.listen(JointState, JOINTS) if relayed else self.setup.joints  # as the driver sends them
        if ignored:
            self._nowhere = client.listen(JointTrajectory if output == "trajectory" else Float64MultiArray, "/nowhere")
        self._hand = threading.Event()
        self._thread = None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.let_go()
        self.processes.stop()
        if self.relay is not None:
            self.relay.close()
        if error[0] is not None:
            print(self.processes.logs(), file=sys.stderr)  # noqa: T201

    def start_node(self):
        self.node = self.processes.start("admittance_node", **self._node_options)

    def bring_up(self):
        self.setup.bring_up()
        self.client.trigger("/ur_sim/clear_report")

    def push(self, wrench=(0.0, FORCE, 0.0, 0.0, 0.0, 0.0)):
        """Until `let_go`."""
        self.let_go()
        self._hand.clear()

        def hold():
            while not self._hand.is_set():
                self.setup.push(wrench, 0.2, ends=False)

        self._thread = threading.Thread(target=hold)
        self._thread.start()

    def let_go(self):
        if self._thread is not None:
            self._hand.set()
            self._thread.join()
            self._thread = None

    def report(self):
        return json.loads(self.client.trigger("/ur_sim/report").message)

    def at_speed(self, seconds=1.2):
        self.push()
        time.sleep(seconds)

    def standstill(self, since, longest=1.5):
        """(seconds, metres) from `since` until no joint moves any more, watched for `longest` [s]."""
        time.sleep(longest)
        after = [(t, m) for t, m in self.joints if t >= since]
        moving = [t for t, m in after if max(map(abs, m.velocity)) > MOVING]
        last = moving[-1] if moving else since
        start = flange_position(after[0][1])
        end = flange_position(next(m for t, m in after if t >= last))
        return last - since, float(np.linalg.norm(end - start))


def endpoint(driver, output):
    scaled = "" if driver in ("lyrical", "rolling") else "scaled_"
    if output == "velocity":
        return "/forward_velocity_controller/commands"
    return f"/{scaled}joint_trajectory_controller/joint_trajectory"


def no_jump(scene):
    report = scene.report()
    assert report["command_step_rad"] < MOST_STEP, report
    assert report["lead_rad"] < NEAR, report
    assert report["tcp_speed_m_s"] < 0.25, report
    assert not report["refused"], report
    assert not report["protective_stops"], report
    return report
