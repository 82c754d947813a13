"""What differs between the versions of UR's driver and of the controllers beside it, as one table.

    driver        Universal_Robots_ROS2_Driver: ur_robot_driver, ur_controllers
    controllers   ros2_controllers: joint_trajectory_controller, forward_command_controller, velocity_controllers

| rule | source |
|---|---|
| end_velocity | joint_trajectory_controller_parameters.yaml, default of allow_nonzero_velocity_at_trajectory_end: true in 2.54.0, false from 4.0 on; ur_controllers.yaml does not set it |
| sampling, joint_trajectory_controller | joint_trajectory_controller.cpp, update(): at `time` in 2.54.0; at `traj_time_ + update_period_` in 4.42.1, 5.17.0 and 6.9.0 |
| sampling, scaled | scaled_joint_trajectory_controller.cpp, update(): at `traj_time` in driver 2.12.0; ahead in 2.14.0, where the first call of sample() is already the one ahead and so sets the start; as Jazzy's in 3.8.0; from 4.2.0 on it is joint_trajectory_controller itself |
| scaled | which of them reads the speed scaling: ur_controllers.yaml, speed_scaling_interface_name (scaled) and speed_scaling.state_interface (4.2.0, 6.0.0) |
| replacing | joint_trajectory_controller.cpp, update(): a message takes the place of the old one at once (2.54.0, 4.42.1, 5.17.0); one with a time ahead is deferred, and only the last of those is kept (6.8.0, 6.9.0, allow_trajectory_replacement is true by default); blend_with_active_trajectory() on the master branch after 6.9.0 |
| wrench | hardware_interface.cpp, transformForceTorque(): turned into the axes of the pendant's TCP, moments about the flange (up to 2.5.2, 3.0.0 to 3.1.0); transformed with the TCP's pose instead of its inverse (2.6.0 to 2.11.0, 3.1.1 to 3.6.0, 4.0.0 to 4.4.0); about the TCP in its axes since. CB3 (software below 5): about the TCP in its axes in all of them |
| wrench_frame | ur_controllers.yaml, force_torque_sensor_broadcaster.frame_id: tool0 up to 2.12.0, tool0_controller from 2.13.0, 3.8.0, 4.6.0, 5.0.0 on |
| controllers | ur_controllers.yaml and ur_control.launch.py (controllers_inactive, initial_joint_controller) |
| idle | the same: tool_contact_controller since 2.8.0, 3.2.0, 4.0.0; forward_effort_controller since 2.11.0, 3.5.0, 4.3.0; friction_model_controller since 2.13.0, 3.8.0, 4.6.0 |
| joint_order | joint_state_broadcaster.cpp, init_joint_data(): order of a hash map in 2.54.0, of a sorted map of the description's joints in 4.42.1 |
| takes_nan | forward_controllers_base.cpp, on_configure(): any message in 2.54.0, only finite ones in 4.42.1, 5.17.0 and 6.9.0 |
| stops_failing | controller_manager.cpp, update(): a controller that returns ERROR is deactivated in ros2_control 4.46.0 and 6.8.0, carries on in 2.54.0 |
"""  # noqa: E501

from dataclasses import dataclass, replace
from typing import Literal

from ur_admittance.errors import ParameterError

# `now`: at the time of the update. `ahead`: one period later. `ahead_late`: the same, but a trajectory without a stamp
# also starts one period later.
Sampling = Literal["now", "ahead", "ahead_late"]

Replacing = Literal["at once", "deferred", "blended"]
Wrench = Literal["turned", "inverted", "right"]
SCALED, JTC = "scaled_joint_trajectory_controller", "joint_trajectory_controller"
VELOCITY, POSITION = "forward_velocity_controller", "forward_position_controller"
CONTACT, EFFORT, FRICTION = "tool_contact_controller", "forward_effort_controller", "friction_model_controller"


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
    wrench: Wrench = "right"
    idle: tuple[str, ...] = (CONTACT, EFFORT, FRICTION)  # controllers that are loaded, and do nothing here

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


def _after_humble(driver: str, controllers: str, both_scaled: bool) -> Generation:
    trajectory = {
        SCALED: TrajectoryRules("ahead", scaled=True, end_velocity=False),
        JTC: TrajectoryRules("ahead", scaled=both_scaled, end_velocity=False),
    }
    return Generation(
        driver, controllers, "tool0_controller", trajectory, GROUPS, SORTED, takes_nan=False, stops_failing=True
    )


def _before(
    generation: Generation, driver: str, wrench: Wrench = "right", idle: tuple[str, ...] = (CONTACT, EFFORT)
) -> Generation:
    """An earlier driver of the same distribution, when the messages still said tool0."""
    return replace(generation, driver=driver, wrench_frame="tool0", wrench=wrench, idle=idle)


_HUMBLE, _OLD_HUMBLE = _humble("2.14.0", "tool0_controller", "ahead_late"), _humble("2.12.0", "tool0", "now")
_JAZZY, _KILTED = _after_humble("3.8.0", "4.42.1", False), _after_humble("4.8.0", "5.17.0", True)

GENERATIONS = {
    "humble_2_5": _before(_OLD_HUMBLE, "2.5.2", "turned", idle=()),
    "humble_2_11": _before(_OLD_HUMBLE, "2.11.0", "inverted"),
    "humble_2_12": _before(_OLD_HUMBLE, "2.12.0"),
    "humble": _HUMBLE,
    "jazzy_3_4": _before(_JAZZY, "3.4.0", "inverted", idle=(CONTACT,)),
    "jazzy": _JAZZY,
    "kilted_4_4": _before(_KILTED, "4.4.0", "inverted"),
    "kilted": _KILTED,
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
