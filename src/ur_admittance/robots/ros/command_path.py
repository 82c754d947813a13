"""The controller of ros2_control that takes the commands of the loop: which one, whether it is active, and what it does
with them.

A subscription does not tell: an inactive joint_trajectory_controller is subscribed and drops what it hears. So the
controller manager is asked, at the start and while the arm is driven. Where there is none (another middleware, or
controller_manager_msgs is not installed) the subscription has to do, and an arm that does not follow is noticed anyway.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node

from ur_admittance.errors import LifecycleError, RobotError
from ur_admittance.robots.ros.command_outputs import HOLD_S, TopicOutput, TrajectoryOutput, VelocityOutput
from ur_admittance.robots.ros.guard import SILENCE_S
from ur_admittance.robots.ros.polled import Question

Array = NDArray[np.float64]

MATCH_S = 5.0  # for a controller to be found on the command topic
PAUSE = 3.0  # periods: after a longer time without a command the arm has gone on by itself
LIST_SERVICE = "controller_manager/list_controllers"
ANSWER_S = 2.0
MOST_LOOKS = 20  # for an answer, 2 s: then it counts as lost
SCALED, PLAIN, VELOCITY = (
    "scaled_joint_trajectory_controller",
    "joint_trajectory_controller",
    "forward_velocity_controller",
)


class Kind(NamedTuple):
    """Controllers of one output, which take commands on scaled_joint_trajectory_controller/joint_trajectory or on
    forward_velocity_controller/commands where nothing else is chosen."""

    usual: tuple[str, ...]  # names in the driver's launch file
    type: str  # how the type of another one that fits ends
    topic: str  # on which it takes commands, relative to its name


OUTPUTS = {
    "trajectory": Kind((SCALED, PLAIN), "JointTrajectoryController", "joint_trajectory"),  # until 5.x, and since 6.0
    "velocity": Kind((VELOCITY,), "JointGroupVelocityController", "commands"),
}


@dataclass(frozen=True)
class Controller:
    name: str
    kind: str
    state: str

    @property
    def active(self) -> bool:
        return self.state == "active"


def choose(output: str, controllers: Iterable[Controller], wanted: str = "") -> Controller:
    """The controller for this output: the wanted one, else the active one that fits, else the driver's usual one.
    RobotError when none fits."""
    by_name, kind = {controller.name: controller for controller in controllers}, OUTPUTS[output]
    if wanted:
        if wanted not in by_name:
            names = ", ".join(sorted(by_name)) or "none"
            raise RobotError(f"controller = {wanted!r} is not loaded; the controllers are {names}.")
        return by_name[wanted]
    usual = [by_name[name] for name in kind.usual if name in by_name]
    fitting = usual + [c for c in by_name.values() if c not in usual and c.kind.endswith(kind.type)]
    if not fitting:
        raise RobotError(f"output = {output}: no controller for it is loaded; load {' or '.join(kind.usual)}.")
    return next((controller for controller in fitting if controller.active), fitting[0])


def not_active(controller: Controller, namespace: str = "/") -> str:
    manager = "" if namespace == "/" else f" -c {namespace}/controller_manager"
    return (
        f"{controller.name} is {controller.state} and would drop every command; activate it: "
        f"ros2 control switch_controllers{manager} --activate {controller.name}"
    )


def not_alone(topic: str, others: list[str]) -> str:
    return f"{', '.join(sorted(others))} also publishes on {topic}: an arm has one commander"


class ControllerManager:
    """What the controller manager answers."""

    def __init__(self, node: Node) -> None:
        self._patience = 0  # looks for the answer so far
        try:
            from controller_manager_msgs.srv import ListControllers
        except ImportError:
            self._question = None
        else:
            self._question = Question(node, ListControllers, LIST_SERVICE)

    @property
    def can_be_asked(self) -> bool:
        return self._question is not None and self._question.available()

    def ask(self) -> list[Controller] | None:
        """All controllers, or None when nobody answers."""
        return None if self._question is None else _read(self._question.ask(ANSWER_S))

    def forget(self) -> None:
        """What was asked before counts no more: the answer may be from before a switch."""
        if self._question is not None:
            self._question.forget()

    def watch(self) -> list[Controller] | None:
        """Never waits: the answer to the question of an earlier call, if it has come; then asks again."""
        question = self._question
        if question is None:
            return None
        answer = question.answer()
        self._patience = 0 if answer is not None else self._patience + 1
        lost = self._patience > MOST_LOOKS
        if (answer is not None or lost or not question.waiting) and question.available():
            self._patience = 0
            question.send()
        return _read(answer)

    def destroy(self) -> None:
        if self._question is not None:
            self._question.destroy()


def _read(answer: Any) -> list[Controller] | None:
    if answer is None:
        return None
    return [Controller(str(c.name), str(c.type), str(c.state)) for c in answer.controller]


class CommandPath:
    """One output at a time. `take` opens it, `give_back` closes it."""

    def __init__(
        self, node: Node, names: Sequence[str], kind: str, controller: str, shortest: float, period: float
    ) -> None:
        """kind: trajectory or velocity; controller: its name, empty: the one that fits; shortest: least time in which a
        trajectory leads to rest [s]."""
        self._node, self._names, self._kind, self._wanted = node, tuple(names), kind, controller
        self._shortest, self._period = shortest, period
        self.by_speeds = kind == "velocity"
        self._asked, self._watched = ControllerManager(node), ControllerManager(node)  # by the executor, by the loop
        self._name = controller or self._likely()
        self.output: TopicOutput = self._new_output()
        self._complaint = ""

    def drive(self, commanded: bool, elapsed: float) -> tuple[bool, float, float, float, float, float]:
        """A DRIVE. commanded: we drive the arm now; elapsed since the last command [s]."""
        if self.by_speeds:
            return commanded, self._period, elapsed, SILENCE_S, 0.0, 0.0
        return commanded, self._period, elapsed, PAUSE * self._period, HOLD_S, self._shortest

    def take(self, q_arm: Array) -> None:
        """Open the output, for us alone; the first command starts at the arm. RobotError, LifecycleError: no controller
        fits or is active, somebody else commands it, or nobody listens."""
        if not np.isfinite(q_arm).all():
            raise RobotError(f"the joint states are not finite numbers: {q_arm.tolist()} rad.")
        self._choose()
        output = self.output
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
        self._complaint = ""
        self._watched.forget()

    def give_back(self) -> None:
        self.output.close()

    def set_duration(self, shortest: float) -> None:
        self._shortest = shortest
        self.output.set_duration(shortest)

    def watch(self) -> str:
        """Why the controller takes no commands, as far as is known by now; never waits."""
        for controller in self._watched.watch() or ():
            if controller.name == self._name:
                self._complaint = "" if controller.active else not_active(controller, self._node.get_namespace())
        return self._complaint or self.output.problem()

    def destroy(self) -> None:
        self.output.destroy()
        self._asked.destroy()
        self._watched.destroy()

    def _choose(self) -> None:
        """The controller for this activation; who is active may have changed since the last one."""
        loaded = self._asked.ask()
        if loaded is None:
            name = self._wanted or self._likely()
        else:
            controller = choose(self._kind, loaded, self._wanted)
            if not controller.active:
                raise RobotError(not_active(controller, self._node.get_namespace()))
            name = controller.name
        if name != self._name:
            self._name = name
            self.output.destroy()
            self.output = self._new_output()

    def _likely(self) -> str:
        """Without an answer of the controller manager: the one that somebody listens for."""
        usual, resolve = OUTPUTS[self._kind].usual, self._node.resolve_topic_name
        return next((name for name in usual if self._node.count_subscribers(resolve(self._topic(name)))), usual[0])

    def _topic(self, name: str) -> str:
        """On which that controller takes commands, relative to the namespace."""
        return f"{name}/{OUTPUTS[self._kind].topic}"

    def _new_output(self) -> TopicOutput:
        topic = self._topic(self._name)
        if self.by_speeds:
            return VelocityOutput(self._node, topic)
        return TrajectoryOutput(self._node, self._names, self._shortest, topic)
