"""admittance_node: the admittance controller as a managed ROS 2 node.

    configure    wait (with growing pauses, saying for what) for robot_description, frames, joint states and a wrench;
                 build the controller; start the loop (loop.py), which ticks but sends nothing
    activate     refuse when somebody else publishes commands or nobody listens; latch the pose; comply
    deactivate   slow down inside the limits, hold, give the command topic back. A fault does the same by itself; then
                 ~/reset_fault and activate lead back
    cleanup      stop the loop

The last command is a stop in every case: deactivate, fault, SIGINT, SIGTERM, an exception in the loop.
"""

import gc
import sys
import threading
import time
from typing import Any

import numpy as np
from rcl_interfaces.msg import ParameterDescriptor

from ur_admittance.calibration.file import with_calibration
from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import Mode, Status
from ur_admittance.errors import LifecycleError, ParameterError, RobotError, UrAdmittanceError
from ur_admittance.model import RobotModel
from ur_admittance.params import Parameters
from ur_admittance.robots.ros.action_output import ActionOutput
from ur_admittance.robots.ros.outputs import Output, TrajectoryOutput, VelocityOutput
from ur_admittance.robots.ros.robot import RosArm
from ur_admittance.ros.loop import ControlLoop
from ur_admittance.ros.managed import ManagedNode
from ur_admittance.ros.monitor import Monitor, StateTopic, state_of
from ur_admittance.ros.parameters import SchemaParameters
from ur_admittance.ros.references import References
from ur_admittance.ros.robot_search import FIRST_PAUSE, RobotSearch
from ur_admittance.ros.run import run
from ur_admittance.ros.services import offer

OUTPUTS = ("trajectory", "velocity", "action")
LONGEST_PAUSE = 10.0  # [s] between two attempts to start by itself
MATCH_S = 2.0  # for a controller to be found on the command topic
STATE_PERIOD_S = 0.2
REFERENCES_EVERY = 3  # ticks: one of the three topics in turn, each 55 times per second
ACTIVATION_S = 0.5
STOP_S = 5.0  # more than braking from any speed inside the limits takes
ACTION_DURATION = 0.5  # [s] default of trajectory_duration with the action

OPTIONS: dict[str, tuple[Any, str]] = {
    "output": ("trajectory", "where commands go: trajectory (topic), velocity (topic) or action"),
    "trajectory_velocities": (True, "false: positions only, for controllers that refuse a speed at the end"),
    "autostart": (False, "configure and activate by itself, and try again until it works"),
    "calibration_file": ("", "file of ur-admittance calibrate; parameters given otherwise have the last word"),
    "startup_timeout": (5.0, "how long configure waits for description, frames, joint states and wrench [s]"),
    "monitor_rate": (50.0, "of velocity and pose error [Hz]"),
    "tcp_frame": ("", "take the TCP from this frame of robot_description or /tf_static, in place of tool.tcp"),
    "realtime_priority": (0, "SCHED_FIFO priority of the loop, 1 to 99; 0: an ordinary thread"),
}


