"""sim_node: the simulated UR as a ROS 2 robot, in place of Gazebo and a driver.

publishes   /robot_description (latched), /joint_states, /wrist_ft_sensor, /clock if asked,
            /speed_scaling_state_broadcaster/speed_scaling
takes       /scaled_joint_trajectory_controller/joint_trajectory, /forward_velocity_controller/commands,
            /scaled_joint_trajectory_controller/follow_joint_trajectory where control_msgs is installed,
            ~/hand (WrenchStamped: a hand at the TCP, base axes, for as long as it is renewed)
services    ~/push, ~/let_go, ~/set_environment, ~/reset (std_srvs/Trigger), fed by the parameters of that name
"""

import sys
import threading
import time
from typing import Any, get_args

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory

from ur_admittance.core.records import AT_REST
from ur_admittance.errors import SimulationError, UrAdmittanceError
from ur_admittance.model import robot_model
from ur_admittance.model.urdf import generate
from ur_admittance.robots.ros.cdr import WrenchReader
from ur_admittance.robots.ros.inputs import CLOCK_TOPIC, JOINT_TOPIC, WRENCH_TOPIC
from ur_admittance.robots.ros.outputs import TRAJECTORY_TOPIC, VELOCITY_TOPIC
from ur_admittance.robots.ros.polled import COMMANDS, LATCHED, Polled
from ur_admittance.ros.run import run
from ur_admittance.ros.services import offer
from ur_admittance.ros.sim import messages
from ur_admittance.ros.sim.action import serve_action
from ur_admittance.ros.sim.drive import Drive
from ur_admittance.runtime.clock import RealTimeClock
from ur_admittance.runtime.realtime import whole_process
from ur_admittance.simulation import Environment, FtSensor, Tool, World
from ur_admittance.simulation.environment import Kind

HAND_TIMEOUT = 0.5  # [s] the hand leaves the tool when its messages end
MOST_STEPS = 50  # periods of physics that are caught up after a pause

PARAMETERS: dict[str, tuple[Any, str]] = {
    "model": ("ur5e", "type of the arm"),
    "rate": (500.0, "states per second [Hz]"),
    "realtime_factor": (1.0, "simulated seconds per second; other than 1 needs publish_clock"),
    "publish_clock": (False, "simulated time on /clock, for nodes with use_sim_time"),
    "publish_wrench": (True, "false: somebody else plays the force sensor"),
    "start": ([float("nan")] * 6, "joint angles at the start [rad]; NaN: home"),
    "frame": ("tool0", "frame_id of the wrench"),
    "tool.mass": (0.0, "[kg]; with a tool the controller needs the same tool.* or a calibration"),
    "tool.center_of_mass": ([0.0, 0.0, 0.0], "flange frame [m]"),
    "tool.tcp": ([0.0, 0.0, 0.0], "position of the TCP in the flange frame [m]"),
    "sensor.noise_force": (0.0, "standard deviation [N]"),
    "sensor.noise_torque": (0.0, "standard deviation [Nm]"),
    "sensor.bias": ([0.0] * 6, "[N, Nm]"),
    "seed": (0, "of the noise"),
    "realtime_priority": (0, "SCHED_FIFO priority, 1 to 99; 0: an ordinary process"),
}
LIVE: dict[str, tuple[Any, str]] = {
    "speed_scaling": (1.0, "0..1, as the speed slider of the pendant"),
    "push.wrench": ([10.0, 0.0, 0.0, 0.0, 0.0, 0.0], "what ~/push does to the tool, at the TCP, base axes [N, Nm]"),
    "push.duration": (1.0, "for how long [s]"),
    "environment.kind": ("none", "none, floor, wall, incline, cylinder or hole; put there by ~/set_environment"),
    "environment.stiffness": (1e4, "[N/m]"),
    "environment.gap": (0.02, "between the tool and the surface [m]"),
    "environment.angle": (0.0, "of the incline [rad]"),
}


