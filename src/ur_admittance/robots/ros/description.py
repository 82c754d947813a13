"""The robot from /robot_description, and fixed frames from it or from /tf_static. Polled, never blocking.

TF: the frames between flange, sensor and TCP do not move, so the static tree is all that is needed. It is latched, so
one message is enough; it is kept (a cache), and looking a frame up is a walk through a dictionary.
"""

from collections import deque
from typing import Any

import numpy as np
from rclpy.node import Node
from std_msgs.msg import String

from ur_admittance.errors import ModelError, UrAdmittanceError
from ur_admittance.model import RobotModel
from ur_admittance.model.frames import Pose
from ur_admittance.model.urdf import load
from ur_admittance.robots.ros.cdr import MOST_NAMES, Malformed, Reader
from ur_admittance.robots.ros.polled import ALL_LATCHED, LATCHED, Polled

DESCRIPTION_TOPIC = "/robot_description"
STATIC_TOPIC = "/tf_static"


class Description:
    """The newest robot_description as text; `changed` tells that it is not the one that is in use."""

    def __init__(self, node: Node) -> None:
        self._polled = Polled(node, String, DESCRIPTION_TOPIC, LATCHED)
        self.text = ""
        self.used = ""

    def poll(self) -> None:
        data = self._polled.take()
        if data is not None:
            try:
                self.text = Reader(data).string()
            except Malformed as error:
                self.text = f"({error})"  # not a URDF: the loader will say so

    @property
    def changed(self) -> bool:
        return bool(self.used) and self.text != self.used

    def missing(self) -> str:
        if self.text:
            return ""
        return f"waiting for the robot's description on {self._polled.topic} ({self._polled.publishers()})"

    def model(self, base_link: str, tip_link: str) -> RobotModel:
        """Raises ModelError with the sentence."""
        found = load(self.text, base_link, tip_link)
        self.used = self.text
        return found

    def fixed_frame(self, base_link: str, tip_link: str, frame: str) -> Pose | None:
        """T_tip_frame when the description has that frame fixed to the tip, else None."""
        try:
            tip, other = load(self.text, base_link, tip_link), load(self.text, base_link, frame)
        except ModelError:
            return None
        q = np.zeros(6)
        return Pose(*tip.forward(q)).inverse() @ Pose(*other.forward(q))


class StaticFrames:
    """Everything that /tf_static has told. Without tf2_msgs it stays empty."""

    def __init__(self, node: Node) -> None:
        self.links: dict[str, dict[str, Pose]] = {}
        try:
            from tf2_msgs.msg import TFMessage
        except ImportError:
            self._polled = None
        else:
            self._polled = Polled(node, TFMessage, STATIC_TOPIC, ALL_LATCHED)

    def poll(self) -> None:
        while self._polled is not None:
            data = self._polled.take()
            if data is None:
                return
            try:
                self._add(Reader(data))
            except (Malformed, UrAdmittanceError):
                continue

    def _add(self, reader: Reader) -> None:
        count = reader.uint32()
        if count > MOST_NAMES:
            raise Malformed(f"{count} transforms in one message: at most {MOST_NAMES} are believed.")
        for _ in range(count):
            reader.time_ns()
            parent, child = reader.string().lstrip("/"), reader.string().lstrip("/")
            numbers = reader.doubles(7)
            pose = pose_from_quaternion(numbers[:3], numbers[3:])
            if pose is not None:
                self.links.setdefault(parent, {})[child] = pose
                self.links.setdefault(child, {})[parent] = pose.inverse()

    def between(self, start: str, end: str) -> Pose | None:
        """T_start_end along static transforms, or None."""
        waiting: deque[tuple[str, Pose]] = deque([(start, Pose())])
        seen = {start}
        while waiting:
            frame, T_start_frame = waiting.popleft()
            if frame == end:
                return T_start_frame
            for other, T_frame_other in self.links.get(frame, {}).items():
                if other not in seen:
                    seen.add(other)
                    waiting.append((other, T_start_frame @ T_frame_other))
        return None

    @property
    def available(self) -> bool:
        return self._polled is not None


def pose_from_quaternion(position: Any, quaternion: Any) -> Pose | None:
    """Pose of x y z and a quaternion x y z w; None when the numbers are not a pose."""
    p, quat = np.array(position, dtype=float), np.array(quaternion, dtype=float)
    if not (np.isfinite(p).all() and (np.abs(quat) < 1.1).all()):
        return None
    length = float(np.linalg.norm(quat))
    if abs(length - 1.0) > 0.01:
        return None
    x, y, z, w = quat / length
    R = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    return Pose(R, p)
