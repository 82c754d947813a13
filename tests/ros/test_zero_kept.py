"""A zero that auto_zero has found stays when a ROS parameter changes."""

from types import SimpleNamespace

import numpy as np
import pytest

from ur_admittance.control import AdmittanceController
from ur_admittance.model import robot_model

rclpy = pytest.importorskip("rclpy")

FOUND = (0.4, -0.3, 0.2, 0.01, 0.02, -0.01)


@pytest.mark.parametrize("which", ["wrench_node", "admittance_node"])
def test_the_next_change_of_a_parameter_does_not_bring_the_old_zero_back(which):
    from rclpy.parameter import Parameter

    from ur_admittance.ros.admittance_node import AdmittanceNode
    from ur_admittance.ros.wrench_node import WrenchNode

    kind = AdmittanceNode if which == "admittance_node" else WrenchNode
    rclpy.init(args=[])
    node = kind()
    try:
        controller = AdmittanceController(robot_model("ur5e"), node.parameters)
        if kind is AdmittanceNode:
            node.arm = SimpleNamespace(controller=controller, set_duration=lambda duration: None)
        else:
            node.controller = controller
        controller.set_parameters({"sensor.bias": list(FOUND)})  # as auto_zero does, in the loop
        result = node.set_parameters([Parameter("max_linear_velocity", value=0.2)])[0]
        assert result.successful, result.reason
        assert controller.parameters.max_linear_velocity == 0.2
        assert controller.parameters.sensor.bias == pytest.approx(FOUND)
        assert np.array(node.get_parameter("sensor.bias").value) == pytest.approx(FOUND)
    finally:
        node.arm = None
        node.destroy_node()
        rclpy.try_shutdown()
