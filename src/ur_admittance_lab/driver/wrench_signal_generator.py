"""wrench_signal_generator: plays a force sensor, for tests without one.

Publishes /wrist_ft_sensor (remap as needed) with the signal of the parameters `signal`, `wrench`, ... (base axes by
default: turned into sensor axes with the measured posture), plus the weight of a tool if one is given.
"""

import sys
import time
from typing import Any

import numpy as np

from ur_admittance.errors import ParameterError
from ur_admittance.model.frames import rotation_from_rpy
from ur_admittance.robots.ros.inputs import WRENCH_TOPIC
from ur_admittance.robots.ros.prepared import wrenches
from ur_admittance.ros.arm_node import ArmNode
from ur_admittance.ros.node_run import run
from ur_admittance.ros.parameters import Option
from ur_admittance.runtime.clock import RealTimeClock
from ur_admittance_lab.driver import wrench_signals as signals

OPTIONS: dict[str, Option] = {
    "signal": ("constant", "constant, step, ramp, sine, chirp or noise"),
    "wrench": ([5.0, 0.0, 0.0, 0.0, 0.0, 0.0], "amplitude [N, Nm]"),
    "axes": ("base", "axes of the wrench: base or sensor"),
    "start": (0.0, "of step and ramp [s]"),
    "duration": (2.0, "of step, ramp and chirp [s]"),
    "frequency_hz": (0.5, "of the sine, and the first one of the chirp"),
    "to_hz": (5.0, "last frequency of the chirp"),
    "seed": (0, "of the noise"),
    "frame": ("tool0", "frame_id"),
}


def signal_of(option: Any) -> signals.Signal:
    """The signal that the options describe."""
    kind, wrench = option("signal"), option("wrench")
    if kind == "constant":
        return signals.constant(wrench)
    if kind == "step":
        return signals.step(wrench, option("start"), option("start") + option("duration"))
    if kind == "ramp":
        return signals.ramp(wrench, option("duration"), option("start"))
    if kind == "sine":
        return signals.sine(wrench, option("frequency_hz"))
    if kind == "chirp":
        return signals.chirp(wrench, option("frequency_hz"), option("to_hz"), option("duration"))
    if kind == "noise":
        return signals.noise(wrench, option("seed"))
    raise ParameterError(f"signal = {kind!r}: must be constant, step, ramp, sine, chirp or noise.", "signal")


class WrenchSignalGenerator(ArmNode):
    """The tool's weight comes from tool.mass and tool.center_of_mass, the mounting from sensor.rotation."""

    def __init__(self) -> None:
        super().__init__("wrench_signal_generator", OPTIONS)
        if self.option("axes") not in ("base", "sensor"):
            raise ParameterError(f"axes = {self.option('axes')!r}: must be base or sensor.", "axes")
        self._signal = signal_of(self.option)
        self._stream = wrenches(self, WRENCH_TOPIC, self.option("frame"))

    def work(self) -> int:
        p = self.parameters
        in_base = self.option("axes") == "base"
        robot = None
        if in_base or p.tool.mass > 0.0:  # only then the posture matters
            robot = self.robot(None)
            robot.connect()
        R_flange_sensor, R_base_sensor = rotation_from_rpy(p.sensor.rotation), np.eye(3)
        weight, com = p.tool.mass * np.array(p.gravity), np.array(p.tool.center_of_mass)
        clock = RealTimeClock(p.control_rate, spin_ns=0)
        clock.start()
        begin = time.monotonic()
        while not self.told_to_end.is_set():
            clock.wait()
            stamp = time.time_ns()
            if robot is not None and robot.inputs is not None:
                robot.inputs.poll()
                stamp = robot.inputs.stamp_ns()
                R_base_sensor = robot.model.forward(robot.inputs.q)[0] @ R_flange_sensor
            wrench = self._signal(time.monotonic() - begin)
            if in_base:
                wrench = np.concatenate([R_base_sensor.T @ wrench[:3], R_base_sensor.T @ wrench[3:]])
            force = R_base_sensor.T @ weight
            wrench = wrench + np.concatenate([force, np.cross(com, force)])
            self._stream.send(stamp, p.sensor.sign * (wrench + np.array(p.sensor.bias)))
        if robot is not None:
            robot.close()
        return 0


def main() -> None:
    sys.exit(run(WrenchSignalGenerator))


if __name__ == "__main__":
    main()
