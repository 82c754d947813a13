"""Messages prepared once: serialised, then patched and published as bytes in every cycle."""

import struct
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from geometry_msgs.msg import Twist, TwistStamped, Vector3, Wrench, WrenchStamped
from numpy.typing import ArrayLike, NDArray
from rclpy.node import Node
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Header

from ur_admittance.robots.ros.cdr import HEAD, TIME, Malformed
from ur_admittance.robots.ros.polled import COMMANDS

Array = NDArray[np.float64]

MARKS = tuple(0.7390851332151607 + i for i in range(12))  # numbers that occur nowhere else in a message


class Prepared:
    """Numbers that change are views into the bytes."""

    def __init__(self, message: object) -> None:
        self.data = bytearray(serialize_message(message))

    def doubles(self, marks: Sequence[float]) -> Array:
        """View of the consecutive doubles that had these values when the message was prepared."""
        start = self.data.find(struct.pack(f"<{len(marks)}d", *marks))
        if start < 0:
            raise Malformed("a prepared message does not contain the numbers it was given.")
        return np.frombuffer(self.data, "<f8", len(marks), start)

    def time_at(self, time_ns: int) -> int:
        """Where the time stands that had this value when the message was prepared."""
        start = self.data.find(TIME.pack(*divmod(time_ns, 1_000_000_000)))
        if start < 0:
            raise Malformed("a prepared message does not contain the time it was given.")
        return start

    def set_time(self, start: int, time_ns: int) -> None:
        TIME.pack_into(self.data, start, *divmod(time_ns, 1_000_000_000))


class Stream:
    """A topic of such messages."""

    def __init__(self, node: Node, topic: str, message: Any, *sizes: int, stamp_at: int | None = HEAD) -> None:
        """message: has the first MARKS as its numbers, in groups of these sizes; stamp_at: its place in the bytes, that
        of a header by default, None: there is no stamp."""
        self.publisher = node.create_publisher(type(message), topic, COMMANDS)
        self._node, self._publish = node, self.publisher.handle.publish_raw
        self._message, self._stamp_at = Prepared(message), stamp_at
        groups = zip(accumulate(sizes), sizes, strict=True)
        self._numbers = [self._message.doubles(MARKS[end - size : end]) for end, size in groups]

    def send(self, stamp_ns: int, *numbers: ArrayLike) -> None:
        for view, values in zip(self._numbers, numbers, strict=True):
            view[:] = values
        if self._stamp_at is not None:
            self._message.set_time(self._stamp_at, stamp_ns)
        self._publish(bytes(self._message.data))

    def destroy(self) -> None:
        self._node.destroy_publisher(self.publisher)


def joint_states(node: Node, topic: str, names: Sequence[str]) -> Stream:
    """Of positions and speeds."""
    marked = JointState(name=list(names), position=list(MARKS[:6]), velocity=list(MARKS[6:]), effort=[0.0] * 6)
    return Stream(node, topic, marked, 6, 6)


def wrenches(node: Node, topic: str, frame: str) -> Stream:
    force, torque = _marked_vectors()
    marked = WrenchStamped(header=Header(frame_id=frame), wrench=Wrench(force=force, torque=torque))
    return Stream(node, topic, marked, 6)


def twists(node: Node, topic: str, frame: str) -> Stream:
    linear, angular = _marked_vectors()
    marked = TwistStamped(header=Header(frame_id=frame), twist=Twist(linear=linear, angular=angular))
    return Stream(node, topic, marked, 6)


def _marked_vectors() -> tuple[Vector3, Vector3]:
    x, y, z, rx, ry, rz = MARKS[:6]
    return Vector3(x=x, y=y, z=z), Vector3(x=rx, y=ry, z=rz)
