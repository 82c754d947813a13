"""What the driver says about the robot: safety mode, robot mode, and whether its program runs.

Source: ur_controllers/src/gpio_controller.cpp and ur_dashboard_msgs/msg of the driver (2.2 to 7.0): latched topics of
io_and_status_controller, one byte each. A program that is paused on the pendant counts as running there, and its
controllers stay active, but nothing is sent to the robot (hardware_interface.cpp, write()): the speed scaling tells.
When the program stops, the driver deactivates the motion controllers, and it
activates them again when it resumes (controller_stopper.cpp): a client that went on commanding would be obeyed again
without a warning, so a stop is a fault here.
"""

import contextlib
from typing import Any

from rclpy.node import Node
from std_msgs.msg import Bool, Float64

from ur_admittance.core.faults import sentence
from ur_admittance.core.records import Status
from ur_admittance.robots import ROBOT_MODES
from ur_admittance.robots.ros.cdr import HEAD, Malformed, Reader
from ur_admittance.robots.ros.polled import ALL_LATCHED, NEWEST, Polled

PROGRAM_TOPIC = "io_and_status_controller/robot_program_running"
SAFETY_TOPIC, MODE_TOPIC = "io_and_status_controller/safety_mode", "io_and_status_controller/robot_mode"
SCALING_TOPIC = "speed_scaling_state_broadcaster/speed_scaling"  # 0 to 100
SAFETY_WORDS = {
    1: "NORMAL",
    2: "REDUCED",
    3: "PROTECTIVE_STOP",
    4: "RECOVERY",
    5: "SAFEGUARD_STOP",
    6: "SYSTEM_EMERGENCY_STOP",
    7: "ROBOT_EMERGENCY_STOP",
    8: "VIOLATION",
    9: "FAULT",
    10: "VALIDATE_JOINT_ID",
    11: "UNDEFINED_SAFETY_MODE",
    12: "AUTOMATIC_MODE_SAFEGUARD_STOP",
    13: "SYSTEM_THREE_POSITION_ENABLING_STOP",
}
SAFE = (1, 2)
STOPS = {
    3: Status.PROTECTIVE_STOP,
    5: Status.SAFEGUARD_STOP,
    6: Status.EMERGENCY_STOP,
    7: Status.EMERGENCY_STOP,
    12: Status.SAFEGUARD_STOP,
    13: Status.SAFEGUARD_STOP,
}
RUNNING = 7


def verdict(
    safety: int | None, mode: int | None, program: bool | None, scaling: float | None = None
) -> tuple[Status, str]:
    """(Status, the robot's word in a sentence); None: not told, which is no obstacle. scaling [%]."""
    if safety is not None and safety not in SAFE:
        status = STOPS.get(safety, Status.COMMAND_REJECTED)
        word = SAFETY_WORDS.get(safety, str(safety))
        return status, f"the robot's safety mode is {word}" + (
            f": {sentence(status)}" if status != Status.COMMAND_REJECTED else ""
        )
    if mode is not None and mode != RUNNING:
        return Status.COMMAND_REJECTED, f"the robot's mode is {ROBOT_MODES.get(mode, str(mode))}, must be RUNNING"
    if program is False:
        return Status.COMMAND_REJECTED, "the program on the robot is not running; start External Control on the pendant"
    if scaling is not None and not scaling > 0.0:
        return Status.COMMAND_REJECTED, "the robot's speed scaling is 0: its program is paused, or its slider is at 0"
    return Status.OK, ""


class RobotStatus:
    """The newest of the three; without ur_dashboard_msgs only whether the program runs. For one thread."""

    def __init__(self, node: Node) -> None:
        kinds: list[tuple[type, str]] = [(Bool, PROGRAM_TOPIC), (Float64, SCALING_TOPIC)]
        try:
            from ur_dashboard_msgs.msg import RobotMode, SafetyMode
        except ImportError:
            pass
        else:
            kinds += [(SafetyMode, SAFETY_TOPIC), (RobotMode, MODE_TOPIC)]
        self._topics = [
            (Polled(node, kind, topic, NEWEST if kind is Float64 else ALL_LATCHED), topic) for kind, topic in kinds
        ]
        self._fell = False  # the program has stopped, be it for a moment: the driver has stopped the controllers
        self._values: dict[str, Any] = {}
        self._turn = 0
        self._suspected = False
        self.status, self.word = Status.OK, ""

    def poll(self) -> None:
        """Look at one topic; the next call looks at the next one. A stop is told by the call after, which looks at all
        of them: the program's word may come a moment before the robot's own, which says more."""
        if self._suspected:
            self.look()
            return
        self._turn = (self._turn + 1) % len(self._topics)
        self._take(*self._topics[self._turn])
        self._suspected = self._verdict()[0] != Status.OK

    def look(self) -> None:
        """At all of them."""
        for polled, topic in self._topics:
            self._take(polled, topic)
        self.status, self.word = self._verdict()
        self._suspected = self.status != Status.OK

    def _take(self, polled: Polled, topic: str) -> None:
        while (data := polled.take()) is not None:
            if topic == SCALING_TOPIC:
                with contextlib.suppress(Malformed):
                    self._values[topic] = float(Reader(data).doubles(1)[0])
            elif len(data) > HEAD:
                byte = data[HEAD]
                self._values[topic] = byte - 256 if topic == MODE_TOPIC and byte > 127 else byte
                self._fell = self._fell or (topic == PROGRAM_TOPIC and not byte)

    def forget(self) -> None:
        """A program that was stopped counts no more if it runs again."""
        self._fell = False

    def _verdict(self) -> tuple[Status, str]:
        get = self._values.get
        program = get(PROGRAM_TOPIC)
        runs = None if program is None else bool(program) and not self._fell
        return verdict(get(SAFETY_TOPIC), get(MODE_TOPIC), runs, get(SCALING_TOPIC))

    def destroy(self) -> None:
        for polled, _ in self._topics:
            polled.destroy()
