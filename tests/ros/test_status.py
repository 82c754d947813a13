"""A stop of the robot is told in the robot's own word, whichever topic is heard first."""

import pytest

pytest.importorskip("rclpy")

from ur_admittance.core.records import Status
from ur_admittance.robots.ros import status
from ur_admittance.robots.ros.status import PROGRAM_TOPIC, SAFETY_TOPIC, RobotStatus

LONGEST = 4  # looks from the stop to its word: three topics, and one look more


@pytest.fixture
def told(monkeypatch, generated):
    """Topic -> bytes that will be taken next; and a RobotStatus that hears them."""
    messages = {}

    class Heard:
        def __init__(self, node, kind, topic, qos):
            self.topic = topic

        def take(self):
            byte = messages.pop(self.topic, None)
            return None if byte is None else bytes([0, 1, 0, 0, byte])

    monkeypatch.setattr(status, "Polled", Heard)
    return messages, RobotStatus(None)


@pytest.mark.parametrize("turn", range(3))
def test_a_protective_stop_is_not_taken_for_a_program_that_has_ended(told, turn):
    messages, robot = told
    for _ in range(turn):
        robot.poll()
    messages[PROGRAM_TOPIC] = 0
    seen = []
    for _ in range(LONGEST):
        robot.poll()
        seen.append(robot.status)
        if robot._suspected:
            messages[SAFETY_TOPIC] = 3  # a moment later
    assert seen[-1] == Status.PROTECTIVE_STOP
    assert Status.COMMAND_REJECTED not in seen


def test_a_program_that_has_ended_is_a_stop_and_its_start_the_end_of_it(told):
    messages, robot = told
    messages[PROGRAM_TOPIC] = 0
    for _ in range(LONGEST):
        robot.poll()
    assert robot.status == Status.COMMAND_REJECTED
    assert "program on the robot is not running" in robot.word
    messages[PROGRAM_TOPIC] = 1
    robot.poll()
    assert robot.status == Status.OK
