"""A stop of the robot is told in the robot's own word, whichever topic is heard first."""

import struct

import pytest

pytest.importorskip("rclpy")

from ur_admittance.core.records import Mode, Status
from ur_admittance.robots.ros import driver_status as status
from ur_admittance.robots.ros.driver_status import PROGRAM_TOPIC, SAFETY_TOPIC, SCALING_TOPIC, RobotStatus
from ur_admittance.robots.ros.ros_robot import STATUS_EVERY, RosRobot

LONGEST = 5  # looks from the stop to its word: four topics, and one look more


@pytest.fixture
def told(monkeypatch, generated):
    """Topic -> bytes that will be taken next; and a RobotStatus that hears them."""
    messages = {}

    class Heard:
        def __init__(self, node, kind, topic, qos):
            self.topic = topic

        def take(self):
            told = messages.get(self.topic)
            value = told.pop(0) if isinstance(told, list) and told else messages.pop(self.topic, None)
            if isinstance(value, float):
                return bytes([0, 1, 0, 0]) + struct.pack("<d", value)
            return bytes([0, 1, 0, 0, value]) if isinstance(value, int) else None

    monkeypatch.setattr(status, "Polled", Heard)
    return messages, RobotStatus(None)


@pytest.mark.parametrize("turn", range(4))
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
    assert robot.status == Status.COMMAND_REJECTED  # the driver has stopped its controllers meanwhile
    robot.forget()
    robot.poll()
    assert robot.status == Status.OK


def test_a_program_that_has_stopped_for_a_moment_between_two_looks_is_a_stop(told):
    messages, robot = told
    messages[PROGRAM_TOPIC] = [1, 0, 1]
    for _ in range(LONGEST):
        robot.poll()
    assert robot.status == Status.COMMAND_REJECTED


def test_a_program_that_is_paused_is_a_stop_and_going_on_the_end_of_it(told):
    messages, robot = told
    messages[PROGRAM_TOPIC], messages[SCALING_TOPIC] = 1, 0.0
    for _ in range(LONGEST):
        robot.poll()
    assert robot.status == Status.COMMAND_REJECTED
    assert "speed scaling is 0: its program is paused" in robot.word
    messages[SCALING_TOPIC] = 3.0
    robot.poll()
    assert robot.status == Status.OK


class Watched:
    """A path that has nothing against commands."""

    def watch(self):
        return ""


def test_a_stop_between_two_looks_counts_while_active_and_the_robots_present_word_in_a_fault(told):
    messages, heard = told
    robot = RosRobot()
    robot.status, robot.path, robot.driving, robot._mode = heard, Watched(), True, [Mode.ACTIVE]

    def look(times=STATUS_EVERY * LONGEST):
        return [robot._look_at_robot() for _ in range(times)][-1]

    assert look() == Status.OK
    messages[PROGRAM_TOPIC] = [1, 0, 1]
    assert look() == Status.COMMAND_REJECTED  # the driver has stopped its controllers meanwhile
    robot._mode[0] = Mode.FAULT
    assert look() == Status.OK  # the fault may be reset, by whomever
    assert "program" in robot.complaint  # and still says why
    messages[PROGRAM_TOPIC] = 0
    assert look() == Status.COMMAND_REJECTED
    messages[PROGRAM_TOPIC] = 1
    assert look() == Status.OK
    robot._mode[0] = Mode.ACTIVE
    assert look() == Status.OK
    assert robot.complaint == ""
