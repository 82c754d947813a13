"""An arm behind ROS 2 topics as a ``Robot``: joint states and wrench in, commands to a ros2_control controller out.

Messages are taken by the clock's `wait` (clock.py), so that `read` only completes the sample: the loop waits for a
wrench itself, as raw bytes, and no executor is in its path.
"""

import contextlib
import os
import sys
import threading
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import rclpy
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from ur_admittance.core.records import AT_REST, STOPPED, Status
from ur_admittance.core.views import SampleFields, vector
from ur_admittance.errors import LifecycleError, ParameterError, RobotError
from ur_admittance.model import RobotModel
from ur_admittance.robots.ros.action_output import ActionOutput
from ur_admittance.robots.ros.clock import RosClock
from ur_admittance.robots.ros.inputs import WRENCH_TOPIC, Inputs
from ur_admittance.robots.ros.outputs import Output, TrajectoryOutput, VelocityOutput
from ur_admittance.robots.ros.search import RobotSearch
from ur_admittance.runtime.braking import BRAKING, slow_down
from ur_admittance.runtime.robot import Robot, RobotInfo

Array = NDArray[np.float64]

OUTPUTS = ("trajectory", "velocity", "action")
MATCH_S = 3.0  # for a controller to be found on the command topic
LAST_COMMANDS = 10  # after standstill: one lost message must not leave the arm moving
STOP_TIME_S = 3.0
ZERO_READINGS = 50


@dataclass(frozen=True)
class RosSettings:
    """How the arm is reached. The frames and joints are those of robot_description."""

    rate: float = 500.0  # [Hz]
    base_link: str = "base_link"
    tip_link: str = "tool0"
    joints: tuple[str, ...] = ()  # must be the six of the description; empty: not checked
    wrench_topic: str | None = WRENCH_TOPIC  # None: an arm without a sensor
    output: str = "trajectory"  # trajectory, velocity or action
    trajectory_duration: float = 0.002  # [s]
    trajectory_velocities: bool = True
    driving: bool = True  # from connect on; False: until then somebody else moves the arm
    sim_time: bool = False  # time is that of /clock; also when the node has use_sim_time
    timeout: float = 20.0  # [s] for description and first messages

    def __post_init__(self) -> None:
        if self.output not in OUTPUTS:
            raise ParameterError(f"output = {self.output!r}: must be one of {', '.join(OUTPUTS)}.", "output")


