"""Waiting for the robot: its description, and the frame of the TCP. Pauses grow, and the log says for what."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from ur_admittance.errors import ModelError, RobotError
from ur_admittance.model import RobotModel
from ur_admittance.model.frames import Pose, rpy_from_rotation
from ur_admittance.params import Parameters
from ur_admittance.robots.ros.known_frames import Description, Frames

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0  # [s] between looks for what is missing: doubled each time


class RobotSearch:
    """Everything is polled, so that waiting needs no executor. ``node.told_to_end`` ends it early."""

    def __init__(self, node: Any, timeout: float) -> None:
        self._node, self._timeout = node, timeout
        self.description, self.frames = Description(node), Frames(node)

    def wait_until(self, missing: Callable[[], str]) -> None:
        """Look again and again until ``missing`` says nothing; RobotError with what is missing after the timeout."""
        end = time.monotonic() + self._timeout
        pause, said = FIRST_PAUSE, ""
        while sentence := missing():
            if time.monotonic() >= end or self._node.told_to_end.is_set():
                raise RobotError(f"still {sentence}")
            if sentence != said:
                self._node.get_logger().info(sentence)
                said = sentence
            self._node.told_to_end.wait(min(pause, max(0.0, end - time.monotonic())))
            pause = min(2.0 * pause, LONGEST_PAUSE)

    def changed(self) -> bool:
        """Whether another description has come since the model was made."""
        self.description.poll()
        return self.description.changed

    def model(self, base_link: str, tip_link: str, joints: Sequence[str] = ()) -> RobotModel:
        """Wait for the description: the arm between two links of it; joints: must be its six, empty: not checked."""
        self.wait_until(self.description.missing)
        model = self.description.model(base_link, tip_link)
        if joints and set(joints) != set(model.joint_names):
            absent = [name for name in joints if name not in model.joint_names]
            has = ", ".join(model.joint_names)
            raise ModelError(f"joint {absent[0]} (parameter joints) is not in robot_description, which has {has}.")
        return model

    def tcp(self, p: Parameters, frame: str) -> dict[str, Any]:
        """Change of tool.tcp that the frame asks for, of the description or else of TF. Waits for it."""
        found: list[Pose] = []

        def missing() -> str:
            self.frames.poll()
            pose = self.description.fixed_frame(p.base_link, p.tip_link, frame) or self.frames.fixed(p.tip_link, frame)
            if pose is not None:
                found.append(pose)
                return ""
            where = "on /tf_static" if self.frames.available else "on /tf_static (tf2_msgs is not installed)"
            return f"waiting for frame {frame} (tcp_frame): neither in robot_description nor {where}"

        self.wait_until(missing)
        pose = found[0]
        return {"tool.tcp": [*pose.position.tolist(), *rpy_from_rotation(pose.rotation).tolist()]}
