"""The controller that takes the commands of the loop: which one, whether it listens, and what it does with them."""

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node

from ur_admittance.errors import LifecycleError, RobotError
from ur_admittance.robots.ros.command_outputs import HOLD_S, TopicOutput, TrajectoryOutput, VelocityOutput
from ur_admittance.robots.ros.controller_list import CANDIDATES, ControllerManager, choose, endpoint, not_active
from ur_admittance.robots.ros.guard import SILENCE_S

Array = NDArray[np.float64]

MATCH_S = 5.0  # for a controller to be found on the command topic
PAUSE = 3.0  # periods: after a longer time without a command the arm has gone on by itself


class CommandPath:
    """One output at a time. `take` opens it, `give_back` closes it."""

    def __init__(
        self, node: Node, names: Sequence[str], kind: str, controller: str, shortest: float, period: float
    ) -> None:
        """kind: trajectory or velocity; controller: its name, empty: the one that fits; shortest: least time in which a
        trajectory leads to rest [s]."""
        self._node, self._names, self._kind, self._wanted = node, tuple(names), kind, controller
        self._shortest, self._period = shortest, period
        self._asked, self._watched = ControllerManager(node), ControllerManager(node)  # by the executor, by the loop
        self._name = controller or self._likely()
        self.output: TopicOutput = self._new_output()
        self._complaint = ""

    @property
    def by_speeds(self) -> bool:
        return self._kind == "velocity"

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
        names = CANDIDATES[self._kind]
        topics = {name: self._node.resolve_topic_name(endpoint(self._kind, name)) for name in names}
        return next((name for name in names if self._node.count_subscribers(topics[name])), names[0])

    def _new_output(self) -> TopicOutput:
        topic = endpoint(self._kind, self._name)
        if self._kind == "velocity":
            return VelocityOutput(self._node, topic)
        return TrajectoryOutput(self._node, self._names, self._shortest, topic)


def not_alone(topic: str, others: list[str]) -> str:
    return f"{', '.join(sorted(others))} also publishes on {topic}: an arm has one commander"
