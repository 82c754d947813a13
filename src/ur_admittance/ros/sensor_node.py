"""sensor_node: a force sensor that has no driver of its own, as a topic: ATI NetFT or Robotiq FT 300.

Publishes /wrist_ft_sensor (remap as needed), each reading once. Silence of the sensor is silence here: whoever listens
notices by its own time-out. ~/zero_ft_sensor (std_srvs/Trigger) makes the present reading zero, for all who
listen: the tare that a driver has. The zero of a controller is its sensor.bias.
"""

import sys
import threading
import time

import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node

from ur_admittance.errors import ParameterError, RobotError
from ur_admittance.robots.external_sensors import external_sensor
from ur_admittance.robots.ros.inputs import WRENCH_TOPIC
from ur_admittance.robots.ros.prepared import wrenches
from ur_admittance.ros.node_run import offer, run
from ur_admittance.ros.parameters import Option, SchemaParameters
from ur_admittance.runtime.clock import RealTimeClock

OPTIONS: dict[str, Option] = {
    "sensor": ("", "netft:ADDRESS or robotiq:DEVICE"),
    "frame": ("tool0", "frame_id: where the sensor's axes are"),
    "rate": (500.0, "how often it is looked at [Hz]", 1.0, 1000.0),
}
MEAN_WEIGHT = 0.02  # of a new reading in the mean that becomes the zero


class SensorNode(SchemaParameters, Node):  # type: ignore[misc]
    """`work` is the loop; the executor serves the zero service."""

    def __init__(self) -> None:
        super().__init__("sensor_node")
        self.told_to_end = threading.Event()
        self.declare_options(OPTIONS)
        sensor = external_sensor(self.option("sensor"))
        if sensor is None:
            raise ParameterError(
                f"sensor = {self.option('sensor')!r}: must be netft:ADDRESS or robotiq:DEVICE.", "sensor"
            )
        self._sensor = sensor
        self._mean: NDArray[np.float64] | None = None  # [N, Nm] of the readings so far
        self._zero = np.zeros(6)
        self._stream = wrenches(self, WRENCH_TOPIC, self.option("frame"))
        offer(self, zero_ft_sensor=self._take_zero)

    def work(self) -> int:
        sensor = self._sensor
        sensor.start()
        try:
            clock, sent = RealTimeClock(self.option("rate"), spin_ns=0), 0
            clock.start()
            while not self.told_to_end.is_set():
                clock.wait()
                wrench, age = sensor.latest()
                if sensor.reading.count != sent:
                    sent, reading = sensor.reading.count, np.array(wrench)
                    self._mean = reading if self._mean is None else self._mean + MEAN_WEIGHT * (reading - self._mean)
                    self._stream.send(time.time_ns() - round(1e9 * age), reading - self._zero)
        finally:
            sensor.stop()
        return 0

    def _take_zero(self) -> str:
        if self._mean is None:
            raise RobotError("the force sensor cannot be zeroed: it has sent nothing yet.")
        self._zero = self._mean
        return "the sensor reads zero at its present load"


def main() -> None:
    sys.exit(run(SensorNode))


if __name__ == "__main__":
    main()
