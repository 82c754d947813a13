"""sim_node: the strict double of UR's ROS 2 driver, with a simulated arm under it.

Topics, services, names and rules are those of the driver of one distribution (parameter `driver`): driver_states.py,
driver_commands.py, mode_topics.py say which, and from which source each rule is; generations.py has what differs.

its own     /robot_description (latched; robot_state_publisher's with the driver), /clock if asked
takes       ~/hand (WrenchStamped: a hand at the TCP, base axes, for as long as it is renewed)
services    ~/push, ~/let_go, ~/set_environment, ~/switch (std_srvs/Trigger), fed by the parameters of that name,
            ~/reset, ~/protective_stop, ~/unlock, ~/emergency_stop, ~/safeguard_stop, ~/make_safe, ~/stop_program,
            ~/pause, ~/resume
tells       ~/report (topic, latched, once per second; and service): largest steps and speeds, refusals, as JSON;
            ~/clear_report
"""

import contextlib
import sys
import threading
import time
from dataclasses import replace
from typing import Any, get_args

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from std_msgs.msg import String
from std_srvs.srv import Trigger

from ur_admittance.core.records import AT_REST
from ur_admittance.errors import ParameterError, SimulationError, UrAdmittanceError
from ur_admittance.model import robot_model
from ur_admittance.robots.ros.cdr import WrenchReader
from ur_admittance.robots.ros.inputs import CLOCK_TOPIC
from ur_admittance.robots.ros.polled import LATCHED, Polled
from ur_admittance.robots.ros.prepared import Stream
from ur_admittance.robots.simulated import Environment, World
from ur_admittance.robots.simulated.environment import Kind
from ur_admittance.ros.node_run import offer, run
from ur_admittance.runtime.clock import RealTimeClock
from ur_admittance.runtime.realtime import SWITCH_INTERVAL_S, whole_process
from ur_admittance_lab.driver.driver import Driver
from ur_admittance_lab.driver.driver_commands import Commands
from ur_admittance_lab.driver.driver_options import LIVE, PARAMETERS, new_world, start_angles
from ur_admittance_lab.driver.driver_states import States
from ur_admittance_lab.driver.generations import generation
from ur_admittance_lab.driver.mode_topics import Status
from ur_admittance_lab.driver.tcp import PendantTcp
from ur_admittance_lab.urdf_writer import generate

HAND_TIMEOUT = 0.5  # [s] the hand leaves the tool when its messages end
COMMAND_LOOK_S = 0.0002  # between two looks for a command that is waited for
MOST_STEPS = 50  # periods of physics that are caught up after a pause


