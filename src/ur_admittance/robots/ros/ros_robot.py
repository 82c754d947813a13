"""An arm behind ROS 2 topics as a ``Robot``: joint states and wrench in, commands to a ros2_control controller out.

The loop's clock waits for a wrench (ros_clock.py), `read` takes the messages as raw bytes, and no executor is in the
loop's path.
"""

import contextlib
import threading
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import rclpy
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from std_srvs.srv import Trigger

from ur_admittance.core.records import AT_REST, COMMAND, STOPPED, Mode, Status, new
from ur_admittance.core.views import SampleFields, scalar, vector
from ur_admittance.errors import ParameterError, RobotError
from ur_admittance.model import RobotModel
from ur_admittance.params import Parameters
from ur_admittance.robots.ros import FOR_COMMANDS, use_own_prefix, warn_of_missing
from ur_admittance.robots.ros.command_path import OUTPUTS, CommandPath
from ur_admittance.robots.ros.driver_outputs import DriverOutputs
from ur_admittance.robots.ros.driver_status import RobotStatus
from ur_admittance.robots.ros.enabling_topic import KINDS, EnablingTopic
from ur_admittance.robots.ros.inputs import WRENCH_TOPIC, Inputs
from ur_admittance.robots.ros.known_frames import RobotSearch
from ur_admittance.robots.ros.polled import Question
from ur_admittance.robots.ros.ros_clock import RosClock
from ur_admittance.robots.ros.sensor_place import DRIVER_SENSOR
from ur_admittance.runtime.braking import BRAKING, slow_down
from ur_admittance.runtime.interfaces import NO_OWN_ZERO, Robot, RobotInfo
from ur_admittance.runtime.own_commands import OwnCommands

Array = NDArray[np.float64]

ACTIVE = int(Mode.ACTIVE)  # NumPy takes 3 us to compare a number with an Enum
STATUS_EVERY, CONTROLLER_EVERY = 4, 50  # cycles: a stop is noticed within 40 ms, an inactive controller in 0.2 s
LAST_COMMANDS = 10  # after standstill: one lost message must not leave the arm moving
STOP_TIME_S = 3.0
ZERO_SERVICE, ZERO_ANSWER_S = "io_and_status_controller/zero_ftsensor", 2.0


@dataclass(frozen=True)
class RosSettings:
    """How the arm is reached. The frames and joints are those of robot_description."""

    rate: float = 500.0  # [Hz]
    base_link: str = "base_link"
    tip_link: str = "tool0"
    joints: tuple[str, ...] = ()  # must be the six of the description; empty: not checked
    wrench_topic: str | None = WRENCH_TOPIC  # None: an arm without a sensor
    second_topic: str | None = None  # of a second force sensor; None: there is none
    enabling: str = "software"  # guiding.source: a topic or a digital input is read from the driver
    output: str = "trajectory"  # or velocity
    controller: str = ""  # of ros2_control; empty: the one that fits and is active
    trajectory_duration: float = 0.04  # [s] least time in which a trajectory leads to rest
    may_command: bool = True  # False: a program that only reads, to which the robot's stops do not matter
    driving: bool = True  # from connect on; False: until then somebody else moves the arm
    sim_time: bool = False  # time is that of /clock; also when the node has use_sim_time
    timeout: float = 20.0  # [s] for description and first messages

    def __post_init__(self) -> None:
        if self.output not in OUTPUTS:
            raise ParameterError(f"output = {self.output!r}: must be one of {', '.join(OUTPUTS)}.", "output")

    @classmethod
    def of(cls, p: Parameters, **others: Any) -> "RosSettings":
        """As the parameters have it; others: what they do not say."""
        return cls(
            rate=p.control_rate,
            base_link=p.base_link,
            tip_link=p.tip_link,
            trajectory_duration=p.trajectory_duration,
            enabling=p.guiding.source,
            **others,
        )


