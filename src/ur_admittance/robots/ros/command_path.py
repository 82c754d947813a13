"""From a command of the loop to the controller that takes it: which one, whether it listens, and no jump on the way."""

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node

from ur_admittance.errors import LifecycleError, RobotError
from ur_admittance.robots.ros.command_outputs import TopicOutput, TrajectoryOutput, VelocityOutput
from ur_admittance.robots.ros.controller_list import CANDIDATES, ControllerManager, choose, endpoint, not_active
from ur_admittance.robots.ros.guard import SILENCE_S
from ur_admittance.robots.ros.seam import Leash, Seam, SpeedSeam, warm_up

Array = NDArray[np.float64]

MATCH_S = 5.0  # for a controller to be found on the command topic


class CommandPath:
    """One output at a time. `take` opens it, `send` belongs to the loop, `give_back` closes it."""

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
        self._speed_seam = SpeedSeam(period, SILENCE_S)
        self._seam: Seam | None = None
        self._complaint = ""
        self._join_output()

    @property
    def by_speeds(self) -> bool:
        return self._seam is None

    def take(self, q_arm: Array) -> None:
        """Open the output, for us alone; the first command starts at the arm. RobotError, LifecycleError: no controller
        fits or is active, somebody else commands it, or nobody listens."""
        if not np.isfinite(q_arm).all():
            raise RobotError(f"the joint states are not finite numbers: {q_arm.tolist()} rad.")
        warm_up()  # for a program that has not
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
        self._speed_seam.join()
        if self._seam is not None:
            self._seam.join(q_arm)

    def give_back(self) -> None:
        self.output.close()

    def send(self, q: Array, qd: Array, now: float, arm: tuple[Array, Array] | None) -> Array:
        """No farther from the arm and from the last command than speeds explain. Returns what was sent: angles or
        speeds. now: the loop's time [s]; arm: its measured angles and speeds, None where they are old."""
        if self._seam is None:
            sent = self._speed_seam.next(qd, time.monotonic())
            self.output.send(q, sent, now)
        else:
            if arm is not None:
                q, qd = self._leash.hold(q, qd, *arm), self._leash.qd
            sent = self._seam.next(q, qd, now)
            self.output.send(sent, self._seam.qd, now)
        return sent

    def set_duration(self, shortest: float) -> None:
        self._shortest = shortest
        if self.output.plan is not None:
            self.output.plan.shortest = shortest

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
            self._join_output()

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

    def _join_output(self) -> None:
        plan = self.output.plan
        self._seam = None if plan is None else Seam(self._period, plan)
        self._leash = Leash(self._period)


def not_alone(topic: str, others: list[str]) -> str:
    return f"{', '.join(sorted(others))} also publishes on {topic}: an arm has one commander"
