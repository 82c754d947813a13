"""admittance_node: the admittance controller as a managed ROS 2 node.

    configure    wait (with growing pauses, saying for what) for robot_description, frames, joint states and a wrench;
                 build the controller; start the loop (control_thread.py), which ticks but sends nothing
    activate     refuse when somebody else publishes commands or nobody listens; latch the pose; comply
    deactivate   slow down inside the limits, hold, give the command topic back. A fault does the same by itself; then
                 ~/reset_fault and activate lead back
    cleanup      stop the loop

The last command is a stop in every case: deactivate, fault, SIGINT, SIGTERM, an exception in the loop. With a name, a
log or the page, other programs on this computer see and ask the controller as they do without ROS.
"""

import gc
import math
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from rclpy.clock import Clock, ClockType

from ur_admittance.control.go_to import Goal, Trip
from ur_admittance.core.motion.following import STOPPED_ROBOT
from ur_admittance.core.records import Mode
from ur_admittance.errors import LifecycleError, ParameterError
from ur_admittance.params import Parameters
from ur_admittance.robots.ros import warn_of_missing
from ur_admittance.robots.ros.command_path import not_alone
from ur_admittance.robots.ros.known_frames import RobotSearch
from ur_admittance.robots.ros.ros_robot import RosRobot, RosSettings
from ur_admittance.robots.ros.sensor_place import SensorWatch
from ur_admittance.ros.asked_goals import offer_goals
from ur_admittance.ros.compliant_arm import CompliantArm, next_log, stages_of
from ur_admittance.ros.life_cycle import LONGEST_NAME, Autostart, ManagedNode, unique_name
from ur_admittance.ros.node_run import offer, run, say
from ur_admittance.ros.node_topics import StateTopic, state_of
from ur_admittance.ros.parameters import OPTIONS, SchemaParameters, option_value
from ur_admittance.runtime.mailbox import ACTIVATIONS, apply_request
from ur_admittance.runtime.report import LoopReport

STATE_PERIOD_S = 0.2
OF_THE_PROGRAM = ("activate", "duration", "trip")  # beside the options of the node


