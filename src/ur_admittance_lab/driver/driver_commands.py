"""The motion controllers as nodes: their topics in, their parameters to be read.

Names of topics: `~/joint_trajectory` (joint_trajectory_controller.cpp, on_configure),
`~/commands` (forward_controllers_base.cpp, on_configure). They subscribe when they are configured and drop what comes
while they are inactive. Parameters: ur_controllers.yaml, defaults of joint_trajectory_controller_parameters.yaml.
"""

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile, QoSReliabilityPolicy
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from ur_admittance.errors import UrAdmittanceError
from ur_admittance.robots.ros.polled import Polled
from ur_admittance_lab.driver import driver_messages as messages
from ur_admittance_lab.driver.beside import beside
from ur_admittance_lab.driver.driver import Driver
from ur_admittance_lab.driver.generations import SCALED, TrajectoryRules
from ur_admittance_lab.driver.trajectory_controller import GOAL_TIME, GOAL_TOLERANCE, PATH_TOLERANCE

# The controllers subscribe with the system's default; wanting reliable publishers is stricter. Deep enough that every
# message between two cycles is looked at, as in the controllers' callbacks.
EVERY = QoSProfile(depth=50, reliability=QoSReliabilityPolicy.RELIABLE)


def trajectory_parameters(name: str, rules: TrajectoryRules, joints: tuple[str, ...], rate: float) -> dict[str, Any]:
    found: dict[str, Any] = {
        "joints": list(joints),
        "command_interfaces": ["position"],
        "state_interfaces": ["position", "velocity"],
        "state_publish_rate": 100.0,
        "action_monitor_rate": 20.0,
        "allow_partial_joints_goal": False,
        "allow_nonzero_velocity_at_trajectory_end": rules.end_velocity,
        "allow_integration_in_goal_trajectories": False,
        "interpolation_method": "splines",
        "set_last_command_interface_value_as_state_on_activation": True,
        "cmd_timeout": 0.0,
        "update_rate": round(rate),
        "constraints.stopped_velocity_tolerance": 0.2,
        "constraints.goal_time": GOAL_TIME,
    }
    for joint in joints:
        found[f"constraints.{joint}.trajectory"] = PATH_TOLERANCE
        found[f"constraints.{joint}.goal"] = GOAL_TOLERANCE
    interface = "speed_scaling/speed_scaling_factor"
    if name == SCALED:
        found["speed_scaling_interface_name"] = interface
    elif not rules.end_velocity:  # since Jazzy
        found["interpolate_from_desired_state"] = False
        found["speed_scaling.state_interface"] = interface if rules.scaled else ""
    replaces = rules.replacing != "at once"
    found["allow_trajectory_replacement" if replaces else "open_loop_control"] = replaces  # since and until 6
    return found


class Commands:
    """Everything that tells the arm to move. `take` belongs to the cycle."""

    def __init__(self, driver: Driver, rate: float, now_ns: Callable[[], int]) -> None:
        self.nodes: list[Node] = []
        self._driver, self._now_ns = driver, now_ns
        self._trajectories: dict[str, Polled] = {}
        self._forward: dict[str, Polled] = {}
        joints = driver.controllers.joints
        for name, rules in driver.generation.trajectory.items():
            node = beside(name, trajectory_parameters(name, rules, joints, rate))
            self.nodes.append(node)
            self._trajectories[name] = Polled(node, JointTrajectory, "~/joint_trajectory", EVERY)
        for name in driver.controllers.forward:
            interface = driver.controllers.interface(name)
            node = beside(name, {"joints": list(joints), "interface_name": interface})
            self.nodes.append(node)
            self._forward[name] = Polled(node, Float64MultiArray, "~/commands", EVERY)

    def take(self) -> int:
        """Everything that has come since the last cycle; returns how many messages that are."""
        now_ns, count = self._now_ns(), 0
        for name, polled in self._trajectories.items():
            while (data := polled.take()) is not None:
                count += 1
                try:
                    self._driver.trajectory(name, messages.read_trajectory(data), now_ns)
                except UrAdmittanceError as error:
                    self._driver.refuse(name, str(error))
        for name, polled in self._forward.items():
            while (data := polled.take()) is not None:
                count += 1
                try:
                    self._driver.forward(name, messages.read_numbers(data))
                except UrAdmittanceError as error:
                    self._driver.refuse(name, str(error))
        return count

    def destroy(self) -> None:
        for polled in (*self._trajectories.values(), *self._forward.values()):
            polled.destroy()
