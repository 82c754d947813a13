"""wrench_node: raw readings -> without bias and tool weight, filtered -> at the probe (TCP).

    /netft/raw_sensor  ->  /netft/proc_sensor  (sensor frame)  ->  /netft/proc_probe  (about the TCP, TCP axes)
    /joint_states, /robot_description: for the direction of gravity
    ~/zero_ft_sensor, ~/zero_free_tool (std_srvs/Trigger)

It is the control loop with a controller that is never activated: the first step of its tick (core/wrench) does the
arithmetic, so that both give the same numbers.
"""

import sys
from typing import Any

import numpy as np

from ur_admittance.control import AdmittanceController
from ur_admittance.core.faults import sentence
from ur_admittance.core.records import Status
from ur_admittance.core.views import scalar, vector
from ur_admittance.errors import LifecycleError
from ur_admittance.params import Parameters
from ur_admittance.robots.ros.inputs import wrench_topic
from ur_admittance.robots.ros.prepared import wrenches
from ur_admittance.robots.ros.sensor_place import SensorWatch
from ur_admittance.ros.arm_node import RAW_TOPIC, ArmNode
from ur_admittance.ros.node_run import offer, run, saying_unless_ended
from ur_admittance.ros.parameters import Option
from ur_admittance.runtime import loop
from ur_admittance.runtime.realtime import realtime

SENSOR_TOPIC = "netft/proc_sensor"
PROBE_TOPIC = "netft/proc_probe"

OPTIONS: dict[str, Option] = {
    "calibration_file": ("", "file of ur-admittance calibrate or of wrench_calibration_node"),
    "probe_frame": ("tcp", "frame_id of the wrench at the TCP"),
}

# a force at rest keeps an arm inactive, but it is what the sensor reads
BELIEVED = (Status.OK, Status.UNEXPLAINED_FORCE, Status.UNEXPLAINED_TORQUE)


class WrenchNode(ArmNode):
    """`work` is the loop; the executor serves parameters and the zero service."""

    def __init__(self) -> None:
        super().__init__("wrench_node", OPTIONS)
        self.controller: AdmittanceController | None = None
        offer(self, zero_ft_sensor=self._zero, zero_free_tool=lambda: self._zero(tool_is_free=True))
        self._probe = wrenches(self, PROBE_TOPIC, self.option("probe_frame"))
        self._said = Status.OK

    def take_over(self, candidate: Parameters) -> None:
        if self.controller is not None:
            self.controller.replace_parameters(candidate)

    def in_force(self) -> Parameters:
        return self.parameters if self.controller is None else self.controller.parameters  # auto_zero changes them

    def work(self) -> int:
        with self.robot(wrench_topic(self, self.parameters.sensor.source, RAW_TOPIC)) as robot:
            inputs = robot.listening()
            SensorWatch(self).configure(inputs, robot.model)
            self._sensor = wrenches(self, SENSOR_TOPIC, inputs.wrench_frame or self.parameters.ft_frame)
            controller = AdmittanceController(robot.model, self.parameters)
            controller.configure(saying_unless_ended(self))
            command = controller.command
            self._status, self._evidence = scalar(command, "status"), vector(command, "evidence")
            self._compensated, self._at_tcp = vector(command, "wrench_sensor"), vector(command, "wrench_tcp")
            self._R_tcp, self._at_probe = vector(command, "R_tcp"), np.zeros(6)
            self.controller = controller
            self._loop_clock = robot.clock()
            self._sent_ns = self._loop_clock.time_ns()
            with realtime(priority=None, lock_memory=False, freeze_collector=False):
                loop.run(controller, robot, self._loop_clock, on_tick=self._send)
        return 0

    def _send(self, controller: Any) -> bool:
        """After every cycle; True: told to end. What raises here ends the node with a sentence."""
        stamp = self._loop_clock.time_ns()
        if stamp == self._sent_ns:  # simulated time stands still: there is no new wrench
            return self.told_to_end.is_set()
        self._sent_ns = stamp
        status = Status(int(self._status[0]))
        if status not in BELIEVED:  # silence, and one line in the log
            if status != self._said:
                self.get_logger().warning(sentence(status, self._evidence.tolist()))
            self._said = status
            return self.told_to_end.is_set()
        self._said = Status.OK
        R, wrench = self._R_tcp, self._at_tcp
        self._at_probe[:3], self._at_probe[3:] = R.T @ wrench[:3], R.T @ wrench[3:]
        self._sensor.send(stamp, self._compensated)
        self._probe.send(stamp, self._at_probe)
        return self.told_to_end.is_set()

    def _zero(self, tool_is_free: bool = False) -> str:
        if self.controller is None:
            raise LifecycleError("zeroing refused: no readings yet.")
        change = self.controller.zero_ft_sensor(tool_is_free)
        self.change_parameters({"sensor.bias": list(self.controller.parameters.sensor.bias)})
        return f"sensor.bias changed by {np.round(change, 3).tolist()} (N, Nm)"


def main() -> None:
    sys.exit(run(WrenchNode))


if __name__ == "__main__":
    main()