class RosRobot(Robot):
    """``with RosRobot() as robot:`` makes a node of its own; inside a node, hand that over."""

    def __init__(
        self, settings: RosSettings | None = None, node: Node | None = None, search: RobotSearch | None = None
    ) -> None:
        self.settings = settings or RosSettings()
        self.driving = False  # commands are sent
        self._own = contextlib.ExitStack()  # the node, where it is ours
        self._node, self._search = node, search
        self._here: Node | None = None  # the node in use while connected
        self.inputs: Inputs | None = None
        self.reads_second = self.settings.second_topic is not None
        self.enabling = KINDS
        self._enabling: EnablingTopic | None = None
        self.path: CommandPath | None = None
        self.status: RobotStatus | None = None
        self._complaint, self._obstacle = "", ""  # since the controller is active, and as of the last look
        self._active = False  # the controller, as of the last look at the robot
        self._mode: Any = None  # of the last command
        self._turn = 0
        self._model: RobotModel | None = None
        self._fields: SampleFields | None = None
        self._command: Any = None
        self._sent_q, self._sent_qd = np.zeros(6), np.zeros(6)
        self._sent = self._commanded = False  # commands have been sent; the last sample allows one
        self._now = self._sent_s = 0.0  # [s] of the last sample and of the last command, by the clock of the drive

    # -- the protocol -------------------------------------------------------------------------------------------

    def connect(self) -> RobotInfo:
        """Wait for description, joint states and wrench; then take the command topic, unless told not to drive."""
        self.close()
        s = self.settings
        node = self._node or self._own.enter_context(_own_node())
        search = self._search or RobotSearch(node, s.timeout)
        try:
            model = self._model = search.model(s.base_link, s.tip_link, s.joints)
            sim_time = s.sim_time or bool(node.get_parameter("use_sim_time").value)
            inputs = self.inputs = Inputs(node, model.joint_names, s.wrench_topic, sim_time, s.second_topic)
            search.wait_until(lambda: (inputs.poll(), inputs.missing())[1])
            if s.enabling != "software":
                self._enabling = EnablingTopic(node, s.enabling)
            self._here, self._own_commands = node, OwnCommands(model.velocity)
            if s.may_command:
                if self._node is None:  # others say so at their start
                    warn_of_missing(node, FOR_COMMANDS)
                self.status = RobotStatus(node)
                self.path = CommandPath(
                    node, model.joint_names, s.output, s.controller, s.trajectory_duration, 1.0 / s.rate
                )
            if s.driving:
                self.take_command()
                self.driving = True
        except BaseException:
            self.close()
            raise
        topic = self.path.output.topic if self.path is not None and s.driving else ""
        sentences = [f"Commands go to {topic}." if topic else "Somebody else drives this arm."]
        return RobotInfo(model.name, model, s.rate, model.joint_names, False, tuple(sentences))

    @property
    def model(self) -> RobotModel:
        """Of the description; known after connect."""
        if self._model is None:
            raise RobotError("not connected to the arm's topics: call connect() first.")
        return self._model

    def clock(self) -> RosClock:
        return RosClock(self.listening(), self.settings.rate)

    def read(self, sample: Any) -> None:
        inputs, path, fields = self.inputs, self.path, self._fields
        if fields is None or sample is not fields.sample:
            fields = self._fields = SampleFields(sample)
        if inputs is None:
            fields.external_status[0] = Status.CONNECTION_LOST
            return
        inputs.read(fields)
        if self._enabling is not None:
            inputs.malformed += self._enabling.read(fields, inputs.read_ns)
        self._commanded = self.driving and path is not None
        if path is not None:
            by_speeds = path.by_speeds
            self._now = time.monotonic() if by_speeds else 1e-9 * inputs.read_ns
            fields.speed_driven[0] = by_speeds
            fields.drive[0] = path.drive(self._commanded, self._now - self._sent_s)
        fields.external_status[0] = self._look_at_robot()

    def _look_at_robot(self) -> int:
        """What keeps the robot from taking commands: topics and services are looked at in turn, never waited for. While
        the controller is active a stop counts, be it over already; a fault remembers it from then on."""
        status, path = self.status, self.path
        if status is None or path is None:
            return Status.OK
        active = self.driving and (self._mode is None or self._mode[0] == ACTIVE)
        if active and not self._active:
            self._complaint = self._obstacle = ""
        elif not active:
            status.forget()
        self._active = active
        self._turn += 1
        if self._turn % STATUS_EVERY == 0:
            status.poll()
        if status.status != Status.OK:
            if self.driving:
                self._complaint = status.word
            return status.status
        if self.driving:
            if self._turn % CONTROLLER_EVERY == 0:
                self._obstacle = path.watch()
                self._complaint = self._complaint or self._obstacle
            if self._complaint if active else self._obstacle:
                return Status.COMMAND_REJECTED
        return Status.OK

    @property
    def complaint(self) -> str:
        """Why the robot takes no commands, in its own words; kept until it is commanded again. Empty: it does."""
        return self._complaint

    def complain(self, sentence: str) -> None:
        """From now on nothing is to be believed that the robot says: a fault, with this reason."""
        self._complaint = sentence

    def write(self, command: Any) -> Array:
        """Send the command while driving; returns the positions or speeds that were sent."""
        if command is not self._command:
            self._command = command
            self._q_command, self._qd_command = vector(command, "q"), vector(command, "qd")
            self._mode = scalar(command, "mode")
        path = self.path
        if self._commanded and self.driving and path is not None:
            self._send(path, self._q_command, self._qd_command)
        return self._sent_q if path is None or not path.by_speeds else self._sent_qd

    def _send(self, path: CommandPath, q: Array, qd: Array) -> None:
        self._sent_q[:], self._sent_qd[:], self._sent_s, self._sent = q, qd, self._now, True
        path.output.send(self._sent_q, self._sent_qd)

    def stop(self) -> None:
        """Brake what we drive, and wait until it stands still. An arm that others drive is theirs to stop."""
        inputs, path = self.inputs, self.path
        fields = self._fields
        if inputs is None or path is None or fields is None or not self.driving or not self._sent:
            return
        clock, end = self.clock(), time.monotonic() + STOP_TIME_S
        q, qd, command = self._sent_q.copy(), self._sent_qd.copy(), new(COMMAND)
        if not (np.isfinite(q).all() and np.isfinite(qd).all()):
            q[:], qd[:] = inputs.q, 0.0
        self._own_commands.follow(q, qd)
        standing = 0  # commands
        while time.monotonic() < end:
            if not clock.wait():
                continue
            self.read(fields.sample)
            if standing > LAST_COMMANDS and np.abs(inputs.qd).max() < STOPPED:
                return
            slow_down(qd, BRAKING * clock.period)
            q += qd * clock.period
            command["q"], command["qd"] = q, qd
            self._own_commands.fit(fields.sample, command)
            self._send(path, command["q"][0], command["qd"][0])
            standing += not qd.any()
        raise RobotError(f"no joint state shows that the arm stands still {STOP_TIME_S:g} s after the stop.")

    def zero_ft_sensor(self) -> None:
        """Let the robot's own sensor read zero at its present load. RobotError: the arm moves, or it is not its own."""
        inputs = self.listening()
        inputs.poll()
        if np.abs(inputs.qd).max() > AT_REST:
            raise RobotError("the arm moves: the sensor can be zeroed at standstill only.")
        if not self.zeroes_itself:
            raise RobotError(NO_OWN_ZERO)
        if not self.zero_in_driver():
            raise RobotError(
                f"the driver did not zero the robot's sensor ({ZERO_SERVICE}); is the robot's program running?"
            )

    @property
    def zeroes_itself(self) -> bool:
        """The driver zeroes the robot's own sensor, and only where that is the only one."""
        return self.inputs is not None and not self.reads_second and DRIVER_SENSOR in self.inputs.wrench_source()

    def zero_in_driver(self) -> bool:
        """Whether the driver has zeroed the sensor."""
        if not self.zeroes_itself:
            return False
        question = Question(self._here, Trigger, ZERO_SERVICE)
        try:
            answer: Any = question.ask(ZERO_ANSWER_S)
        finally:
            question.destroy()
        return answer is not None and bool(answer.success)

    def open_outputs(self) -> DriverOutputs:
        """Digital outputs, through the driver; RobotError where it cannot set them."""
        self.listening()
        return DriverOutputs(self._here)

    def close(self) -> None:
        """Let go of topics and node; the arm must stand still already."""
        self.driving = self._sent = False
        if self.path is not None:
            self.path.destroy()
        if self.inputs is not None:
            self.inputs.destroy()
        if self.status is not None:
            self.status.destroy()
        if self._enabling is not None:
            self._enabling.destroy()
        self.path = self.inputs = self.status = self._fields = self._here = self._enabling = None
        self._own.close()

    # -- who commands -------------------------------------------------------------------------------------------

    def take_command(self) -> None:
        """Open the command topic, for us alone. RobotError, LifecycleError: the robot is stopped, its controller is not
        active, somebody else has it, or nobody listens."""
        inputs, path, status = self.listening(), self.path, self.status
        if path is None or status is None:
            raise RobotError("this program only reads the arm, and may not command it.")
        self._sent = False  # what was sent before somebody else moved the arm counts no more
        self._complaint = ""
        if self._fields is None:  # no loop looks at it yet
            status.look()
        crowd = inputs.crowd()
        if status.status != Status.OK or crowd:
            raise RobotError(crowd or status.word)
        path.take(inputs.q)

    def give_command_back(self) -> None:
        """Close the command topic."""
        if self.path is not None:
            self.path.give_back()

    def listening(self) -> Inputs:
        """What the arm says; RobotError before connect."""
        if self.inputs is None:
            raise RobotError("not connected to the arm's topics: call connect() first.")
        return self.inputs


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