class AdmittanceNode(SchemaParameters, ManagedNode):
    """Everything here runs in the executor's thread; the loop is asked with `loop.call`."""

    def __init__(self) -> None:
        super().__init__("admittance_node")
        for name, (default, text) in OPTIONS.items():
            self.declare_parameter(name, default, ParameterDescriptor(description=text, read_only=True))
        if self.option("output") not in OUTPUTS:
            raise ParameterError(f"output = {self.option('output')!r}: must be one of {', '.join(OUTPUTS)}.", "output")
        base = Parameters()
        if self.option("output") == "action":
            base = base.changed({"trajectory_duration": ACTION_DURATION})
        if self.option("calibration_file"):
            base = with_calibration(base, self.option("calibration_file"))
        self.declare_schema(base)
        self.told_to_end = threading.Event()
        self.controller: AdmittanceController | None = None
        self.loop: ControlLoop | None = None
        self.arm: RosArm | None = None
        self.output: Output | None = None
        self.monitor: Monitor | None = None
        self.references: References | None = None
        self.robot = RobotSearch(self, float(self.option("startup_timeout")))
        self.state_topic = StateTopic(self)
        offer(
            self,
            zero_ft_sensor=self._zero_ft_sensor,
            reset_desired_pose=self._reset_desired_pose,
            stop=self._stop,
            reset_fault=self._reset_fault,
        )
        self._looks = 0
        self._retry_at, self._pause = time.monotonic(), FIRST_PAUSE
        self.create_timer(STATE_PERIOD_S, self._look, clock=None)
        self._look()

    def option(self, name: str) -> Any:
        return self.get_parameter(name).value

    # -- life cycle ---------------------------------------------------------------------------------------------

    def configure(self) -> None:
        sim_time = bool(self.get_parameter("use_sim_time").value)
        self.robot.wait_until(self.robot.missing_description)
        model = self.robot.model(self.parameters)
        changes = self.robot.frames_of(self.parameters, self.option("tcp_frame"))
        if changes:
            self.change_parameters(changes)
        controller = AdmittanceController(model, self.parameters)
        controller.configure(self.get_logger().info)
        arm = RosArm(self, model.joint_names, 1.0 / self.parameters.control_rate, sim_time=sim_time)
        try:
            self.robot.wait_until(lambda: (arm.poll(), arm.missing())[1])
            frame = arm.wrench_reader.frame_id
            if frame and frame != self.parameters.ft_frame:
                self.get_logger().warning(f"wrenches come in frame {frame}, but ft_frame is {self.parameters.ft_frame}")
            self.output = self._new_output(model)
        except UrAdmittanceError:
            arm.destroy()
            raise
        self._monitor_every = max(1, round(self.parameters.control_rate / max(0.1, self.option("monitor_rate"))))
        self.monitor = Monitor(self, controller, arm.stamp_ns)
        self.references = References(self, self.parameters.base_link)
        self.controller, self.arm = controller, arm
        self.loop = ControlLoop(
            controller,
            arm,
            self._after_tick,
            int(self.option("realtime_priority")),
            self.get_logger().info,
            self.get_logger().error,
        )
        self.loop.start()

    def _after_tick(self, ticks: int) -> None:
        if ticks % REFERENCES_EVERY == 0 and self.references is not None and self.controller is not None:
            self.references.poll(self.controller)
        if ticks % self._monitor_every == 0 and self.monitor is not None:
            self.monitor.publish()

    def activate(self) -> None:
        controller, loop, output = self._running()
        if self.robot.changed():
            raise LifecycleError("robot_description has changed since configure; clean up and configure again.")
        if controller.mode == Mode.FAULT:
            raise LifecycleError(f"the controller is in fault ({controller.reason}); call ~/reset_fault first.")
        others = output.others()
        if others:
            raise LifecycleError(_not_alone(output.topic, others))
        output.open()
        try:
            if not loop.wait_for(lambda: output.listeners() > 0, MATCH_S):
                raise RobotError(output.nobody())

            def begin() -> None:
                controller.state["has_command"] = 0  # others may have moved the arm: start from where it is now
                controller.activate()
                self.arm.output = output  # type: ignore[union-attr]
                loop.driving = True

            loop.call(begin)
            if not loop.wait_for(lambda: controller.mode == Mode.ACTIVE, ACTIVATION_S):
                raise RobotError(controller.reason)
        except UrAdmittanceError:
            loop.driving = False
            output.close()
            raise

    def deactivate(self) -> None:
        if self.loop is None or not self.loop.driving:
            return
        controller, loop, output = self._running()
        if controller.mode == Mode.ACTIVE:
            loop.call(controller.deactivate)
        if not loop.wait_for(loop.stands, STOP_S):
            self.get_logger().error("the arm was still told to move when the node gave up its topic")
        loop.finish_commands()
        output.close()

    def cleanup(self) -> None:
        if self.loop is None:
            return
        self.deactivate()
        self.loop.stop()
        for part in (self.arm, self.monitor, self.references):
            part.destroy()  # type: ignore[union-attr]
        if self.controller is not None:
            self.controller.configured = False
        self.loop = self.arm = self.monitor = self.references = self.controller = self.output = None

    def finish(self) -> None:
        """The end of the process: the arm stands before anything is torn down."""
        self.deactivate()
        self.cleanup()

    def _running(self) -> tuple[AdmittanceController, ControlLoop, Output]:
        if self.controller is None or self.loop is None or self.output is None:
            raise LifecycleError("the node is not configured.")
        return self.controller, self.loop, self.output

    def _new_output(self, model: RobotModel) -> Output:
        p = self.parameters
        if self.option("output") == "velocity":
            return VelocityOutput(self)
        names, duration = model.joint_names, p.trajectory_duration
        if self.option("output") == "action":
            return ActionOutput(self, names, duration)
        return TrajectoryOutput(self, names, duration, bool(self.option("trajectory_velocities")))

    # -- five times per second ---------------------------------------------------------------------------------

    def _look(self) -> None:
        """Notice faults, other publishers and a new description; tell the state; start by itself if asked to."""
        self._looks += 1
        if self.controller is not None and self.loop is not None and self.output is not None:
            self._look_at_loop(self.controller, self.loop, self.output)
        elif self.option("autostart") and time.monotonic() >= self._retry_at:
            self._start_by_itself()
        state = state_of(self.controller, self.life, self.refusal)
        if self.loop is not None and self.arm is not None:
            state |= {"ticks": self.loop.ticks, "stalls": self.loop.stalls, "malformed": self.arm.malformed}
        self.state_topic.publish(state, force=self._looks % 5 == 0)
        if self._looks % 25 == 0:
            gc.collect()  # the collector is off for the loop's sake; what is left after freezing is little

    def _look_at_loop(self, controller: AdmittanceController, loop: ControlLoop, output: Output) -> None:
        if self.references is not None and self.references.refused:
            self.get_logger().warning(self.references.refused)
            self.references.refused = ""
        if self.life != "active":
            return
        if self._looks % 2 == 0:
            others = output.others()
            if others:
                self._stop_because(_not_alone(output.topic, others))
                return
            if self.robot.changed():
                self._stop_because("robot_description has changed; clean up and configure again.")
                return
        if output.problem():
            loop.external_status = int(Status.COMMAND_REJECTED)
        if controller.mode == Mode.FAULT or not loop.alive:
            reason = output.problem() or controller.reason
            if loop.failure:
                reason += f" ({loop.failure})"
            self._stop_because(reason)

    def _stop_because(self, sentence: str) -> None:
        self.get_logger().error(sentence)
        self.trigger_deactivate()
        self.refusal = sentence

    def _start_by_itself(self) -> None:
        if self.life == "unconfigured":
            self.trigger_configure()
        if self.life == "inactive":
            self.trigger_activate()
            if self.life != "active":
                self.trigger_cleanup()
        self._retry_at = time.monotonic() + self._pause
        self._pause = min(2.0 * self._pause, LONGEST_PAUSE)

    # -- parameters and services --------------------------------------------------------------------------------

    def take_over(self, candidate: Parameters) -> None:
        if self.controller is None:
            return
        self.controller.replace_parameters(candidate)
        duration = candidate.trajectory_duration
        if self.loop is not None and self.output is not None and duration != self.parameters.trajectory_duration:
            output = self.output
            self.loop.call(lambda: output.set_duration(duration))

    def _zero_ft_sensor(self) -> str:
        controller, _, _ = self._running()
        change = controller.zero_ft_sensor()
        self.change_parameters({"sensor.bias": list(controller.parameters.sensor.bias)})
        return f"sensor.bias changed by {np.round(change, 3).tolist()} (N, Nm)"

    def _reset_desired_pose(self) -> str:
        controller, loop, _ = self._running()
        loop.call(controller.latch_reference)
        return "the reference is where the tool is now"

    def _stop(self) -> str:
        if self.life != "active":
            return "the arm is not being moved by this node"
        self.trigger_deactivate()
        return "stopped; activate to go on"

    def _reset_fault(self) -> str:
        controller, loop, _ = self._running()
        loop.external_status = 0
        loop.call(controller.reset_fault)
        if not loop.wait_for(lambda: controller.mode != Mode.FAULT, ACTIVATION_S):
            raise RobotError(f"the cause is still there; {controller.reason}.")
        self.refusal = ""
        return "the fault is reset; activate to go on"


def _not_alone(topic: str, others: list[str]) -> str:
    return f"{', '.join(sorted(others))} also publishes on {topic}: an arm has one commander"


def main() -> None:
    sys.exit(run(AdmittanceNode))


if __name__ == "__main__":
    main()
