"""Letting the force sensor read zero: in the robot where it is the robot's own, else by taking a mean off."""

import time
from typing import Any

import numpy as np
from rclpy.node import Node
from std_srvs.srv import Trigger

from ur_admittance.core.records import AT_REST
from ur_admittance.errors import RobotError
from ur_admittance.robots.ros.inputs import Inputs
from ur_admittance.robots.ros.polled import Question
from ur_admittance.robots.ros.sensor_place import DRIVER_SENSOR

ZERO_SERVICE = "io_and_status_controller/zero_ftsensor"
ANSWER_S = 2.0
ZERO_READINGS = 50


def zero_ft_sensor(node: Node, inputs: Inputs, rate: float) -> None:
    """At the present load. RobotError: the arm moves, or wrenches stay away."""
    inputs.poll()
    if np.abs(inputs.qd).max() > AT_REST:
        raise RobotError("the arm moves: the sensor can be zeroed at standstill only.")
    if not zero_in_driver(node, inputs):
        _take_mean_off(inputs, rate)


def zero_in_driver(node: Node, inputs: Inputs) -> bool:
    """Whether the driver has zeroed the sensor, which it can if it is the robot's own."""
    if DRIVER_SENSOR not in inputs.wrench_source():
        return False
    question = Question(node, Trigger, ZERO_SERVICE)
    try:
        answer: Any = question.ask(ANSWER_S)
    finally:
        question.destroy()
    return answer is not None and bool(answer.success)


def _take_mean_off(inputs: Inputs, rate: float) -> None:
    total, count, last = np.zeros(6), 0, inputs.wrenches
    end = time.monotonic() + 10.0 * ZERO_READINGS / rate + 1.0
    while count < ZERO_READINGS:
        inputs.wait(round(1e9 / rate))
        inputs.poll()
        if inputs.wrenches != last:
            total += inputs.wrench
            count, last = count + 1, inputs.wrenches
        if time.monotonic() > end:
            raise RobotError(f"only {count} of {ZERO_READINGS} wrenches came: the sensor was not zeroed.")
    inputs.zero = total / count if inputs.zero is None else inputs.zero + total / count
