"""Six numbers with a header, published as prepared bytes: what the wrench nodes send."""

from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from numpy.typing import NDArray
from rclpy.node import Node

from ur_admittance.robots.ros.polled import COMMANDS
from ur_admittance.ros.sim import messages


class WrenchStream:
    """A WrenchStamped topic."""

    def __init__(self, node: Node, topic: str, frame: str) -> None:
        self._publisher = node.create_publisher(WrenchStamped, topic, COMMANDS)
        self._message, self._numbers = messages.wrench(frame)

    def send(self, stamp_ns: int, wrench: NDArray[np.float64] | Any) -> None:
        self._numbers[:] = wrench
        self._message.set_stamp(stamp_ns)
        self._publisher.handle.publish_raw(bytes(self._message.data))
