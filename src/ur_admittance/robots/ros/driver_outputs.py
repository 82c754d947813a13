"""Digital outputs through the driver's service (ur_controllers/src/gpio_controller.cpp: set_io)."""

import time

from rclpy.node import Node

from ur_admittance.errors import RobotError
from ur_admittance.params.parameters import FIRST_INPUT
from ur_admittance.robots.ros.polled import LOOK_S, Question

SERVICE, PATIENCE = "io_and_status_controller/set_io", 2.0  # [s]
DIGITAL_OUT = 1  # SetIO.FUN_SET_DIGITAL_OUT


class DriverOutputs:
    """outputs("tool:0", True) from a loop: asks, and does not wait for the answer."""

    def __init__(self, node: Node) -> None:
        """RobotError: the driver does not offer it, or its messages are not installed."""
        try:
            from ur_msgs.srv import SetIO
        except ImportError:
            raise RobotError(f"outputs need the messages of {SERVICE}: install ur_msgs.") from None
        self._request = SetIO.Request
        self._question = Question(node, SetIO, SERVICE)
        end = time.monotonic() + PATIENCE
        while not self._question.available():
            if time.monotonic() > end:
                raise RobotError(f"outputs: the driver does not offer {self._question.name}.")
            time.sleep(LOOK_S)

    def __call__(self, name: str, on: bool) -> None:
        kind, _, number = name.partition(":")
        self._question.send(self._request(fun=DIGITAL_OUT, pin=FIRST_INPUT[kind] + int(number), state=float(on)))
