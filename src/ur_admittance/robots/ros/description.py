"""The robot from /robot_description, and the frames that are fixed in it. Polled, never blocking."""

from functools import lru_cache

import numpy as np
from rclpy.node import Node
from std_msgs.msg import String

from ur_admittance.errors import ModelError
from ur_admittance.model import RobotModel
from ur_admittance.model.frames import Pose
from ur_admittance.model.urdf import load
from ur_admittance.model.urdf.tree import read_tree
from ur_admittance.robots.ros.cdr import Malformed, Reader
from ur_admittance.robots.ros.polled import LATCHED, Polled

DESCRIPTION_TOPIC = "robot_description"

Link = tuple[str, str, Pose]  # parent, child, T_parent_child


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
