"""The strict double of UR's ROS 2 driver, without ROS: controllers, hardware interface, robot, arm, in one cycle.

read, update the active controller, write: hardware_interface.cpp, read() and write() (driver 2.14.0 to 6.0.0)
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ur_admittance.errors import ParameterError
from ur_admittance.model import RobotModel
from ur_admittance.robots.simulated import World
from ur_admittance_lab.driver.controller_manager import Controllers
from ur_admittance_lab.driver.driver_program import UNLOCK_S, Robot
from ur_admittance_lab.driver.generations import Generation
from ur_admittance_lab.driver.measures import Measures
from ur_admittance_lab.driver.trajectory import Message

Array = NDArray[np.float64]

REFUSED = "everything is refused here (parameter refuse)"


class Driver:
    """One thread, or one lock, for everything."""

    def __init__(
        self,
        generation: Generation,
        model: RobotModel,
        world: World,
        period: float = 0.002,
        initial: str = "default",
        unlock_delay: float = UNLOCK_S,
    ) -> None:
        """period [s]; initial: the motion controller that is active from the start, "default" for the driver's own
        choice, "none" for none; unlock_delay: see Robot."""
        self.generation, self.model, self.world, self.period = generation, model, world, period
        self.period_ns = round(period * 1e9)
        initial = {"default": generation.default_controller, "none": ""}.get(initial, initial)
        self.controllers = Controllers(generation, model.joint_names, self.period_ns, initial)
        if initial and initial not in self.controllers.names:
            names = ", ".join(self.controllers.names)
            raise ParameterError(f"controller = {initial!r}: must be one of {names}, default, none.", "controller")
        self.robot = Robot(world.q, model.velocity, period, unlock_delay)
        self.measures = Measures()
        self.slider = 1.0  # 0 to 1
        self.refusing = False  # a test wants every command refused
        self.time = 0.0  # [s] since the start; a world that is set back does not set it back
        self._running = True
        self._mode = ""  # interface that was written last
        self._last = np.zeros(6)  # command of the last period
        self._pose = world.pose()
        self.controllers.start(world.q)

    def flange(self) -> tuple[Array, Array]:
        """Rotation (3, 3) and position (3,) [m] of the flange in base_link."""
        R_base_tcp, p_base_tcp = self._pose
        tool = self.world.tool
        R: Array = R_base_tcp @ np.array(tool.tcp_rotation).T
        return R, p_base_tcp - R @ np.array(tool.tcp)

    @property
    def scaling(self) -> float:
        """Of speed, as the driver tells it, 0 to 1. The robot's own is 0 while its program is paused."""
        return 0.0 if self.robot.paused else self.slider

    # messages

    def trajectory(self, name: str, message: Message, now_ns: int) -> str:
        """A message for a trajectory controller; why it was refused."""
        controller, measures = self.controllers.trajectory[name], self.measures
        joints = self.model.joint_names
        if message.points and sorted(message.joints) == sorted(joints):
            q, order = message.points[-1].q, [message.joints.index(joint) for joint in joints]
            if len(q) == 6:
                measures.message(q[order], self.world.q)
        return self._counted(name, REFUSED if self.refusing else controller.offer(message, now_ns), controller.active)

    def forward(self, name: str, numbers: Array) -> str:
        """A message for a forward controller; why it was refused."""
        controller = self.controllers.forward[name]
        if self.controllers.interface(name) == "position":
            self.measures.message(np.array(numbers), self.world.q)
        return self._counted(name, REFUSED if self.refusing else controller.offer(numbers), controller.active)

    def refuse(self, name: str, reason: str) -> None:
        self.measures.refused[f"{name}: {reason}"] += 1

    def _counted(self, name: str, reason: str, active: bool) -> str:
        if reason:
            self.refuse(name, reason)
        else:
            (self.measures.taken if active else self.measures.dropped)[name] += 1
        return reason

    # the cycle

    def step(self, time_ns: int) -> None:
        """One period; time_ns: ROS time at its start."""
        world, robot, controllers = self.world, self.robot, self.controllers
        now = self.time
        if robot.program_running != self._running:
            self._running = robot.program_running
            controllers.hear(self._running, now)
        controllers.stop_or_start(world.q, now)
        controllers.update(time_ns, world.q, world.qd, self.scaling)
        self._write(now)
        self.measures.note("lead_rad", float(np.abs(robot.q - world.q).max()))
        world.step(robot.q, None, self.period)
        robot.watch(world.q, world.qd, now)
        self.measures.note("joint_speed_rad_s", float(np.abs(world.qd).max()))
        self._pose = world.pose()
        self.measures.tcp(self._pose[1], self.period)
        self.measures.stops = robot.stops
        self.time += self.period

    def _write(self, now: float) -> None:
        robot, controllers = self.robot, self.controllers
        driven = robot.program_running and not robot.paused
        mode = controllers.interface(controllers.active) if driven else ""
        if mode == "position":
            self._note("command_step_rad", controllers.position, mode, robot.q)
            robot.servo(controllers.position, now)
        elif mode == "velocity":
            self._note("velocity_step_rad_s", controllers.velocity, mode, np.zeros(6))
            robot.speed(controllers.velocity, now)
        elif driven:
            robot.idle()
        else:
            robot.stand()
        self._mode = mode

    def _note(self, name: str, command: Array, mode: str, start: ArrayLike) -> None:
        """The step from the last command; at the start of a mode that from where the robot stands."""
        before = self._last if self._mode == mode else np.asarray(start)
        self.measures.note(name, float(np.abs(command - before).max()))
        self._last[:] = command

    def place(self, world: World) -> None:
        """The world was set back or is another one: hold where its arm is."""
        self.world, self._pose = world, world.pose()
        self.robot.place(world.q)
        self.controllers.restart(world.q)
        self.measures.forget()
        self._mode = ""
