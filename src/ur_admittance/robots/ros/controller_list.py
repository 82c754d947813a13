"""Which controller of ros2_control takes the commands, and whether it is active.

A subscription does not tell: an inactive joint_trajectory_controller is subscribed and drops what it hears. So the
controller manager is asked, at the start and while the arm is driven. Where there is none (another middleware, or
controller_manager_msgs is not installed) the subscription has to do, and an arm that does not follow is noticed anyway.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rclpy.node import Node

from ur_admittance.errors import RobotError
from ur_admittance.robots.ros.polled import Question

LIST_SERVICE = "controller_manager/list_controllers"
ANSWER_S = 2.0
MOST_LOOKS = 20  # for an answer, 2 s: then it counts as lost
SCALED, PLAIN, VELOCITY = (
    "scaled_joint_trajectory_controller",
    "joint_trajectory_controller",
    "forward_velocity_controller",
)
CANDIDATES = {
    "trajectory": (SCALED, PLAIN),  # the driver's default up to 5.x, and since 6.0
    "velocity": (VELOCITY,),
}
KINDS = {
    "trajectory": ("JointTrajectoryController",),
    "velocity": ("JointGroupVelocityController",),
}
ENDPOINTS = {"trajectory": "joint_trajectory", "velocity": "commands"}


@dataclass(frozen=True)
class Controller:
    name: str
    kind: str
    state: str

    @property
    def active(self) -> bool:
        return self.state == "active"


def endpoint(output: str, controller: str) -> str:
    """Topic on which that controller takes commands, relative to the namespace."""
    return f"{controller}/{ENDPOINTS[output]}"


def choose(output: str, controllers: Iterable[Controller], wanted: str = "") -> Controller:
    """The controller for this output: the wanted one, else the active one that fits, else the driver's usual one.
    RobotError when none fits."""
    loaded = list(controllers)
    by_name = {controller.name: controller for controller in loaded}
    if wanted:
        if wanted not in by_name:
            names = ", ".join(sorted(by_name)) or "none"
            raise RobotError(f"controller = {wanted!r} is not loaded; the controllers are {names}.")
        return by_name[wanted]
    usual = [by_name[name] for name in CANDIDATES[output] if name in by_name]
    fitting = usual + [c for c in loaded if c not in usual and c.kind.endswith(KINDS[output])]
    if not fitting:
        raise RobotError(f"output = {output}: no controller for it is loaded; load {' or '.join(CANDIDATES[output])}.")
    return next((controller for controller in fitting if controller.active), fitting[0])


def not_active(controller: Controller, namespace: str = "/") -> str:
    manager = "" if namespace == "/" else f" -c {namespace}/controller_manager"
    return (
        f"{controller.name} is {controller.state} and would drop every command; activate it: "
        f"ros2 control switch_controllers{manager} --activate {controller.name}"
    )


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
