"""Is the wrench what it is taken for? Its place is set at configure, checked at activate, watched while active.

A transform and a joint state of different moments do not fit, and a busy computer delivers such pairs now and then:
what is seen once is looked at again.
"""

import time
from typing import Any

import numpy as np

from ur_admittance.control import AdmittanceController
from ur_admittance.errors import RobotError
from ur_admittance.params.relations import at_probe
from ur_admittance.robots.ros.inputs import Inputs
from ur_admittance.robots.ros.ros_robot import RosRobot
from ur_admittance.robots.ros.sensor_place import Place, believed, moved, must_stand

LOOKS, AGAIN_S = 3, 0.02  # in a row that must agree, and the time between two of them
OLD_S = 0.02  # a joint state that is older says nothing about a frame on /tf
LEAST_WEIGHT = 2.0  # [N] of a tool: less cannot be told from the sensor's own error
ABSENT, PRESENT = 0.25, 0.75  # of the weight: what counts as none of it, and as all


class SensorWatch:
    """node: its parameters say where the sensor is, its `search` knows the frames. All in one thread."""

    def __init__(self, node: Any) -> None:
        self._node = node
        self._place: Place | None = None
        self._placed: dict[str, Any] = {}  # what a frame says about sensor.rotation and sensor.position
        self._given: dict[str, Any] = {}  # what the user, or a calibration, says about them

    def configure(self, robot: RosRobot) -> None:
        """Wait for the frame in which the wrenches come. RobotError: it stays unknown. sensor.rotation, as in a
        calibration, and sensor.position have the last word, each where it is given."""
        node, inputs = self._node, robot.inputs
        if inputs is None:
            return
        if at_probe(node.parameters):
            self._place = None
            node.get_logger().info(f"the wrench of {inputs.wrench_source()} is compensated, and about the TCP")
            inputs.only_frame = inputs.wrench_frame
            return
        sensor = node.parameters.sensor
        self._given = {
            name: value
            for name, value in (("sensor.rotation", sensor.rotation), ("sensor.position", sensor.position))
            if any(value) and value != self._placed.get(name)
        }
        if len(self._given) == 2:
            self._place = None
            node.get_logger().info("sensor.rotation and sensor.position say where the sensor is, not its frame")
        else:
            self._use(node.search.sensor_place(node.parameters, inputs, robot.model))
        inputs.only_frame = inputs.wrench_frame

    def activate(self, robot: RosRobot, controller: AdmittanceController) -> None:
        """RobotError: the frame is gone or in doubt, or the weight of the tool would be removed twice."""
        inputs, node = robot.inputs, self._node
        if inputs is None:
            return
        if self._place is not None:
            node.search.places.forget_driver()
            now = self._find(robot)
            if now is None:
                raise RobotError(node.search.places.unknown(self._node.parameters, inputs).removeprefix("waiting for "))
            if now.moving:
                must_stand(inputs)
                self._must_stay(robot, now)
            believed(now)
            if now.frame != self._place.frame or self._place.differs(now.pose):
                self._use(now)
        inputs.only_frame = inputs.wrench_frame
        refuse_double_weight(controller)

    def problem(self, robot: RosRobot) -> str:
        """What is no longer true, as a sentence; empty: nothing."""
        inputs, place = robot.inputs, self._place
        if inputs is None:
            return ""
        if place is None:
            return inputs.other_frame()
        frame = self._node.search.places.frame_of(self._node.parameters, inputs)
        if frame != place.frame:  # the driver was found on the network later than its wrench
            return f"the wrench is that of frame {frame}, and was taken for that of {place.frame}; activate again"
        if not place.moving or inputs.joint_age() > OLD_S:
            return inputs.other_frame()
        return inputs.other_frame() or self._moved(robot, inputs, place)

    def _moved(self, robot: RosRobot, inputs: Inputs, place: Place) -> str:
        """Whether the place in use has changed, in every one of LOOKS."""
        for look in range(LOOKS):
            time.sleep(AGAIN_S if look else 0.0)
            how = moved(place, self._find(robot), inputs, robot.model)
            if not how:
                break
        return how

    def _must_stay(self, robot: RosRobot, place: Place) -> None:
        for _ in range(LOOKS - 1):
            time.sleep(AGAIN_S)
            again = self._find(robot)
            how = "is no longer there" if again is None else place.differs(again.pose)
            if how:
                raise RobotError(f"frame {place.frame} of the wrench moves on a standing arm ({how}); activate again.")

    def _find(self, robot: RosRobot) -> Place | None:
        assert robot.inputs is not None
        place: Place | None = self._node.search.places.find(self._node.parameters, robot.inputs, robot.model)
        return place

    def _use(self, place: Place) -> None:
        self._place = place
        found = {"sensor.rotation": place.rpy(), "sensor.position": place.position()}
        words = "".join(f"; {name} is given" for name in self._given)
        self._node.get_logger().info(place.words + words)
        self._placed = {name: value for name, value in found.items() if name not in self._given}
        self._node.change_parameters({name: list(value) for name, value in self._placed.items()})


def refuse_double_weight(controller: AdmittanceController) -> None:
    """RobotError when tool.mass is taken off a wrench that has no weight in it: the robot has removed its payload."""
    p, reading = controller.parameters, controller.state["reading"]
    weight = p.tool.mass * float(np.linalg.norm(p.gravity))
    if weight < LEAST_WEIGHT:
        return
    before = float(np.linalg.norm(p.sensor.sign * reading[:3] - np.array(p.sensor.bias[:3])))
    after = float(np.linalg.norm(controller.command["wrench_sensor"][:3]))
    if before < ABSENT * weight and after > PRESENT * weight:
        raise RobotError(
            f"tool.mass = {p.tool.mass:g} kg would be removed twice: the sensor feels {before:.1f} N of it at rest, "
            "so the robot has removed its payload already; set tool.mass to 0, or the payload on the pendant to 0."
        )
