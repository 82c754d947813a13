"""The frames in which references are taken: those that are meant, and no others."""

import contextlib

import pytest

pytest.importorskip("rclpy")

from ur_admittance.params import Parameters

TURNED = [0.0, 0.0, 0.1, 0.0, 0.0, 1.5]


@pytest.mark.parametrize(
    ("changes", "tcp_frame", "name"),
    [
        ({}, "", "base_link"),
        ({"base_link": "arm_base_link"}, "probe", "arm_base_link"),
        ({"control_frame": "tcp"}, "", "tool0"),
        ({"control_frame": "tcp", "tool.tcp": TURNED}, "", ""),  # the axes of the flange are not those of the TCP
        ({"control_frame": "tcp", "tool.tcp": TURNED}, "probe", "probe"),
        ({"control_frame": "task"}, "probe", ""),
        ({"control_frame": "normal"}, "probe", ""),
    ],
)
def test_a_wanted_wrench_is_taken_in_the_frame_of_the_control_axes_alone(changes, tcp_frame, name):
    from geometry_msgs.msg import WrenchStamped
    from rclpy.serialization import serialize_message

    from ur_admittance.robots.ros.cdr import Malformed
    from ur_admittance.ros.node_topics import References

    references, taken = object.__new__(References), []
    references._tcp_frame = tcp_frame
    controller = type("Taking", (), {"set_reference_wrench": lambda _, wrench: taken.append(wrench.tolist())})()
    controller.parameters = Parameters().changed(changes)
    for frame in {"", name, "base_link", "arm_base_link", "tool0", "probe", "camera_link"}:
        message = WrenchStamped()
        message.header.frame_id, message.wrench.force.z = frame, 5.0
        taken.clear()
        with contextlib.suppress(Malformed):
            references._wrench(controller, serialize_message(message))
        assert bool(taken) == (frame in ("", name))
