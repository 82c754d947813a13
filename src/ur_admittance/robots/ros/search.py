"""Waiting for the robot: its description, and the frames of sensor and TCP. Pauses grow, and the log says for what."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from ur_admittance.errors import ModelError, RobotError
from ur_admittance.model import RobotModel
from ur_admittance.model.frames import Pose, rpy_from_rotation
from ur_admittance.params import Parameters
from ur_admittance.robots.ros.description import Description
from ur_admittance.robots.ros.inputs import Inputs
from ur_admittance.robots.ros.sensor_place import Place, SensorPlace, believed, must_stand
from ur_admittance.robots.ros.transforms import Frames

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0  # [s] between looks for what is missing: doubled each time


class RobotSearch:
    """Everything is polled, so that waiting needs no executor. ``node.told_to_end`` ends it early."""

    def __init__(self, node: Any, timeout: float) -> None:
        self._node, self._timeout = node, timeout
        self._description, self._frames = Description(node), Frames(node)
        self.places = SensorPlace(node, self._description, self._frames)

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

    def missing_description(self) -> str:
        self._description.poll()
        return self._description.missing()

    def changed(self) -> bool:
        """Whether another description has come since the model was made."""
        self._description.poll()
        return self._description.changed

    def model(self, base_link: str, tip_link: str, joints: Sequence[str] = ()) -> RobotModel:
        """The arm between two links of the description; joints: must be its six, empty: not checked."""
        model = self._description.model(base_link, tip_link)
        if joints and set(joints) != set(model.joint_names):
            absent = [name for name in joints if name not in model.joint_names]
            has = ", ".join(model.joint_names)
            raise ModelError(f"joint {absent[0]} (parameter joints) is not in robot_description, which has {has}.")
        return model

    def sensor_place(self, p: Parameters, inputs: Inputs, model: RobotModel) -> Place:
        """Wait for the frame in which the wrench is given. RobotError: it stays unknown, or in doubt."""
        found: list[Place] = []
        self.places.forget_driver()

        def missing() -> str:
            inputs.poll()
            place = self.places.find(p, inputs, model)
            if place is None:
                return self.places.unknown(p, inputs)
            found.append(place)
            return ""

        self.wait_until(missing)
        if found[-1].moving:
            must_stand(inputs)
        return believed(found[-1])

    def tcp(self, p: Parameters, tcp_frame: str) -> dict[str, Any]:
        """Change of tool.tcp that the frame asks for."""
        pose = self._wait_for(p, tcp_frame, "tcp_frame")
        return {"tool.tcp": [*pose.position.tolist(), *rpy_from_rotation(pose.rotation).tolist()]}

    def _wait_for(self, p: Parameters, frame: str, parameter: str) -> Pose:
        found: list[Pose] = []

        def missing() -> str:
            self._frames.poll()
            pose = self._look_up(p, frame)
            if pose is not None:
                found.append(pose)
                return ""
            where = "on /tf_static" if self._frames.available else "on /tf_static (tf2_msgs is not installed)"
            return f"waiting for frame {frame} ({parameter}): neither in robot_description nor {where}"

        self.wait_until(missing)
        return found[0]

    def _look_up(self, p: Parameters, frame: str) -> Pose | None:
        """T_flange_frame from the description, else from TF."""
        pose = self._description.fixed_frame(p.base_link, p.tip_link, frame)
        return self._frames.fixed(p.tip_link, frame) if pose is None else pose
