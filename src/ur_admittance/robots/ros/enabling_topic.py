"""The enabling signal of hold-to-run on ROS 2 topics: a Bool, a button of a Joy, or a digital input that the driver
publishes (ur_controllers/src/gpio_controller.cpp: io_states, 18 inputs in every cycle, pin by pin).

A signal counts from the moment a message was taken; one that says nothing any more ages, and the tick lets go of it.
"""

from typing import Any

from rclpy.node import Node
from std_msgs.msg import Bool

from ur_admittance.core.records import DIGITAL_INPUTS
from ur_admittance.core.views import SampleFields
from ur_admittance.errors import RobotError
from ur_admittance.params.parameters import FIRST_INPUT
from ur_admittance.robots.ros.cdr import HEAD, Malformed, Reader
from ur_admittance.robots.ros.polled import NEWEST, Polled

IO_TOPIC = "io_and_status_controller/io_states"
KINDS = (*FIRST_INPUT, "bool", "joy")  # of guiding.source


class EnablingTopic:
    """guiding.source as a subscription. For one thread."""

    def __init__(self, node: Node, source: str) -> None:
        self._kind, _, rest = source.partition(":")
        topic, _, button = rest.partition(":")
        self._button = int(button or 0)
        self._inputs, self._taken_ns = 0, 0
        self._polled = Polled(node, *_message(self._kind, topic), NEWEST)

    def read(self, fields: SampleFields, now_ns: int) -> int:
        """Fill in what has come; returns how many messages were not what they should be."""
        data, malformed = self._polled.take(), 0
        if data is not None:
            try:
                self._take(fields, data)
                self._taken_ns = now_ns
            except Malformed:
                malformed = 1
        if self._kind in FIRST_INPUT:
            fields.digital_in[0] = self._inputs
            fields.digital_age[0] = 1e-9 * (now_ns - self._taken_ns)
        return malformed

    def _take(self, fields: SampleFields, data: bytes) -> None:
        if self._kind in FIRST_INPUT:
            self._inputs = inputs_of(data)
            return
        if self._kind == "joy":
            fields.enable[0] = button_of(data, self._button)
        elif len(data) > HEAD:
            fields.enable[0] = data[HEAD] != 0
        else:
            raise Malformed("a Bool without a value.")
        fields.enable_id[0] += 1

    def destroy(self) -> None:
        self._polled.destroy()


def _message(kind: str, topic: str) -> tuple[Any, str]:
    if kind == "bool":
        return Bool, topic
    if kind == "joy":
        from sensor_msgs.msg import Joy

        return Joy, topic
    try:
        from ur_msgs.msg import IOStates
    except ImportError:
        raise RobotError(f"guiding.source = {kind}: needs the messages of {IO_TOPIC}: install ur_msgs.") from None
    return IOStates, IO_TOPIC


def inputs_of(data: bytes) -> int:
    """digital_in_states of ur_msgs/IOStates, the first field: (uint8 pin, bool state) each. Bit by bit."""
    reader = Reader(data)
    pairs = reader.bytes(2 * _few(reader.uint32()))
    bits = 0
    for pin, state in zip(pairs[::2], pairs[1::2], strict=True):
        if pin < DIGITAL_INPUTS and state:
            bits |= 1 << pin
    return bits


def button_of(data: bytes, number: int) -> bool:
    """Of sensor_msgs/Joy: header, float32[] axes, int32[] buttons. A button that it does not have is not pressed."""
    reader = Reader(data)
    reader.time_ns()
    reader.string()
    reader.bytes(4 * _few(reader.uint32()), 4)
    buttons = reader.bytes(4 * _few(reader.uint32()), 4)
    return any(buttons[4 * number : 4 * number + 4])


def _few(count: int) -> int:
    if count > 1000:
        raise Malformed(f"a list of {count} inputs: at most 1000 are believed.")
    return count
