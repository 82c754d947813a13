"""Looking for the robot: its description, and the frames that are fixed there, or come on /tf_static and /tf. Polled,
never blocking; whoever waits does so in pauses that grow, and the log says for what.

A small listener, as tf2_ros may be absent. /tf_static is latched, so one message is enough. A frame that nothing else
knows is looked up where it is published. For the pendant's TCP (`tool0_controller` of the UR driver) that is the pose
topic of the driver, of which a look takes one message, the newest. Any other is on /tf, and so is that one where its
topic is silent; there a look reads every message since the last look, and a driver sends 500 per second.
"""

import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from std_msgs.msg import String

from ur_admittance.errors import ModelError, RobotError, UrAdmittanceError
from ur_admittance.model import RobotModel
from ur_admittance.model.frames import Pose, rpy_from_rotation
from ur_admittance.model.urdf import load
from ur_admittance.model.urdf.tree import read_tree
from ur_admittance.params import Parameters
from ur_admittance.robots.ros.cdr import MOST_NAMES, Malformed, Reader
from ur_admittance.robots.ros.polled import ALL_LATCHED, LATCHED, MANY, NEWEST, Polled

DESCRIPTION_TOPIC = "robot_description"
STATIC_TOPIC, MOVING_TOPIC = "/tf_static", "/tf"
POSE_TOPIC = "tcp_pose_broadcaster/pose"  # of the pendant's TCP, as on /tf (pose_broadcaster.cpp; driver 2.5 on)
TCP_FRAME = "_controller"  # the driver's name of that frame is the flange's with this added
FRESH_S = 0.5  # a moving frame that is older is not known any more
SILENT_S = 1.0  # without a pose from a topic that has a publisher: /tf may know it

Link = tuple[str, str, Pose]  # parent, child, T_parent_child
Links = dict[str, dict[str, Pose]]
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0  # [s] between looks for what is missing: doubled each time


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
        """A sentence as long as none has come."""
        self.poll()
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
        return _fixed_frame(self.text, base_link, tip_link, frame)

    def fixed_links(self) -> tuple[Link, ...]:
        """(parent, child, T_parent_child) of every fixed joint."""
        return _fixed_links(self.text)


# Looked up five times per second beside a running loop: a text is read once, which takes 10 ms.
@lru_cache(maxsize=8)
def _fixed_frame(text: str, base_link: str, tip_link: str, frame: str) -> Pose | None:
    try:
        tip, other = load(text, base_link, tip_link), load(text, base_link, frame)
    except ModelError:
        return None
    q = np.zeros(6)
    return Pose(*tip.forward(q)).inverse() @ Pose(*other.forward(q))


@lru_cache(maxsize=2)
def _fixed_links(text: str) -> tuple[Link, ...]:
    try:
        joints = read_tree(text).joint_above.values()
    except ModelError:
        return ()
    return tuple((joint.parent, joint.child, joint.T_parent_child) for joint in joints if joint.kind == "fixed")


