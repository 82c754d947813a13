"""Services without arguments: what was done as a sentence, or why not."""

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from std_srvs.srv import Trigger

from ur_admittance.errors import UrAdmittanceError


def offer(node: Node, **actions: Callable[[], str]) -> None:
    """~/name for each action. It returns the sentence of the answer, or raises that of a refusal."""
    for name, action in actions.items():
        node.create_service(Trigger, f"~/{name}", answering(node, action))


def say(node: Node, action: Callable[[], str]) -> tuple[str, bool]:
    """Do it and log how it went: (sentence, whether it was done)."""
    try:
        message, done = action(), True
    except UrAdmittanceError as error:
        message, done = str(error), False
    node.get_logger().info(message)
    return message, done


def answering(node: Node, action: Callable[[], str]) -> Callable[[Any, Any], Any]:
    """The callback of one such service."""

    def answer(request: Any, response: Any) -> Any:
        response.message, response.success = say(node, action)
        return response

    return answer