class AdmittanceNode(SchemaParameters, ManagedNode):
    """Everything here runs in the executor's thread; the loop is asked with `thread.call`."""

    def __init__(
        self,
        parameters: Parameters | None = None,
        activate: bool = True,
        duration: float | None = None,
        attended: bool = False,
        trip: Trip | None = None,
        **options: Any,
    ) -> None:
        """parameters: defaults of this node; activate, attended: of `Autostart`; duration: end this long [s] after the
        start by itself; trip: go there, then end; options: defaults of those above."""
        super().__init__("admittance_node")
        self._duration, self._began, self._trip = duration, math.inf, trip
        self.declare_options({name: (options.get(name, row[0]), *row[1:]) for name, row in OPTIONS.items()})
        RosSettings(output=self.option("output"))  # refuses what it does not know, as does
        stages_of(self)
        self.declare_schema(self.calibrated(self.prefixed(parameters or Parameters())))
        self._log = Path(self.option("log")) if self.option("log") else None
        if self._log is not None:
            from ur_admittance.recording.log_writer import check_new

            check_new(self._log)
        warn_of_missing(self)
        self.told_to_end = threading.Event()
        self.arm: CompliantArm | None = None  # while configured
        self.report: LoopReport | None = None  # of the last loop
        self.failure = ""  # why it ended by itself
        self._stopped = False  # the last activation did not end by a person's wish
        self.search = RobotSearch(self, float(self.option("startup_timeout")))
        self.sensor = SensorWatch(self)
        self.state_topic = StateTopic(self)
        offer(
            self,
            zero_ft_sensor=self._zero,
            zero_free_tool=lambda: self._zero(tool_is_free=True),
            reset_desired_pose=lambda: self._ask("latch_reference", "the reference is where the tool is now"),
            stop=self._stop,
            reset_fault=self._reset_fault,
            retreat=self._retreat,
            resume_stages=lambda: self._ask("resume_stages", "the stages lead again"),
            activate_with_load=self._activate_with_load,
        )
        offer_goals(self, self._go)
        self._accept_load = False
        self._orders: deque[str] = deque()  # transitions that other programs asked for
        self._looks = 0
        self.autostart = Autostart(self, bool(self.option("autostart")), activate, attended)
        steady = Clock(clock_type=ClockType.STEADY_TIME)  # the supervision goes on whatever /clock does
        self.create_timer(STATE_PERIOD_S, self._look, clock=steady)

    # -- life cycle ---------------------------------------------------------------------------------------------

    def configure(self) -> None:
        self.arm = CompliantArm(self, self.controller_name, next_log(self._log), {"request": self._asked})

    def activate(self) -> None:
        accept_load, self._accept_load = self._accept_load, False  # for this once, whatever becomes of it
        arm = self._configured()
        if self.search.changed():
            raise LifecycleError("robot_description has changed since configure; clean up and configure again.")
        self.sensor.activate(arm.robot.listening(), arm.robot.model, arm.controller)
        if motion := arm.controller.own_motion:
            self.get_logger().warning(f"the arm moves by itself now: {motion}")
        with self.autostart.remembered():
            arm.begin(accept_load)
        self._stopped = False

    def deactivate(self) -> None:
        if self.arm is not None:
            self.arm.end()

    def cleanup(self) -> None:
        arm, self.arm = self.arm, None
        self._orders.clear()
        if arm is not None:
            arm.close()
            self.report, self.failure = arm.thread.report, arm.thread.failure

    def finish(self) -> None:
        """At the end of the process."""
        stopped = self._stopped or (self.arm is not None and self.arm.controller.mode == Mode.FAULT)
        self.cleanup()
        self.autostart.close(stopped)

    def asked(self) -> None:
        self.autostart.end()

    def _configured(self) -> CompliantArm:
        if self.arm is None:
            raise LifecycleError("the node is not configured.")
        return self.arm

    def use_frames(self, robot: RosRobot) -> None:
        """Sensor and TCP from the frames that messages and parameters name."""
        self.sensor.configure(robot.listening(), robot.model)
        if self.option("tcp_frame"):
            self.change_parameters(self.search.tcp(self.parameters, self.option("tcp_frame")))

    @property
    def controller_name(self) -> str | None:
        """None: other programs do not see it, which saves 1.5 % of a core. With log or dashboard alone the name is the
        node's."""
        if self.option("controller_name") or not (self._log or self.option("dashboard")):
            return str(self.option("controller_name")) or None
        name = unique_name(self)
        return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 9]}-{crc32(name.encode()):08x}"

    # -- five times per second ---------------------------------------------------------------------------------

    def _look(self) -> None:
        """Notice faults, other publishers and a new description; tell the state; start by itself, once, if asked to."""
        self._looks += 1
        arm = self.arm
        if arm is not None and arm.thread.done:
            if not arm.thread.alive:
                self.told_to_end.set()
            return
        if arm is not None:
            self._look_at(arm)
        if self.autostart.pending:
            self.autostart.look()
        elif self._duration is not None and self._began == math.inf and self.life != "unconfigured":
            self._began = time.monotonic()
        arm = self.arm
        state = state_of(None if arm is None else arm.controller, self.life, self.refusal)
        if arm is not None and (inputs := arm.robot.inputs) is not None:
            state |= {"ticks": arm.thread.ticks, "stalls": arm.thread.stalls, "malformed": inputs.malformed}
        self.state_topic.publish(state, force=self._looks % 5 == 0)
        if self._trip is not None and self._over(self._trip):
            self.told_to_end.set()
        if self._duration is not None and time.monotonic() >= self._began + self._duration:
            self.told_to_end.set()
        if self._looks % 25 == 0:
            gc.collect()  # the collector is off for the loop's sake; what is left after freezing is little

    def _look_at(self, arm: CompliantArm) -> None:
        controller = arm.controller
        arm.tell_news()
        if arm.robot.inputs is not None and (strangers := arm.robot.inputs.strangers()):
            self.get_logger().warning(strangers)
        if controller.parameters is not self.parameters:  # the page or auto-zero has changed some
            self.show_parameters(controller.parameters)
        while self._orders:
            order = self._orders.popleft()
            if order in ACTIVATIONS and self.life == "inactive":
                self._accept_load = order != "activate"
                self.trigger_activate()
            elif order == "deactivate" and self.life == "active":
                self.trigger_deactivate()
            elif order == "retreat":
                say(self, self._retreat)
        if self.life == "inactive" and arm.end_retreat():
            self.get_logger().info(controller.reason)
        robot = arm.robot
        if self.life != "active" or robot.path is None or robot.inputs is None:
            self.refusal = arm.thread.failure or self.refusal
            return
        if controller.mode in (Mode.FAULT, Mode.INACTIVE) or not arm.thread.alive:
            told = robot.complaint if controller.status in STOPPED_ROBOT else ""
            reason = f"stopped: {told}" if told else controller.reason
            self._stop_because(f"{reason} ({arm.thread.failure})" if arm.thread.failure else reason)
            return
        problem = self.sensor.problem(robot.inputs, robot.model)
        if self._looks % 2 == 0:
            output = robot.path.output
            others = output.others()
            if others:
                self._stop_because(not_alone(output.topic, others))
                return
            if self.search.changed():
                self._stop_because("robot_description has changed; clean up and configure again.")
                return
            problem = problem or robot.inputs.crowd(patient=True)
        if problem:
            robot.complain(problem)  # the loop makes a fault of it

    def _stop_because(self, sentence: str) -> None:
        self.get_logger().error(sentence)
        self._stopped = True
        self.trigger_deactivate()
        self.refusal = sentence

    # -- parameters, services, messages ---------------------------------------------------------------------------

    def in_force(self) -> Parameters:
        return self.parameters if self.arm is None else self.arm.controller.parameters

    def take_over(self, candidate: Parameters) -> None:
        if self.arm is not None:
            self.arm.controller.replace_parameters(candidate)

    def check_other(self, parameter: Any) -> None:
        if parameter.name == "use_sim_time" and self.arm is not None:
            raise ParameterError("use_sim_time: must not change while the node is configured; clean up first.")

    def parameters_shown(self, parameters: Parameters) -> None:
        if self.arm is not None:
            self.arm.set_duration(parameters.trajectory_duration)

    def _zero(self, tool_is_free: bool = False) -> str:
        arm = self._configured()
        if self.life == "inactive":
            arm.thread.call(lambda: arm.controller.check_zeroing(tool_is_free))
            sensor, tool = arm.controller.parameters.sensor, arm.controller.parameters.tool
            plain = not any(sensor.bias) and tool.mass == 0.0  # else both zeros would be taken off
            if plain and arm.robot.zero_in_driver():
                return "the driver has zeroed the robot's own sensor"
        change = arm.thread.call(lambda: arm.controller.zero_ft_sensor(tool_is_free))
        self.show_parameters(arm.controller.parameters)
        return f"sensor.bias changed by {np.round(change, 3).tolist()} (N, Nm)"

    def _ask(self, what: str, answer: str) -> str:
        """Let the loop call that method of the controller."""
        arm = self._configured()
        arm.thread.call(getattr(arm.controller, what))
        return answer

    def _go(self, goal: Goal) -> str:
        arm = self._configured()
        return f"{arm.thread.call(lambda: arm.controller.go_to(goal)).sentence}: {goal}; ~/state says how it ends"

    def _over(self, trip: Trip) -> bool:
        """Whether the trip has ended, or cannot begin."""
        arm = self.arm
        if arm is None or (self.life != "active" and trip.going is None):
            return not self.autostart.pending
        return not arm.thread.alive or arm.thread.call(lambda: trip(arm.controller))

    def _stop(self) -> str:
        self.autostart.end()
        if self.arm is not None and self.arm.controller.retreating:
            self.arm.thread.call(self.arm.controller.deactivate)
            return "the retreat is stopped"
        if self.life != "active":
            return "the arm is not being moved by this node"
        self.trigger_deactivate()
        return "stopped; activate to go on"

    def _reset_fault(self) -> str:
        self._configured().reset_fault()
        self.refusal = ""
        return "the fault is reset; activate to go on"

    def _activate_with_load(self) -> str:
        """By somebody who knows the force on the tool."""
        if self.life != "inactive":
            raise LifecycleError(f"activate_with_load refused: the node is {self.life}.")
        self.autostart.end()
        self._accept_load = True
        self.trigger_activate()
        if self.life != "active":
            raise LifecycleError(f"not activated: {self.refusal}")
        return "active; the arm yields to the force on its tool"

    def _retreat(self) -> str:
        if self.life != "inactive":
            raise LifecycleError(f"retreat refused: the node is {self.life}.")
        self._configured().retreat()
        self.refusal = ""
        return "the arm goes back; ~/state tells how it ends, ~/stop ends it"

    def _asked(self, controller: Any, value: Any) -> str:
        """A request of another program, in the loop's thread. Transitions are the executor's, within 0.2 s; slowing
        down does not wait for it."""
        if value in (*ACTIVATIONS, "deactivate", "stop"):
            self.autostart.end()
        if value in ACTIVATIONS:
            if self.life != "inactive":
                raise LifecycleError(f"{value} refused: the node is {self.life}.")
            controller.check_activation(value != "activate" or bool(self.option("accept_load")))
            self._orders.append(value)
            return "activation requested"
        if value == "retreat":
            self._orders.append("retreat")
            return "retreat requested"
        answer = apply_request(controller, value)
        if value in ("stop", "deactivate"):
            self._orders.clear()  # a stop has the last word
            self._orders.append("deactivate")
        elif value == "reset_fault":
            self.refusal = ""
        return answer


def run_ros(parameters: Parameters, say: Callable[[str], None], **options: Any) -> int:
    """The node as a program of the command line: configured and activated by itself; options: of the node. Returns the
    exit code; 1: it ended in a fault, the loop failed, or the recording is incomplete."""
    for name, value in options.items():
        if name in OPTIONS:
            default, _, *bounds = OPTIONS[name]
            options[name] = option_value(name, default, value, *bounds)
        elif name not in OF_THE_PROGRAM:
            raise ParameterError(
                f"{name} is not an option of admittance_node: must be one of {', '.join(OPTIONS)}.", name
            )
    nodes: list[AdmittanceNode] = []

    def make() -> AdmittanceNode:
        nodes.append(AdmittanceNode(parameters, attended=True, **{**options, "autostart": True}))
        return nodes[-1]

    code = run(make, [])
    report, failure = (nodes[0].report, nodes[0].failure or nodes[0].autostart.refusal) if nodes else (None, "")
    if failure:
        say(failure)
    if report is not None:
        say(str(report))
        failure = failure or report.recording_problem
    return code or int(bool(failure) or (report is not None and report.mode == Mode.FAULT))


def main() -> None:
    sys.exit(run(AdmittanceNode))


if __name__ == "__main__":
    main()
