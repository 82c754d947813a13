"""Messages of the double: commands from bytes, states as prepared bytes."""

from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped, Quaternion, Transform, TransformStamped, Vector3
from numpy.typing import NDArray
from rclpy.node import Node
from std_msgs.msg import Header

from ur_admittance.robots.ros.cdr import HEAD, Malformed, Reader
from ur_admittance.robots.ros.prepared import MARKS, Stream
from ur_admittance_lab.driver.trajectory import Message, Point

Array = NDArray[np.float64]

MOST_POINTS = 10_000


def transforms(node: Node, kind: Any, parent: str, child: str) -> Stream:
    """tf2_msgs/TFMessage on /tf with one transform: x y z, and x y z w."""
    moved = Vector3(x=MARKS[0], y=MARKS[1], z=MARKS[2])
    turned = Quaternion(x=MARKS[3], y=MARKS[4], z=MARKS[5], w=MARKS[6])
    stamped = TransformStamped(
        header=Header(frame_id=parent),
        child_frame_id=child,
        transform=Transform(translation=moved, rotation=turned),
    )
    return Stream(node, "/tf", kind(transforms=[stamped]), 3, 4, stamp_at=HEAD + 4)  # behind their number


def poses(node: Node, topic: str, frame: str) -> Stream:
    """Stamped, of position and quaternion."""
    marked = PoseStamped(header=Header(frame_id=frame))
    position, turned = marked.pose.position, marked.pose.orientation
    position.x, position.y, position.z, turned.x, turned.y, turned.z, turned.w = MARKS[:7]
    return Stream(node, topic, marked, 3, 4)


def read_trajectory(data: bytes) -> Message:
    """trajectory_msgs/JointTrajectory."""
    reader = Reader(data)
    stamp_ns = reader.time_ns()
    reader.string()
    joints = tuple(reader.strings())
    count = reader.uint32()
    if count > MOST_POINTS:
        raise Malformed(f"a trajectory of {count} points: at most {MOST_POINTS} are taken.")
    points = []
    for _ in range(count):
        q, qd, qdd, effort = (reader.doubles() for _ in range(4))
        points.append(Point(q, qd, qdd, effort, reader.time_ns()))
    return Message(joints, tuple(points), stamp_ns)


def read_numbers(data: bytes) -> Array:
    """std_msgs/Float64MultiArray -> its numbers."""
    reader = Reader(data)
    dimensions = reader.uint32()
    if dimensions > 8:
        raise Malformed(f"an array with {dimensions} dimensions is not a command.")
    for _ in range(dimensions):
        reader.string()
        reader.uint32()
        reader.uint32()
    reader.uint32()
    return reader.doubles()
