"""Velocity and pose error on their topics: the numbers of the command record, with frame and time."""

import numpy as np
import pytest

from ur_admittance.control import AdmittanceController
from ur_admittance.core.views import vector
from ur_admittance.model import robot_model
from ur_admittance.runtime.interfaces import LOOP

rclpy = pytest.importorskip("rclpy")


def test_velocity_and_pose_error_are_those_of_the_command_in_every_nth_cycle(client):
    from geometry_msgs.msg import TwistStamped

    from ur_admittance.ros.node_topics import Monitor

    controller = AdmittanceController(robot_model("ur5e"))
    heard = {
        "twist": client.listen(TwistStamped, "/admittance_cartesian_velocity"),
        "pose_error": client.listen(TwistStamped, "/admittance_pose_error"),
    }
    monitor = Monitor(client.node, controller, 10)
    loop = np.zeros(1, LOOP)
    loop["time_ns"] = 5_000_000_007
    client.until(lambda: client.node.count_subscribers("/admittance_pose_error") > 0, 10, "a listener")
    for cycle in range(1, 41):
        for field, first in (("twist", 0.1), ("pose_error", -0.01)):
            vector(controller.command, field)[:] = first * cycle * np.arange(1, 7)
        monitor.publish(controller, loop)
    client.until(lambda: all(len(messages) == 4 for messages in heard.values()), 10, "four of forty")
    monitor.destroy()
    for field, first in (("twist", 0.1), ("pose_error", -0.01)):
        message = heard[field][-1][1]
        assert message.header.frame_id == "base_link"
        assert (message.header.stamp.sec, message.header.stamp.nanosec) == (5, 7)
        linear, angular = message.twist.linear, message.twist.angular
        numbers = [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z]
        assert numbers == pytest.approx((first * 40 * np.arange(1, 7)).tolist()), field
