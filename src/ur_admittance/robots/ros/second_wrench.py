"""The wrench of a second force sensor: another topic, taken in the same loop."""

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node

from ur_admittance.core.views import SampleFields
from ur_admittance.errors import RobotError
from ur_admittance.robots.ros.cdr import Malformed, WrenchReader
from ur_admittance.robots.ros.polled import Polled


class SecondWrench:
    def __init__(self, node: Node, topic: str) -> None:
        self.polled = Polled(node, WrenchStamped, topic)
        self.wrench = np.zeros(6)
        self.count = 0  # taken since the start
        self.taken_ns = 0
        self._reader, self._frame = WrenchReader(), ""
        self._in = np.zeros(6)

    def take(self, now_ns: int) -> int:
        """What has arrived; returns how many messages were not what they should be. One in another frame than the
        first one is not taken: for it second.rotation and second.position do not hold."""
        data = self.polled.take()
        self.taken_ns = min(self.taken_ns, now_ns)  # simulated time may go back
        if data is None:
            return 0
        try:
            self._reader.read(data, self._in)
        except Malformed:
            return 1
        self._frame = self._frame or self._reader.frame_id
        if self._reader.frame_id == self._frame:
            self.wrench[:] = self._in
            self.taken_ns = now_ns
            self.count += 1
        return 0

    def fill(self, fields: SampleFields, now_ns: int) -> None:
        fields.second_wrench[:] = self.wrench
        fields.second_age[0] = 1e-9 * (now_ns - self.taken_ns)
        fields.second_read[0] = 1


def second_topic(source: str) -> str | None:
    """Where to listen for second.source; None: there is no second sensor."""
    if source and not source.startswith("/"):
        raise RobotError(f"second.source = {source}: here wrenches come from topics; name one, such as /netft/raw.")
    return source or None