class SimNode(Node):  # type: ignore[misc]
    """The physics run in a thread of their own, in step with the clock."""

    def __init__(self) -> None:
        super().__init__("ur_sim")
        for table, fixed in ((PARAMETERS, True), (LIVE, False)):
            for name, (default, text) in table.items():
                self.declare_parameter(name, default, ParameterDescriptor(description=text, read_only=fixed))
        self.model = robot_model(self._value("model"))
        self.period = 1.0 / self._value("rate")
        self.world = self._new_world(None)
        self.drive = Drive(self.world.q, self.model.velocity, self.period)
        self.drive.scaling = self._value("speed_scaling")
        self.add_on_set_parameters_callback(self._check)
        self.lock = threading.Lock()  # held for each period of physics
        self._hand_until: float | None = None
        self._hand = np.zeros(6)
        self._hand_reader = WrenchReader()
        self._refused = ""
        self._make_topics()
        self._end = False
        self._thread = threading.Thread(target=self._run, name="physics")
        self._thread.start()
        self.get_logger().info(f"a simulated {self.model.name} at {self._value('rate'):g} Hz: nothing real moves")

    def _value(self, name: str) -> Any:
        value = self.get_parameter(name).value
        return list(value) if hasattr(value, "__len__") and not isinstance(value, str) else value

    def _make_topics(self) -> None:
        names = self.model.joint_names
        self._description = self.create_publisher(String, "/robot_description", LATCHED)
        self._description.publish(String(data=generate(self.model)))
        self._joint_publisher = self.create_publisher(JointState, JOINT_TOPIC, COMMANDS)
        self._joint_state, self._q, self._qd = messages.joint_state(names)
        self._wrench_publisher = (
            self.create_publisher(WrenchStamped, WRENCH_TOPIC, COMMANDS) if self._value("publish_wrench") else None
        )
        self._wrench_message, self._wrench = messages.wrench(self._value("frame"))
        self._clock_publisher = (
            self.create_publisher(Clock, CLOCK_TOPIC, COMMANDS) if self._value("publish_clock") else None
        )
        self._clock_message = messages.clock()
        self._scaling = self.create_publisher(Float64, "/speed_scaling_state_broadcaster/speed_scaling", LATCHED)
        self._scaling.publish(Float64(data=100.0 * self.drive.scaling))
        self._trajectories = Polled(self, JointTrajectory, TRAJECTORY_TOPIC, COMMANDS)
        self._speeds = Polled(self, Float64MultiArray, VELOCITY_TOPIC, COMMANDS)
        self._hands = Polled(self, WrenchStamped, "~/hand")
        offer(self, push=self._push, let_go=self._let_go, set_environment=self._set_environment, reset=self._reset)
        self.action = serve_action(self)
        self.create_timer(1.0, self._report)

    # physics

    def _run(self) -> None:
        with whole_process(int(self._value("realtime_priority"))):
            self._physics()

    def _physics(self) -> None:
        clock = RealTimeClock(self._value("rate") * self._value("realtime_factor"), spin_ns=0)
        clock.start()
        simulated_time = self._clock_publisher is not None
        while not self._end:
            clock.wait()
            try:
                with self.lock:
                    self._take_commands()
                    for _ in range(1 if simulated_time else 1 + min(clock.skipped, MOST_STEPS)):
                        self.world.step(self.drive.advance(), None, self.period)
                    self._publish()
            except SimulationError as error:
                self.get_logger().error(f"{error} The arm is put back to its start.")
                self.world.reset()
                self.drive.place(self.world.q)

    def _take_commands(self) -> None:
        try:
            data = self._trajectories.take()
            if data is not None:
                self.drive.follow(messages.read_trajectory(data, self.model.joint_names))
            data = self._speeds.take()
            if data is not None:
                self.drive.drive(messages.read_speeds(data))
            data = self._hands.take()
            if data is not None:
                self._hand_reader.read(data, self._hand)
                if np.isfinite(self._hand).all():
                    self._start_push(self._hand, HAND_TIMEOUT)
        except UrAdmittanceError as error:
            self._refused = str(error)
        if self._hand_until is not None and self.world.time >= self._hand_until:
            self.world.let_go()
            self._hand_until = None

    def _start_push(self, wrench: Any, duration: float) -> None:
        self.world.push(wrench)
        self._hand_until = self.world.time + duration

    def _publish(self) -> None:
        world = self.world
        stamp = round(world.time * 1e9) if self._clock_publisher is not None else time.time_ns()
        if self._clock_publisher is not None:
            self._clock_message.set_stamp(stamp)
            self._clock_publisher.handle.publish_raw(bytes(self._clock_message.data))
        self._q[:], self._qd[:] = world.q, world.qd
        self._joint_state.set_stamp(stamp)
        self._joint_publisher.handle.publish_raw(bytes(self._joint_state.data))
        if self._wrench_publisher is not None:  # last: it is what a controller waits for
            self._wrench[:] = world.wrench
            self._wrench_message.set_stamp(stamp)
            self._wrench_publisher.handle.publish_raw(bytes(self._wrench_message.data))

    # what people ask for

    def _push(self) -> str:
        wrench, duration = self._value("push.wrench"), self._value("push.duration")
        with self.lock:
            self._start_push(wrench, duration)
        return f"pushing with {wrench} (base axes, N and Nm) for {duration:g} s"

    def _let_go(self) -> str:
        with self.lock:
            self.world.let_go()
            self._hand_until = None
        return "the hand is off"

    def _set_environment(self) -> str:
        kind = self._value("environment.kind")
        environment = Environment(
            kind,
            self._value("environment.stiffness"),
            gap=self._value("environment.gap"),
            angle=self._value("environment.angle") if kind == "incline" else 0.0,
        )
        if np.abs(self.world.qd).max() > AT_REST:
            raise SimulationError("set_environment refused: the arm moves; wait until it stands.")
        world = self._new_world(environment)
        with self.lock:
            world.reset(self.world.q)
            self.world = world
            self.drive.place(world.q)
            self._hand_until = None
        return f"environment: {kind}"

    def _reset(self) -> str:
        with self.lock:
            self.world.reset(self._start_angles())
            self.drive.place(self.world.q)
            self._hand_until = None
        return "the arm is back at its start"

    def _start_angles(self) -> Any:
        start = np.array(self._value("start"), dtype=float)
        return None if np.isnan(start).any() else start

    def _new_world(self, environment: Environment | None) -> World:
        tool = Tool(
            mass=self._value("tool.mass"),
            com=tuple(self._value("tool.center_of_mass")),
            tcp=tuple(self._value("tool.tcp")),
        )
        sensor = FtSensor(
            bias=tuple(self._value("sensor.bias")),
            noise_force=self._value("sensor.noise_force"),
            noise_torque=self._value("sensor.noise_torque"),
        )
        world = World(self.model, tool, environment, sensor=sensor, seed=self._value("seed"))
        world.reset(self._start_angles())
        world.step(None, np.zeros(6), self.period)  # compiles, before anybody listens
        world.reset(self._start_angles())
        return world

    def _check(self, parameters: list[Parameter]) -> SetParametersResult:
        for parameter in parameters:
            if parameter.name == "speed_scaling":
                if not 0.0 <= parameter.value <= 1.0:
                    return SetParametersResult(
                        successful=False, reason=f"speed_scaling = {parameter.value}: must be 0 to 1"
                    )
                self.drive.scaling = parameter.value
                self._scaling.publish(Float64(data=100.0 * parameter.value))
            if parameter.name == "environment.kind" and parameter.value not in get_args(Kind):
                allowed = ", ".join(get_args(Kind))
                reason = f"environment.kind = {parameter.value!r}: must be one of {allowed}"
                return SetParametersResult(successful=False, reason=reason)
        return SetParametersResult(successful=True)

    def _report(self) -> None:
        if self._refused:
            self.get_logger().warning(self._refused)
            self._refused = ""

    def finish(self) -> None:
        self._end = True
        self._thread.join(timeout=2.0)
        for polled in (self._trajectories, self._speeds, self._hands):
            polled.destroy()


def main() -> None:
    sys.exit(run(SimNode))


if __name__ == "__main__":
    main()
