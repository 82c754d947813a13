"""wrench_node: raw readings -> without bias and tool weight, filtered -> at the probe (TCP).

    /netft/raw_sensor  ->  /netft/proc_sensor  (sensor frame)  ->  /netft/proc_probe  (about the TCP, TCP axes)
    /joint_states, /robot_description: for the direction of gravity
    ~/zero_ft_sensor (std_srvs/Trigger)

The arithmetic is the first step of the controller's own tick (core/wrench.py), so both give the same numbers.
"""

import sys
from typing import Any

import numpy as np

from ur_admittance.control import AdmittanceController
from ur_admittance.core.views import vector
from ur_admittance.errors import LifecycleError
from ur_admittance.params import Parameters
from ur_admittance.ros.reader_node import RAW_TOPIC, ReaderNode
from ur_admittance.ros.run import run
from ur_admittance.ros.services import offer
from ur_admittance.ros.stream import WrenchStream
from ur_admittance.runtime.realtime import realtime

SENSOR_TOPIC = "/netft/proc_sensor"
PROBE_TOPIC = "/netft/proc_probe"

OPTIONS: dict[str, tuple[Any, str]] = {
    "calibration_file": ("", "file of ur-admittance calibrate or of wrench_calibration_node"),
    "probe_frame": ("tcp", "frame_id of the wrench at the TCP"),
}


class WrenchNode(ReaderNode):
    """`work` is the loop; the executor serves parameters and the zero service."""

    def __init__(self) -> None:
        super().__init__("wrench_node", OPTIONS)
        self.controller: AdmittanceController | None = None
        offer(self, zero_ft_sensor=self._zero)
        p = self.parameters
        self._sensor = WrenchStream(self, SENSOR_TOPIC, p.ft_frame)
        self._probe = WrenchStream(self, PROBE_TOPIC, self.option("probe_frame"))

    def take_over(self, candidate: Parameters) -> None:
        if self.controller is not None:
            self.controller.replace_parameters(candidate)

    def work(self) -> int:
        opened = self.open_arm(RAW_TOPIC)
        if opened is None:
            return 0
        model, arm = opened
        controller = AdmittanceController(model, self.parameters)
        controller.configure(self.get_logger().info)
        self.controller = controller
        sample, command = controller.sample, controller.command
        compensated, at_tcp = vector(command, "wrench_sensor"), vector(command, "wrench_tcp")
        R_tcp, probe = vector(command, "R_tcp"), np.zeros(6)
        complaint = ""
        with realtime(priority=None, lock_memory=False, freeze_collector=False):
            arm.begin()
            while not self.told_to_end.is_set():
                arm.wait()
                if not arm.poll():
                    continue
                arm.read(sample)
                controller.update()
                reason = controller.reason
                if reason != "inactive":  # nothing that could be believed: silence, and one line in the log
                    if reason.split(" for ")[0] != complaint:
                        complaint = reason.split(" for ")[0]
                        self.get_logger().warning(reason.removeprefix("inactive: "))
                    continue
                complaint = ""
                probe[:3], probe[3:] = R_tcp.T @ at_tcp[:3], R_tcp.T @ at_tcp[3:]
                stamp = arm.stamp_ns()
                self._sensor.send(stamp, compensated)
                self._probe.send(stamp, probe)
        return 0

    def _zero(self) -> str:
        if self.controller is None:
            raise LifecycleError("zeroing refused: no readings yet.")
        change = self.controller.zero_ft_sensor()
        self.change_parameters({"sensor.bias": list(self.controller.parameters.sensor.bias)})
        return f"sensor.bias changed by {np.round(change, 3).tolist()} (N, Nm)"


def main() -> None:
    sys.exit(run(WrenchNode))


if __name__ == "__main__":
    main()
