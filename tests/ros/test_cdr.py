"""Bytes against rclpy's own serialisation, and against anything else that may arrive."""

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("rclpy")

from ur_admittance.robots.ros.cdr import JointStateReader, Malformed, Reader, WrenchReader
from ur_admittance.robots.ros.command_outputs import trajectory
from ur_admittance.robots.ros.prepared import MARKS, Prepared
from ur_admittance_lab.driver.driver_messages import read_numbers, read_trajectory

NAMES = tuple("abcdef")


def serialised(message):
    from rclpy.serialization import serialize_message

    return serialize_message(message)


@pytest.mark.parametrize("frame", ["", "t", "tool0", "a_frame_with_a_long_name", "ü"])
def test_a_wrench_is_read_whatever_the_length_of_its_frame(frame):
    from geometry_msgs.msg import WrenchStamped

    message = WrenchStamped()
    message.header.frame_id = frame
    force, torque = message.wrench.force, message.wrench.torque
    force.x, force.y, force.z, torque.x, torque.y, torque.z = 1.0, 2.0, 3.0, 4.0, 5.0, 6.0
    reader, wrench = WrenchReader(), np.zeros(6)
    reader.read(serialised(message), wrench)
    assert wrench.tolist() == [1, 2, 3, 4, 5, 6]
    assert reader.frame_id == frame


@given(st.permutations(range(6)), st.lists(st.text(max_size=9), max_size=3), st.booleans())
def test_joint_states_are_sorted_by_name_in_any_company(order, others, with_speeds):
    from sensor_msgs.msg import JointState

    others = [f"other_{i}_{''.join(c for c in name if c.isalnum())}" for i, name in enumerate(others)]
    names = [*others, *(NAMES[i] for i in order)]
    angles = [9.0] * len(others) + [float(i) for i in order]
    message = JointState(name=names, position=angles, velocity=[-a for a in angles] if with_speeds else [])
    reader, q, qd = JointStateReader(NAMES), np.zeros(6), np.zeros(6)
    for _ in range(2):  # the second time by what was learned from the first
        assert reader.read(serialised(message), q, qd) == (True, with_speeds)
        assert q.tolist() == [0, 1, 2, 3, 4, 5]
        assert not with_speeds or qd.tolist() == [0, -1, -2, -3, -4, -5]


def test_messages_of_other_joints_are_left_alone_and_cost_no_second_look(monkeypatch):
    from sensor_msgs.msg import JointState

    reader, q, qd = JointStateReader(NAMES), np.full(6, 7.0), np.zeros(6)
    other = serialised(JointState(name=["finger"], position=[1.0]))
    partial = serialised(JointState(name=list(NAMES[:5]), position=[1.0] * 5))
    whole = serialised(JointState(name=list(NAMES), position=[2.0] * 6))
    for data in (other, partial):
        assert reader.read(data, q, qd) == (False, False)
    assert q.tolist() == [7.0] * 6
    assert list(reader.others) == [("finger",), NAMES[:5]]
    assert reader.read(whole, q, qd) == (True, False)
    monkeypatch.setattr(reader, "_learn", None)  # all three kinds are known by now, in any order
    for data in (other, whole, partial, whole):
        assert reader.read(data, q, qd)[0] == (data is whole)
    assert q.tolist() == [2.0] * 6


def test_names_and_positions_must_be_as_many():
    from sensor_msgs.msg import JointState

    with pytest.raises(Malformed, match="6 names and 5 positions"):
        JointStateReader(NAMES).read(
            serialised(JointState(name=list(NAMES), position=[0.0] * 5)), np.zeros(6), np.zeros(6)
        )


def test_a_prepared_trajectory_is_what_rclpy_would_have_sent():
    from rclpy.serialization import deserialize_message
    from trajectory_msgs.msg import JointTrajectory

    message = Prepared(trajectory(NAMES, [(MARKS[:6], MARKS[6:], 7.5)]))
    message.set_time(message.time_at(7_500_000_000), 2_000_000)
    message.doubles(MARKS[:6])[:] = range(6)
    message.doubles(MARKS[6:])[:] = [0.5] * 6
    back = deserialize_message(bytes(message.data), JointTrajectory)
    assert list(back.points[0].positions) == [0, 1, 2, 3, 4, 5]
    assert list(back.points[0].velocities) == [0.5] * 6
    assert back.points[0].time_from_start.nanosec == 2_000_000
    read = read_trajectory(bytes(message.data))
    (point,) = read.points
    assert read.joints == tuple(NAMES)
    assert point.q.tolist() == [0, 1, 2, 3, 4, 5]
    assert point.qd.tolist() == [0.5] * 6
    assert point.time_ns == 2_000_000


def test_speeds_are_read_with_and_without_a_layout():
    from std_msgs.msg import Float64MultiArray, MultiArrayDimension

    plain = Float64MultiArray(data=[1.0] * 6)
    described = Float64MultiArray(data=[1.0] * 6)
    described.layout.dim = [MultiArrayDimension(label="joints", size=6, stride=6)]
    for message in (plain, described):
        assert read_numbers(serialised(message)).tolist() == [1.0] * 6


@given(st.binary(max_size=300))
def test_random_bytes_are_refused_or_read_but_never_break(data):
    readers = (
        lambda: WrenchReader().read(data, np.zeros(6)),
        lambda: JointStateReader(NAMES).read(data, np.zeros(6), np.zeros(6)),
        lambda: Reader(data).strings(),
        lambda: read_numbers(data),
        lambda: read_trajectory(data),
    )
    from ur_admittance.errors import UrAdmittanceError

    for read in readers:
        with contextlib.suppress(UrAdmittanceError):
            read()
