"""init_robot: moves the arm to a named or given configuration, smoothly, and ends.

ros2 run ur_admittance_ros init_robot --ros-args -p configuration:=home
ros2 run ur_admittance_ros init_robot --ros-args -p goal:="[0.0, -1.57, 1.57, -1.57, -1.57, 0.0]"
"""

import sys

import numpy as np

from ur_admittance.errors import ParameterError
from ur_admittance.model.arm_model import HOME
from ur_admittance.ros.arm_node import ArmNode
from ur_admittance.ros.node_run import run
from ur_admittance.ros.parameters import COMMANDING, Option

CONFIGURATIONS = {
    "home": HOME,  # the tool points down in front of the arm
    "up": (0.0, -np.pi / 2, 0.0, -np.pi / 2, 0.0, 0.0),  # stretched upwards
    "forward": (0.0, -2.0, 2.0, -np.pi, -np.pi / 2, 0.0),  # the tool points forward
}

OPTIONS: dict[str, Option] = {
    "configuration": ("home", f"one of {', '.join(CONFIGURATIONS)}; not used when goal is given"),
    "goal": ([float("nan")] * 6, "joint angles [rad], in the order of the parameter joints"),
    **COMMANDING,
}


class InitRobot(ArmNode):
    """Straight in joint space; a quintic in time, at most half a radian per second."""

    must_finish = True

    def __init__(self) -> None:
        super().__init__("init_robot", OPTIONS)
        given = np.array(self.option("goal"), dtype=float)
        name = self.option("configuration")
        if given.shape != (6,):
            raise ParameterError(f"goal has {given.size} numbers, must have 6 [rad].", "goal")
        if np.isfinite(given).all():
            self.goal = given
        elif name in CONFIGURATIONS:
            self.goal = np.array(CONFIGURATIONS[name])
        else:
            raise ParameterError(
                f"configuration = {name!r}: must be one of {', '.join(CONFIGURATIONS)}.", "configuration"
            )

    def work(self) -> int:
        with self.calm_arm(None) as arm:
            model = arm.model
            names = list(self.parameters.joints)
            goal = np.array([self.goal[names.index(name)] for name in model.joint_names])
            for joint, angle, lower, upper in zip(model.joint_names, goal, model.lower, model.upper, strict=True):
                if not lower <= angle <= upper:
                    raise ParameterError(f"{joint} = {angle:.3f} rad: must be {lower:.3f} to {upper:.3f}.", "goal")
            arm.cycle()
            self.get_logger().info(f"moving to {np.round(goal, 3).tolist()} rad")
            arm.move(goal)
            arm.record(1.0)  # a velocity output settles by CalmArm's correction of 1 1/s
            error = float(np.abs(arm.sample["q"] - goal).max())
            self.get_logger().info(f"there, within {1e3 * error:.1f} mrad")
        return 0


def main() -> None:
    sys.exit(run(InitRobot))


if __name__ == "__main__":
    main()
