"""controller_manager with UR's controllers and the controller_stopper, without ROS.

Rules: controller_manager.cpp, switch_controller (ros2_control 2.54.0, 4.46.0, 6.8.0); hardware_interface.cpp,
prepare_command_mode_switch and perform_command_mode_switch (driver 2.14.0, 3.8.0, 6.0.0); controller_stopper.cpp and
ur_control.launch.py (consistent_controllers).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ur_admittance_lab.driver.forward_controller import ForwardController
from ur_admittance_lab.driver.generations import (
    CONTACT,
    EFFORT,
    FRICTION,
    JTC,
    POSITION,
    SCALED,
    VELOCITY,
    Generation,
)
from ur_admittance_lab.driver.trajectory_controller import TrajectoryController

Array = NDArray[np.float64]
Interface = Literal["position", "velocity", ""]

BEST_EFFORT, STRICT = 1, 2  # controller_manager_msgs/SwitchController
# They are active all the time, also while the program is stopped.
CONSISTENT = {
    "joint_state_broadcaster": "joint_state_broadcaster/JointStateBroadcaster",
    "io_and_status_controller": "ur_controllers/GPIOController",
    "speed_scaling_state_broadcaster": "ur_controllers/SpeedScalingStateBroadcaster",
    "force_torque_sensor_broadcaster": "force_torque_sensor_broadcaster/ForceTorqueSensorBroadcaster",
    "tcp_pose_broadcaster": "pose_broadcaster/PoseBroadcaster",
    "ur_configuration_controller": "ur_controllers/URConfigurationController",
}
TRAJECTORY_TYPES = {
    SCALED: "ur_controllers/ScaledJointTrajectoryController",
    JTC: "joint_trajectory_controller/JointTrajectoryController",
}
IDLE_TYPES = {
    CONTACT: "ur_controllers/ToolContactController",
    EFFORT: "effort_controllers/JointGroupEffortController",
    FRICTION: "ur_controllers/FrictionModelController",
}
STOPPER_S = 0.05  # the controller_stopper hears of a change on a topic, then asks with two services; not less than this


@dataclass(frozen=True)
class Listed:
    """controller_manager_msgs/ControllerState, as far as a client needs it."""

    name: str
    state: str
    type: str
    required: tuple[str, ...]  # command interfaces
    claimed: tuple[str, ...]


class Controllers:
    """Everything under the controller manager, and what the driver's hardware component keeps for it."""

    def __init__(self, generation: Generation, joints: Sequence[str], period_ns: int, initial: str) -> None:
        self.joints = tuple(joints)
        self.generation = generation
        self.trajectory = {
            name: TrajectoryController(joints, rules, period_ns) for name, rules in generation.trajectory.items()
        }
        self.forward = {name: ForwardController(generation) for name in generation.forward_types}
        self.position = np.zeros(6)  # command interfaces
        self.velocity = np.zeros(6)
        self.active = ""  # name of the motion controller that is active
        self.failed = ""  # name of the one that was deactivated because it failed
        self._initial = initial
        self._stopped: list[str] = []
        self._heard: list[tuple[float, bool]] = []  # when the stopper acts, on which state of the program

    # switching

    @property
    def names(self) -> list[str]:
        return [*self.trajectory, *self.forward]

    def interface(self, name: str) -> Interface:
        """The one that a controller claims for all joints."""
        if name == VELOCITY:
            return "velocity"
        return "position" if name in self.trajectory or name == POSITION else ""

    def start(self, q: Array) -> None:
        """The launch file activates initial_joint_controller."""
        if self._initial:
            self.switch([self._initial], [], STRICT, q)

    def restart(self, q: Array) -> None:
        """Hold here: the world was set back."""
        name = self.active
        if name:
            self.switch([], [name], STRICT, q)
            self.switch([name], [], STRICT, q)

    def switch(self, activate: Sequence[str], deactivate: Sequence[str], strictness: int, q: Array) -> tuple[bool, str]:
        """(done, why not). q: measured angles, which the driver puts into the command interfaces when a mode starts or
        ends. Strictness 0 counts as BEST_EFFORT, everything that is unknown there as well."""
        strict = strictness == STRICT
        activate, deactivate = list(dict.fromkeys(activate)), list(dict.fromkeys(deactivate))
        for wanted, state, word in ((activate, False, "active"), (deactivate, True, "inactive")):
            for name in list(wanted):
                reason = "" if name in self.names or name in CONSISTENT else f"no controller named {name} is loaded"
                if not reason and self.is_active(name) != state:
                    reason = f"{name} is {word} already"
                if not reason and name in CONSISTENT:
                    reason = f"{name} always runs here"
                if reason and strict:
                    return False, reason
                if reason:
                    wanted.remove(name)
        taken = self.interface(self.active) if self.active and self.active not in deactivate else ""
        for name in list(activate):
            if taken:  # one interface for all joints; position and velocity exclude each other (mode_compatibility_)
                if strict:
                    return False, f"{name} cannot start: the joints are claimed by {self.active or activate[0]}"
                activate.remove(name)
            else:
                taken = self.interface(name)
        if self.active in deactivate:
            self._deactivate(q)
        for name in activate:
            self._activate(name, q)
        return True, ""

    def _activate(self, name: str, q: Array) -> None:
        self.position[:], self.velocity[:] = q, 0.0
        self.active = name
        if name in self.trajectory:
            self.trajectory[name].activate(self.position)
        else:
            self.forward[name].activate()

    def _deactivate(self, q: Array) -> None:
        name, self.active = self.active, ""
        (self.trajectory.get(name) or self.forward[name]).deactivate()
        self.position[:], self.velocity[:] = q, 0.0

    def is_active(self, name: str) -> bool:
        return name == self.active or name in CONSISTENT

    def listed(self) -> list[Listed]:
        found = [Listed(name, "active", kind, (), ()) for name, kind in CONSISTENT.items()]
        for name in self.names:
            required = tuple(f"{joint}/{self.interface(name)}" for joint in self.joints)
            active = name == self.active
            kind = TRAJECTORY_TYPES[name] if name in self.trajectory else self.generation.forward_types[name]
            found.append(Listed(name, "active" if active else "inactive", kind, required, required if active else ()))
        return found + [Listed(name, "inactive", IDLE_TYPES[name], (), ()) for name in self.generation.idle]

    # the controller_stopper

    def hear(self, running: bool, now: float) -> None:
        """robot_program_running has changed."""
        self._heard.append((now + STOPPER_S, running))

    def stop_or_start(self, q: Array, now: float) -> None:
        while self._heard and self._heard[0][0] <= now:
            running = self._heard.pop(0)[1]
            if running and self._stopped:
                self.switch(self._stopped, [], STRICT, q)
            elif not running:
                self._stopped = [self.active] if self.active else []
                if self._stopped:
                    self.switch([], self._stopped, STRICT, q)

    # the cycle

    def update(self, time_ns: int, q: Array, qd: Array, scaling: float) -> None:
        """Let the active controller write its command interface."""
        name = self.active
        if name in self.trajectory:
            command = self.trajectory[name].update(time_ns, q, qd, scaling)
            if command is not None:
                self.position[:] = command
        elif name:
            forward = self.forward[name]
            command = forward.update()
            if command is not None:
                (self.velocity if name == VELOCITY else self.position)[:] = command
            elif forward.failing and self.generation.stops_failing:
                self.failed = name
                self._deactivate(q)