class SimNode(Node):  # type: ignore[misc]
    """The physics run in a thread of their own, in step with the clock."""

    def __init__(self) -> None:
        super().__init__("ur_sim")
        for table, fixed in ((PARAMETERS, True), (LIVE, False)):
            for name, (default, text) in table.items():
                self.declare_parameter(name, default, ParameterDescriptor(description=text, read_only=fixed))
        prefix = self._value("tf_prefix")
        plain = robot_model(self._value("model"))
        self.model = replace(plain, joint_names=tuple(prefix + joint for joint in plain.joint_names))
        self.period = 1.0 / self._value("rate")
        self.lock = threading.Lock()  # held for each period
        self.driver = Driver(
            generation(self._value("driver")),
            self.model,
            self._new_world(None),
            self.period,
            self._value("controller"),
            self._value("unlock_delay"),
        )
        self.driver.slider = self._value("speed_scaling")
        self.add_on_set_parameters_callback(self._check)
        self._hand_until: float | None = None
        self._hand = np.zeros(6)
        self._hand_reader = WrenchReader()
        self._stamp_ns = 0
        self._commanded = False  # in the last cycle
        self._make_topics()
        self._end = False
        self._thread = threading.Thread(target=self._run, name="physics")
        self._thread.start()
        told = self.driver.generation
        self.get_logger().info(
            f"a simulated {self.model.name} at {self._value('rate'):g} Hz: nothing real moves; rules of driver"
            f" {told.driver}, ros2_controllers {told.controllers}; active: {self.driver.controllers.active or 'none'}"
        )

    def _value(self, name: str) -> Any:
        value = self.get_parameter(name).value
        return list(value) if hasattr(value, "__len__") and not isinstance(value, str) else value

    def _make_topics(self) -> None:
        rate, log = self._value("rate"), self.get_logger()
        self._description = self.create_publisher(String, "robot_description", LATCHED)
        self._description.publish(String(data=generate(self.model, self._value("tf_prefix"))))
        self._clock_stream = Stream(self, CLOCK_TOPIC, Clock()) if self._value("publish_clock") else None
        self._commands = Commands(self.driver, rate, self._now_ns)
        self._states = States(
            self.driver, self._pendant_tcp({}), self._value("publish_wrench"), log, self._value("tf_prefix")
        )
        self._status = status = Status(self.driver, self.lock, rate, log)
        self.beside = [*self._commands.nodes, *self._states.nodes, *status.nodes]  # run.py lets them spin, too
        self._hands = Polled(self, WrenchStamped, "~/hand")
        offer(self, push=self._push, let_go=self._let_go, set_environment=self._set_environment, reset=self._reset)
        offer(self, protective_stop=status.protective_stop, unlock=status.unlock)
        offer(self, emergency_stop=status.emergency_stop, safeguard_stop=status.safeguard_stop)
        offer(self, make_safe=status.make_safe)
        offer(self, stop_program=status.stop, pause=status.pause, resume=status.play, switch=self._switch)
        offer(self, clear_report=self._clear_report)
        self.create_service(Trigger, "~/report", self._answer_report)
        self._reports = self.create_publisher(String, "~/report", LATCHED)
        self.create_timer(1.0, lambda: self._reports.publish(String(data=self._report())))

    def _now_ns(self) -> int:
        """ROS time, as the controllers have it."""
        return self._stamp_ns if self._clock_stream is not None else time.time_ns()

    # physics

    def _run(self) -> None:
        sys.setswitchinterval(SWITCH_INTERVAL_S)  # a service must not hold the cycle up
        with whole_process(int(self._value("realtime_priority"))):
            self._physics()

    def _physics(self) -> None:
        clock = RealTimeClock(self._value("rate") * self._value("realtime_factor"), spin_ns=0)
        clock.start()
        simulated_time = self._clock_stream is not None
        woke = time.monotonic()
        while not self._end:
            clock.wait()
            self._wait_for_command()
            late, woke = time.monotonic() - woke - clock.period, time.monotonic()
            steps = 1 if simulated_time else 1 + min(clock.skipped, MOST_STEPS)
            try:
                with self.lock:
                    self.driver.measures.note("late_s", late)
                    self._cycle(steps)
            except SimulationError as error:
                self.get_logger().error(f"{error} The arm is put back to its start.")
                with self.lock:
                    self._put(start_angles(self._value))

    def _wait_for_command(self) -> None:
        """Of a client that is late: time stands still for it as long as the patience lasts."""
        end = time.monotonic() + (self._value("patience") if self._clock_stream is not None else 0.0)
        commanded, self._commanded = self._commanded, False
        while commanded and not self._commanded and time.monotonic() < end and not self._end:
            time.sleep(COMMAND_LOOK_S)
            with self.lock:
                self._commanded = self._commands.take() > 0

    def _cycle(self, steps: int) -> None:
        """Commands, physics, states. More than one step catches up after a pause of the machine."""
        driver, period_ns = self.driver, round(self.period * 1e9)
        self._commanded = self._commands.take() > 0 or self._commanded
        self._take_hand()
        simulated_time = self._clock_stream is not None
        now_ns = self._now_ns()
        for i in range(steps):
            driver.step(now_ns - (steps - 1 - i) * period_ns)
        self._stamp_ns = round(driver.world.time * 1e9) if simulated_time else time.time_ns()
        if self._clock_stream is not None:
            self._clock_stream.send(self._stamp_ns)
        self._status.publish()
        self._states.publish(self._stamp_ns)

    def _take_hand(self) -> None:
        world, data = self.driver.world, self._hands.take()
        if data is not None:
            with contextlib.suppress(UrAdmittanceError):  # not a wrench: not a hand
                self._hand_reader.read(data, self._hand)
                if np.isfinite(self._hand).all():
                    self._start_push(self._hand, HAND_TIMEOUT)
        if self._hand_until is not None and world.time >= self._hand_until:
            world.let_go()
            self._hand_until = None

    def _start_push(self, wrench: Any, duration: float) -> None:
        self.driver.world.push(wrench)
        self._hand_until = self.driver.world.time + duration

    # what people ask for

    def _push(self) -> str:
        wrench, duration = self._value("push.wrench"), self._value("push.duration")
        with self.lock:
            self._start_push(wrench, duration)
        return f"pushing with {wrench} (base axes, N and Nm) for {duration:g} s"

    def _let_go(self) -> str:
        with self.lock:
            self.driver.world.let_go()
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
        if np.abs(self.driver.world.qd).max() > AT_REST:
            raise SimulationError("set_environment refused: the arm moves; wait until it stands.")
        world = self._new_world(environment)
        with self.lock:
            world.reset(self.driver.world.q)
            self.driver.place(world)
            self._hand_until = None
        return f"environment: {kind}"

    def _reset(self) -> str:
        with self.lock:
            self._put(start_angles(self._value))
        return "the arm is back at its start"

    def _put(self, q: Any) -> None:
        """Here, at once."""
        self.driver.world.reset(q)
        self.driver.place(self.driver.world)
        self._hand_until = None

    def _switch(self) -> str:
        name = self._value("switch.to")
        return self._status.switch([] if name == "none" else [name])

    def _report(self) -> str:
        driver = self.driver
        with self.lock:
            return driver.measures.as_json(
                driver=self._value("driver"),
                active=driver.controllers.active,
                held=getattr(driver.controllers.trajectory.get(driver.controllers.active), "why_held", ""),
                failed=driver.controllers.failed,
                program_running=driver.robot.program_running,
                robot_mode=driver.robot.mode.name,
                safety_mode=driver.robot.safety.name,
            )

    def _answer_report(self, request: Any, response: Any) -> Any:
        """Not in the log: tests ask often."""
        response.success, response.message = True, self._report()
        return response

    def _clear_report(self) -> str:
        with self.lock:
            self.driver.measures.clear()
            self.driver.robot.stops = []
        return "the report starts again"

    def _new_world(self, environment: Environment | None) -> World:
        return new_world(self._value, self.model, environment, self.period)

    def _check(self, parameters: list[Parameter]) -> SetParametersResult:
        """All of them or none."""
        given = {parameter.name: parameter.value for parameter in parameters}
        scaling, kind = given.get("speed_scaling", self.driver.slider), given.get("environment.kind", "none")
        try:
            if not 0.0 <= scaling <= 1.0:
                raise ParameterError(f"speed_scaling = {scaling}: must be 0 to 1", "speed_scaling")
            if kind not in get_args(Kind):
                allowed = ", ".join(get_args(Kind))
                raise ParameterError(f"environment.kind = {kind!r}: must be one of {allowed}", "environment.kind")
            tcp = self._pendant_tcp(given)
        except ParameterError as error:
            return SetParametersResult(successful=False, reason=str(error))
        self.driver.slider, self._states.tcp = scaling, tcp
        if "digital_inputs" in given:
            self._status.set_inputs(given["digital_inputs"])
        self.driver.refusing = given.get("refuse", self.driver.refusing)
        return SetParametersResult(successful=True)

    def _pendant_tcp(self, given: dict[str, Any]) -> PendantTcp:
        names = ("tcp", "payload", "center_of_gravity")
        values = [given.get(f"pendant.{name}", self._value(f"pendant.{name}")) for name in names]
        return PendantTcp(*values)

    def finish(self) -> None:
        self._end = True
        self._thread.join(timeout=2.0)
        self._hands.destroy()
        self._commands.destroy()
        for node in self.beside:
            node.destroy_node()


def main() -> None:
    sys.exit(run(SimNode))


if __name__ == "__main__":
    main()
