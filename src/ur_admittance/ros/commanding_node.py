"""What init_robot and the calibration share: an arm that is driven calmly, by the only publisher of commands."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ur_admittance.calibration.arm import CalmArm
from ur_admittance.errors import LifecycleError, ParameterError, RobotError
from ur_admittance.robots.ros.outputs import TopicOutput, TrajectoryOutput, VelocityOutput
from ur_admittance.robots.ros.robot import RosArm
from ur_admittance.ros.reader_node import ReaderNode

MATCH_S = 3.0
PATIENCE_S = 20.0
STOP_CYCLES = 20
VELOCITY_GAIN = 4.0  # [1/s]

COMMANDING: dict[str, tuple[Any, str]] = {
    "output": ("trajectory", "where commands go: trajectory or velocity (topics)"),
}


class _Paced:
    """RosArm as the calm arm wants it: read polls too, and a velocity output is led back onto the positions."""

    def __init__(self, arm: RosArm, gain: float) -> None:
        """gain: speed per position error [1/s], 0 for an output of positions."""
        self.arm, self._gain = arm, gain
        self._q, self._qd = np.zeros(6), np.zeros(6)

    def read(self, sample: Any) -> None:
        self.arm.poll()
        self.arm.read(sample)

    def write(self, command: Any) -> Any:
        if self._gain:
            self.arm.posture(self._q, self._qd)
            command["qd"] += self._gain * (command["q"] - self._q)
        return self.arm.write(command)


class CommandingNode(ReaderNode):
    """A node that drives the arm itself, for a while."""

    @contextmanager
    def calm_arm(self, wrench_topic: str | None, commanding: bool = True) -> Iterator[CalmArm | None]:
        """The arm, ready to move; leaving the block commands standstill. None: told to end.
        commanding False: somebody else moves it, here it is only read."""
        opened = self.open_arm(wrench_topic, PATIENCE_S)
        if opened is None:
            yield None
            return
        model, arm = opened
        if not commanding:
            try:
                yield CalmArm(_Paced(arm, 0.0), model, arm.period_ns * 1e-9, arm.wait, commanding=False)
            finally:
                arm.destroy()
            return
        kind = self.option("output")
        if kind not in ("trajectory", "velocity"):
            raise ParameterError(f"output = {kind!r}: must be trajectory or velocity.", "output")
        names, duration = model.joint_names, self.parameters.trajectory_duration
        output: TopicOutput = VelocityOutput(self) if kind == "velocity" else TrajectoryOutput(self, names, duration)
        others = output.others()
        if others:
            raise LifecycleError(
                f"{', '.join(sorted(others))} also publishes on {output.topic}: an arm has one commander; "
                "deactivate it first."
            )
        output.open()
        arm.output = output
        try:
            for _ in range(int(MATCH_S / 0.05)):
                if output.listeners() or self.told_to_end.wait(0.05):
                    break
            else:
                raise RobotError(output.nobody())
            arm.begin()

            def wait() -> None:
                if self.told_to_end.is_set():
                    raise RobotError("interrupted.")
                arm.wait()

            yield CalmArm(_Paced(arm, VELOCITY_GAIN if kind == "velocity" else 0.0), model, arm.period_ns * 1e-9, wait)
        finally:
            self._stand_still(arm, output)
            arm.destroy()

    def _stand_still(self, arm: RosArm, output: TopicOutput) -> None:
        """The last command is where the arm is, with no speed."""
        q, qd = np.zeros(6), np.zeros(6)
        for _ in range(STOP_CYCLES):
            arm.wait()
            arm.poll()
            arm.posture(q, qd)
            output.send(q, np.zeros(6))
        output.close()
