"""What differs between the versions of UR's driver and of the controllers beside it, as one table.

    driver        Universal_Robots_ROS2_Driver: ur_robot_driver, ur_controllers
    controllers   ros2_controllers: joint_trajectory_controller, forward_command_controller, velocity_controllers

| rule | source |
|---|---|
| end_velocity | joint_trajectory_controller_parameters.yaml, default of allow_nonzero_velocity_at_trajectory_end: true in 2.54.0, false from 4.0 on; ur_controllers.yaml does not set it |
| sampling, joint_trajectory_controller | joint_trajectory_controller.cpp, update(): at `time` in 2.54.0; at `traj_time_ + update_period_` in 4.42.1 and 6.9.0 |
| sampling, scaled | scaled_joint_trajectory_controller.cpp, update(): at `traj_time` in driver 2.12.0; ahead in 2.14.0, where the first call of sample() is already the one ahead and so sets the start; as Jazzy's in 3.8.0 |
| scaled | which of them reads the speed scaling: ur_controllers.yaml, speed_scaling_interface_name (scaled) and speed_scaling.state_interface (6.0.0) |
| replacing | joint_trajectory_controller.cpp, update(): a message takes the place of the old one at once (2.54.0, 4.42.1); one with a time ahead is deferred, and only the last of those is kept (6.8.0, 6.9.0, allow_trajectory_replacement is true by default); blend_with_active_trajectory() on the master branch after 6.9.0 |
| wrench_frame | ur_controllers.yaml, force_torque_sensor_broadcaster.frame_id: tool0 in 2.12.0, tool0_controller from 2.13.0, 3.8.0, 4.6.0, 5.0.0 on. The numbers are about the pendant's TCP in its axes in all of them: hardware_interface.cpp, transformForceTorque() |
| controllers | ur_controllers.yaml and ur_control.launch.py (controllers_inactive, initial_joint_controller) |
| joint_order | joint_state_broadcaster.cpp, init_joint_data(): order of a hash map in 2.54.0, of a sorted map of the description's joints in 4.42.1 |
| takes_nan | forward_controllers_base.cpp, on_configure(): any message in 2.54.0, only finite ones in 4.42.1 and 6.9.0 |
| stops_failing | controller_manager.cpp, update(): a controller that returns ERROR is deactivated in ros2_control 4.46.0 and 6.8.0, carries on in 2.54.0 |
"""  # noqa: E501

from dataclasses import dataclass, replace
from typing import Literal

from ur_admittance.errors import ParameterError

# `now`: at the time of the update. `ahead`: one period later. `ahead_late`: the same, but a trajectory without a stamp
# also starts one period later.
Sampling = Literal["now", "ahead", "ahead_late"]

Replacing = Literal["at once", "deferred", "blended"]
REPLACEMENT = {  # description of the parameter allow_trajectory_replacement
    "deferred": "If true (default), a trajectory whose header.stamp lies in the future is deferred",
    "blended": "When a new trajectory arrives while one is still executing, blend with the old one",
}

SCALED, JTC = "scaled_joint_trajectory_controller", "joint_trajectory_controller"
VELOCITY, POSITION = "forward_velocity_controller", "forward_position_controller"


@dataclass(frozen=True)
class TrajectoryRules:
    """One trajectory controller."""

    sampling: Sampling
    scaled: bool  # its time runs with the speed scaling
    end_velocity: bool
    replacing: Replacing = "at once"


@dataclass(frozen=True)
class Generation:
    driver: str
    controllers: str
    wrench_frame: str
    trajectory: dict[str, TrajectoryRules]
    forward_types: dict[str, str]  # controller -> class
    joint_order: tuple[int, ...]
    takes_nan: bool
    stops_failing: bool

    @property
    def default_controller(self) -> str:
        """initial_joint_controller of ur_control.launch.py."""
        return SCALED if SCALED in self.trajectory else JTC


GROUPS = {
    VELOCITY: "velocity_controllers/JointGroupVelocityController",
    POSITION: "position_controllers/JointGroupPositionController",
}
FORWARD = dict.fromkeys((VELOCITY, POSITION), "forward_command_controller/ForwardCommandController")
HASHED = (2, 5, 1, 0, 4, 3)  # one of the orders that a hash map can give; neither the arm's nor the alphabet's
SORTED = (2, 1, 0, 3, 4, 5)  # elbow, shoulder lift, shoulder pan, wrists


def _humble(driver: str, wrench_frame: str, scaled: Sampling) -> Generation:
    trajectory = {
        SCALED: TrajectoryRules(scaled, scaled=True, end_velocity=True),
        JTC: TrajectoryRules("now", scaled=False, end_velocity=True),
    }
    return Generation(driver, "2.54.0", wrench_frame, trajectory, GROUPS, HASHED, takes_nan=True, stops_failing=False)


GENERATIONS = {
    "humble_2_12": _humble("2.12.0", "tool0", "now"),
    "humble": _humble("2.14.0", "tool0_controller", "ahead_late"),
    "jazzy": Generation(
        "3.8.0",
        "4.42.1",
        "tool0_controller",
        {
            SCALED: TrajectoryRules("ahead", scaled=True, end_velocity=False),
            JTC: TrajectoryRules("ahead", scaled=False, end_velocity=False),
        },
        GROUPS,
        SORTED,
        takes_nan=False,
        stops_failing=True,
    ),
    "lyrical": Generation(
        "6.0.0",
        "6.9.0",
        "tool0_controller",
        {JTC: TrajectoryRules("ahead", scaled=True, end_velocity=False, replacing="deferred")},
        FORWARD,
        SORTED,
        takes_nan=False,
        stops_failing=True,
    ),
}
GENERATIONS["rolling"] = replace(
    GENERATIONS["lyrical"],
    driver="7.0.0",
    controllers="master after 6.9.0",
    trajectory={JTC: replace(GENERATIONS["lyrical"].trajectory[JTC], replacing="blended")},
)
DEFAULT = "jazzy"  # the distribution of the wheels, and the first that refuses a last point with a velocity


def generation(name: str) -> Generation:
    if name not in GENERATIONS:
        raise ParameterError(f"driver = {name!r}: must be one of {', '.join(GENERATIONS)}.", "driver")
    return GENERATIONS[name]
