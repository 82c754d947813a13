"""Messages of the simulated arm: commands from bytes, states as prepared bytes."""

import math
from collections.abc import Sequence

import numpy as np
from geometry_msgs.msg import Vector3, Wrench, WrenchStamped
from numpy.typing import NDArray
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Header

from ur_admittance.errors import RobotError
from ur_admittance.robots.ros.cdr import Malformed, Prepared, Reader
from ur_admittance.robots.ros.outputs import MARKS
from ur_admittance.ros.sim.drive import Point

Array = NDArray[np.float64]

MOST_POINTS = 10_000


def joint_state(names: Sequence[str]) -> tuple[Prepared, Array, Array]:
    """A joint state whose positions and speeds are views."""
    effort = [0.0] * 6
    message = Prepared(JointState(name=list(names), position=list(MARKS[:6]), velocity=list(MARKS[6:]), effort=effort))
    return message, message.doubles(MARKS[:6]), message.doubles(MARKS[6:])


def wrench(frame: str) -> tuple[Prepared, Array]:
    """A stamped wrench whose six numbers are a view."""
    force, torque = Vector3(x=MARKS[0], y=MARKS[1], z=MARKS[2]), Vector3(x=MARKS[3], y=MARKS[4], z=MARKS[5])
    message = Prepared(WrenchStamped(header=Header(frame_id=frame), wrench=Wrench(force=force, torque=torque)))
    return message, message.doubles(MARKS[:6])


def clock() -> Prepared:
    return Prepared(Clock())


def read_trajectory(data: bytes, names: Sequence[str]) -> list[Point]:
    """trajectory_msgs/JointTrajectory with joints in any order; an empty one means stop. Stamps are not used."""
    reader = Reader(data)
    reader.time_ns()
    reader.string()
    given = reader.strings()
    count = reader.uint32()
    if count > MOST_POINTS:
        raise Malformed(f"a trajectory of {count} points: at most {MOST_POINTS} are taken.")
    rows = []
    for _ in range(count):
        q, qd = reader.doubles(), reader.doubles()
        reader.doubles()  # accelerations
        reader.doubles()  # effort
        rows.append((q, qd, 1e-9 * reader.time_ns()))
    return points(given, rows, names)


def points(given: Sequence[str], rows: Sequence[tuple[Array, Array, float]], names: Sequence[str]) -> list[Point]:
    """Points in the order of ``names``; RobotError tells what does not fit."""
    if not rows:
        return []
    if sorted(given) != sorted(names):
        has = ", ".join(given[:12]) or "none"
        raise RobotError(f"trajectory refused: its joints are {has}, must be {', '.join(names)}.")
    order = [list(given).index(name) for name in names]
    taken = []
    for i, (q, qd, time) in enumerate(rows):
        if len(q) != 6 or len(qd) not in (0, 6):
            raise RobotError(f"trajectory refused: point {i} has {len(q)} positions and {len(qd)} velocities.")
        if not (math.isfinite(time) and time >= 0.0):
            raise RobotError(f"trajectory refused: time_from_start of point {i} is {time:g} s.")
        taken.append(Point(time, np.array(q)[order], np.array(qd)[order] if len(qd) else None))
    return taken


def read_speeds(data: bytes) -> Array:
    """std_msgs/Float64MultiArray -> its numbers."""
    reader = Reader(data)
    dimensions = reader.uint32()
    if dimensions > 8:
        raise Malformed(f"an array with {dimensions} dimensions is not a velocity command.")
    for _ in range(dimensions):
        reader.string()
        reader.uint32()
        reader.uint32()
    reader.uint32()
    return reader.doubles()