class Frames:
    """All that TF has told. Without tf2_msgs it stays empty."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._fixed: Links = {}
        self._moving: dict[str, tuple[str, Pose, float]] = {}  # child -> parent, T_parent_child, when [s]
        self._kind: Any = None
        self._pose_of = ""  # frame whose pose topic is listened to; empty: /tf is
        self._heard = 0.0  # of the pose topic for the last time [s]
        self._static: Polled | None = None
        self._dynamic: Polled | None = None
        try:
            from tf2_msgs.msg import TFMessage
        except ImportError:
            return
        self._kind = TFMessage
        self._static = Polled(node, TFMessage, STATIC_TOPIC, ALL_LATCHED)

    @property
    def available(self) -> bool:
        return self._static is not None

    def listen(self, frame: str) -> None:
        """Subscribe to what moves as well, for the sake of this frame. To be called at each look, as drivers come and
        go."""
        pose_of = frame if frame.endswith(TCP_FRAME) and self._poses_come() else ""
        if self._dynamic is not None and pose_of == self._pose_of:
            return
        if self._dynamic is not None:
            self._dynamic.destroy()
            self._dynamic = None
        self._pose_of = pose_of
        if pose_of:
            self._dynamic = Polled(self._node, PoseStamped, POSE_TOPIC, NEWEST)
        elif self._kind is not None:
            self._dynamic = Polled(self._node, self._kind, MOVING_TOPIC, MANY)

    def _poses_come(self) -> bool:
        """On the pose topic, as far as is known by now. Without tf2_msgs there is no other."""
        topic = self._node.resolve_topic_name(POSE_TOPIC)  # it may be remapped
        published, now = self._node.count_publishers(topic) > 0, time.monotonic()
        if self._dynamic is None or not published:
            self._heard = now
        return self._kind is None or (published and now - self._heard < SILENT_S)

    def poll(self) -> None:
        for polled in (self._static, self._dynamic):
            pose_of = self._pose_of if polled is self._dynamic else ""
            while polled is not None and (data := polled.take()) is not None:
                with contextlib.suppress(UrAdmittanceError):  # among them Malformed
                    for parent, child, pose in read_pose(data, pose_of) if pose_of else read_transforms(data):
                        self._learn(parent, child, pose, polled is self._static)
                        self._heard = time.monotonic() if pose_of else self._heard

    def _learn(self, parent: str, child: str, pose: Pose, fixed: bool) -> None:
        if fixed:
            self._fixed.setdefault(parent, {})[child] = pose
            self._fixed.setdefault(child, {})[parent] = pose.inverse()
        else:
            self._moving[child] = (parent, pose, time.monotonic())

    def add_fixed(self, links: Iterable[Link]) -> None:
        """What a description knows."""
        for parent, child, pose in links:
            self._learn(parent, child, pose, True)

    def fixed(self, start: str, end: str) -> Pose | None:
        """T_start_end along static transforms, or None."""
        return walk(self._fixed, start, end)

    def present(self, start: str, end: str) -> Pose | None:
        """T_start_end along all transforms that are known at this moment, or None."""
        links: Links = {parent: dict(children) for parent, children in self._fixed.items()}
        oldest = time.monotonic() - FRESH_S
        for child, (parent, pose, when) in self._moving.items():
            if when >= oldest:
                links.setdefault(parent, {})[child] = pose
                links.setdefault(child, {})[parent] = pose.inverse()
        return walk(links, start, end)


def walk(links: Links, start: str, end: str) -> Pose | None:
    """T_start_end along the fewest links."""
    waiting: deque[tuple[str, Pose]] = deque([(start, Pose())])
    seen = {start}
    while waiting:
        frame, T_start_frame = waiting.popleft()
        if frame == end:
            return T_start_frame
        for other, T_frame_other in links.get(frame, {}).items():
            if other not in seen:
                seen.add(other)
                waiting.append((other, T_start_frame @ T_frame_other))
    return None


def read_transforms(data: bytes) -> list[Link]:
    """(parent, child, T_parent_child) of a tf2_msgs/TFMessage; what is not a pose is left out."""
    reader = Reader(data)
    count = reader.uint32()
    if count > MOST_NAMES:
        raise Malformed(f"{count} transforms in one message: at most {MOST_NAMES} are believed.")
    found = []
    for _ in range(count):
        reader.time_ns()
        parent, child = reader.string().lstrip("/"), reader.string().lstrip("/")
        numbers = reader.doubles(7)
        pose = pose_from_quaternion(numbers[:3], numbers[3:])
        if pose is not None:
            found.append((parent, child, pose))
    return found


def read_pose(data: bytes, child: str) -> list[Link]:
    """The same of a geometry_msgs/PoseStamped, which does not name its child."""
    reader = Reader(data)
    reader.time_ns()
    parent, numbers = reader.string().lstrip("/"), reader.doubles(7)
    pose = pose_from_quaternion(numbers[:3], numbers[3:])
    return [] if pose is None else [(parent, child, pose)]


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