class RosRobot(Robot):
    """``with RosRobot() as robot:`` makes a node of its own; inside a node, hand that over."""

    def __init__(
        self, settings: RosSettings | None = None, node: Node | None = None, search: RobotSearch | None = None
    ) -> None:
        self.settings = settings or RosSettings()
        self.driving = False  # commands are sent
        self._own = contextlib.ExitStack()  # the node, where it is ours
        self._node, self._search = node, search
        self.inputs: Inputs | None = None
        self.output: Output | None = None
        self._model: RobotModel | None = None
        self._fields: SampleFields | None = None
        self._command: Any = None
        self._sent_q, self._sent_qd = np.zeros(6), np.zeros(6)
        self._sent = False

    # -- the protocol -------------------------------------------------------------------------------------------

    def connect(self) -> RobotInfo:
        """Wait for description, joint states and wrench; then take the command topic, unless told not to drive."""
        self.close()
        s = self.settings
        if self._node is None and s.output == "action":
            raise RobotError("output = 'action': works inside a node that spins; use trajectory or velocity.")
        node = self._node or self._own.enter_context(_own_node())
        search = self._search or RobotSearch(node, s.timeout)
        try:
            search.wait_until(search.missing_description)
            model = self._model = search.model(s.base_link, s.tip_link, s.joints)
            sim_time = s.sim_time or bool(node.get_parameter("use_sim_time").value)
            inputs = self.inputs = Inputs(node, model.joint_names, s.wrench_topic, sim_time)
            search.wait_until(lambda: (inputs.poll(), inputs.missing())[1])
            self.output = self._new_output(node, model)
            if s.driving:
                self.take_command()
                self.driving = True
        except BaseException:
            self.close()
            raise
        sentences = [f"Commands go to {self.output.topic}." if s.driving else "Somebody else drives this arm."]
        return RobotInfo(model.name, model, s.rate, model.joint_names, False, tuple(sentences))

    @property
    def model(self) -> RobotModel:
        """Of the description; known after connect."""
        if self._model is None:
            raise RobotError("not connected to the arm's topics: call connect() first.")
        return self._model

    def clock(self) -> RosClock:
        return RosClock(self._connected(), self.settings.rate)

    def read(self, sample: Any) -> None:
        """Complete the sample: polling has written angles, speeds and wrench into it."""
        inputs, fields = self.inputs, self._fields
        if fields is None or sample is not fields.sample:
            fields = self._fields = SampleFields(sample)
            if inputs is not None:
                inputs.bind(sample)
        if inputs is None:
            fields.external_status[0] = Status.CONNECTION_LOST
            return
        elapsed, joint_age, wrench_age = inputs.times_ns()
        fields.dt[0], fields.joint_age[0], fields.wrench_age[0] = elapsed * 1e-9, joint_age * 1e-9, wrench_age * 1e-9
        fields.stamp_ns[0] = inputs.stamp_ns()
        fields.speed_driven[0] = isinstance(self.output, VelocityOutput)
        rejected = self.driving and self.output is not None and self.output.problem()
        fields.external_status[0] = Status.COMMAND_REJECTED if rejected else Status.OK

    def write(self, command: Any) -> Array:
        """Send the command while driving; returns the positions or speeds that were sent."""
        if command is not self._command:
            self._command = command
            self._q_command, self._qd_command = vector(command, "q"), vector(command, "qd")
        output = self.output
        if self.driving and output is not None:
            self._sent_q[:] = self._q_command
            self._sent_qd[:] = self._qd_command
            self._sent = True
            output.send(self._sent_q, self._sent_qd)
        return self._sent_qd if self.settings.output == "velocity" else self._sent_q

    def stop(self) -> None:
        """Brake what we drive, and wait until it stands still. An arm that others drive is theirs to stop."""
        inputs, output = self.inputs, self.output
        if inputs is None or output is None or not self.driving or not self._sent:
            return
        clock, end = self.clock(), time.monotonic() + STOP_TIME_S
        q, qd = self._sent_q, self._sent_qd
        if not (np.isfinite(q).all() and np.isfinite(qd).all()):
            q[:], qd[:] = inputs.q, 0.0
        standing = 0  # commands
        while time.monotonic() < end:
            if not clock.wait():
                continue
            if standing > LAST_COMMANDS and np.abs(inputs.qd).max() < STOPPED:
                return
            slow_down(qd, BRAKING * clock.period)
            q += qd * clock.period
            output.send(q, qd)
            standing += not qd.any()
        raise RobotError(f"no joint state shows that the arm stands still {STOP_TIME_S:g} s after the stop.")

    def zero_ft_sensor(self) -> None:
        """Let the sensor read zero at its present load: from now on the mean of some readings is taken off."""
        inputs = self._connected()
        inputs.poll()
        if np.abs(inputs.qd).max() > AT_REST:
            raise RobotError("the arm moves: the sensor can be zeroed at standstill only.")
        total, count, last = np.zeros(6), 0, inputs.wrenches
        end = time.monotonic() + 10.0 * ZERO_READINGS / self.settings.rate + 1.0
        while count < ZERO_READINGS:
            inputs.wait(round(1e9 / self.settings.rate))
            inputs.poll()
            if inputs.wrenches != last:
                total += inputs.wrench
                count, last = count + 1, inputs.wrenches
            if time.monotonic() > end:
                raise RobotError(f"only {count} of {ZERO_READINGS} wrenches came: the sensor was not zeroed.")
        inputs.zero = total / count if inputs.zero is None else inputs.zero + total / count

    def close(self) -> None:
        """Let go of topics and node; the arm must stand still already."""
        self.driving = self._sent = False
        self.give_command_back()
        inputs, self.inputs, self.output, self._fields = self.inputs, None, None, None
        if inputs is not None:
            inputs.destroy()
        self._own.close()

    # -- who commands -------------------------------------------------------------------------------------------

    def take_command(self) -> None:
        """Open the command topic, for us alone. RobotError, LifecycleError: somebody else has it, or nobody listens."""
        output = self.output
        assert output is not None
        self._sent = False  # what was sent before somebody else moved the arm counts no more
        others = output.others()
        if others:
            raise LifecycleError(not_alone(output.topic, others))
        output.open()
        end = time.monotonic() + MATCH_S
        while not output.listeners():
            if time.monotonic() > end:
                nobody = output.nobody()
                output.close()
                raise RobotError(nobody)
            time.sleep(0.01)

    def give_command_back(self) -> None:
        """Close the command topic."""
        if self.output is not None:
            self.output.close()

    # -- inside -------------------------------------------------------------------------------------------------

    def _connected(self) -> Inputs:
        if self.inputs is None:
            raise RobotError("not connected to the arm's topics: call connect() first.")
        return self.inputs

    def _new_output(self, node: Node, model: RobotModel) -> Output:
        s = self.settings
        if s.output == "velocity":
            return VelocityOutput(node)
        if s.output == "action":
            return ActionOutput(node, model.joint_names, s.trajectory_duration)
        return TrajectoryOutput(node, model.joint_names, s.trajectory_duration, s.trajectory_velocities)


def not_alone(topic: str, others: list[str]) -> str:
    return f"{', '.join(sorted(others))} also publishes on {topic}: an arm has one commander"


def use_own_prefix() -> None:
    """The wheels do not set AMENT_PREFIX_PATH; a ROS installation does."""
    os.environ.setdefault("AMENT_PREFIX_PATH", sys.prefix)


@contextlib.contextmanager
def _own_node() -> Any:
    """A node for as long as the block lasts. Signals stay with the program."""
    use_own_prefix()
    context = rclpy.Context()
    rclpy.init(args=[], context=context, signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = Node("ur_admittance_command", context=context)
        node.told_to_end = threading.Event()  # nobody tells this one
        try:
            yield node
        finally:
            node.destroy_node()
    finally:
        context.try_shutdown()
