"""Where the force sensor's axes are: from the frame that its messages name, looked up in the description and on TF.

The UR driver publishes its wrench by way of the pendant's TCP, whatever frame its messages name: about it, in its axes
since 2.12 / 3.7 / 4.5, otherwise before (driver_release.py). The TCP is `tool0_controller` on /tf, below `base`. It can
be changed on the pendant at any time: the place is set at configure, checked at activate, watched while active. A
transform and a joint state of different moments do not fit, and a busy computer delivers such pairs now and then: what
is seen once is looked at again.
"""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from rclpy.node import Node

from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import AT_REST
from ur_admittance.errors import RobotError
from ur_admittance.model import RobotModel
from ur_admittance.model.frames import Pose, rpy_from_rotation
from ur_admittance.params import Parameters
from ur_admittance.params.parameters import at_probe
from ur_admittance.robots.ros.command_path import ControllerManager
from ur_admittance.robots.ros.driver_release import Driver, Release, find_driver
from ur_admittance.robots.ros.driver_status import PROGRAM_TOPIC
from ur_admittance.robots.ros.inputs import Inputs
from ur_admittance.robots.ros.known_frames import TCP_FRAME, RobotSearch

DRIVER_SENSOR = "force_torque_sensor_broadcaster"  # node and topic of the UR driver
SAME_M, SAME_RAD = 0.002, 0.01  # what two looks at a standing arm may differ by: other joint offsets, rounding
MANAGER_S, LOOK_S = 1.0, 0.01  # in which a controller manager is found on the network; between two looks for it
TIME_SKEW_S = 0.05  # between a transform and the joint state it is compared with
LOOKS, AGAIN_S = 3, 0.02  # in a row that must agree, and the time between two of them
OLD_S = 0.02  # a joint state that is older says nothing about a frame on /tf
LEAST_WEIGHT = 2.0  # [N] of a tool: less cannot be told from the sensor's own error
ABSENT, PRESENT = 0.25, 0.75  # of the weight: what counts as none of it, and as all


@dataclass(frozen=True, eq=False)
class Place:
    """T_flange_sensor, and how it is known."""

    pose: Pose
    words: str
    frame: str = ""  # the one that was looked up
    moving: bool = False  # by /tf: it may change
    doubt: str = ""  # why nothing may move on its account

    def rpy(self) -> tuple[float, ...]:
        """As sensor.rotation has it [rad]."""
        return tuple(rpy_from_rotation(self.pose.rotation).tolist())

    def position(self) -> tuple[float, ...]:
        """As sensor.position has it [m]."""
        return tuple(self.pose.position.tolist())

    def differs(self, other: Pose, speed: float = 0.0, turning: float = 0.0) -> str:
        """How the other pose differs from this one, in words; empty: by no more than the motion explains."""
        T = self.pose.inverse() @ other
        distance = float(np.linalg.norm(T.position))
        angle = float(np.arccos(np.clip(0.5 * (np.trace(T.rotation) - 1.0), -1.0, 1.0)))
        if distance <= SAME_M + TIME_SKEW_S * speed and angle <= SAME_RAD + TIME_SKEW_S * turning:
            return ""
        return f"{1e3 * distance:.0f} mm and {np.degrees(angle):.0f} degrees"


class SensorPlace:
    """Looks the sensor's place up, for one description and one set of topics."""

    def __init__(self, node: Node, search: RobotSearch) -> None:
        self._node, self._description, self._frames = node, search.description, search.frames
        self._manager = ControllerManager(node)
        self._driver: Driver | None = None  # None: to be looked at

    def forget_driver(self) -> None:
        """It may be another one by now."""
        self._driver = None

    def _look_at_driver(self, p: Parameters, inputs: Inputs, model: RobotModel) -> Driver:
        end = time.monotonic() + MANAGER_S
        while not self._manager.can_be_asked and time.monotonic() < end:
            time.sleep(LOOK_S)
        controllers = self._manager.ask()
        loaded = None if controllers is None else [controller.name for controller in controllers]
        return find_driver(p.sensor.driver, _named(inputs) == p.tip_link + TCP_FRAME, loaded, model)

    def _from_driver(self, p: Parameters, inputs: Inputs) -> bool:
        """Also where somebody passes its messages on."""
        own = DRIVER_SENSOR in inputs.wrench_source() or _named(inputs) == p.tip_link + TCP_FRAME
        return own and self._node.count_publishers(PROGRAM_TOPIC) > 0

    def frame_of(self, p: Parameters, inputs: Inputs) -> str:
        """The frame that counts: ft_frame where it is given (other than the flange), the pendant's TCP for the driver's
        own wrench, else the frame of the messages."""
        if p.ft_frame != p.tip_link:
            return p.ft_frame
        return p.tip_link + TCP_FRAME if self._from_driver(p, inputs) else _named(inputs) or p.tip_link

    def find(self, p: Parameters, inputs: Inputs, model: RobotModel) -> Place | None:
        """None: not known (yet)."""
        frames = self._frames
        frames.poll()
        frame = self.frame_of(p, inputs)
        if frame == p.tip_link:
            return Place(Pose(), f"the wrench is that of the flange ({frame})", frame)
        pose = self._description.fixed_frame(p.base_link, p.tip_link, frame)
        if pose is not None:
            return Place(pose, f"the wrench is in frame {frame} of robot_description", frame)
        frames.add_fixed(self._description.fixed_links())
        pose = frames.fixed(p.tip_link, frame)
        if pose is not None:
            return Place(pose, f"the wrench is in frame {frame} of /tf_static", frame)
        frames.listen(frame)
        T_base_frame = frames.present(p.base_link, frame)
        if T_base_frame is None:
            return None
        T_flange_frame = Pose(*model.forward(inputs.q)).inverse() @ T_base_frame
        where = np.round(1e3 * T_flange_frame.position).astype(int).tolist()
        words, doubt = f"the wrench is in frame {frame} of /tf, {where} mm from the flange", ""
        if frame == p.tip_link + TCP_FRAME and self._from_driver(p, inputs):
            driver = self._driver = self._driver or self._look_at_driver(p, inputs, model)
            T_flange_frame, doubt = driver.sensor(T_flange_frame)
            if driver.release not in (None, Release.RIGHT):
                words += f"; {driver.why} {driver.release.value}"
        return Place(T_flange_frame, words, frame, True, doubt)

    def unknown(self, p: Parameters, inputs: Inputs) -> str:
        """What is missing, as a sentence."""
        frame = self.frame_of(p, inputs)
        tf = (
            "/tf_static or /tf"
            if self._frames.available
            else "TF (of which only the driver's TCP is known here: tf2_msgs is not installed)"
        )
        return (
            f"waiting for frame {frame}, in which the wrench is given: neither in robot_description nor on {tf}; "
            f"publish it (static_transform_publisher --frame-id {p.tip_link} --child-frame-id {frame}), or give "
            "sensor.rotation and sensor.position"
        )


def _named(inputs: Inputs) -> str:
    """Frame of the messages."""
    return inputs.wrench_frame.lstrip("/")


def moved(place: Place, now: Place | None, inputs: Inputs, model: RobotModel) -> str:
    """Why the place that is in use is no longer true, as a sentence; empty: it is."""
    if now is None:
        return f"frame {place.frame} of the wrench is no longer on /tf"
    twist = model.jacobian(inputs.q) @ inputs.qd
    # about the sensor, which may be half a metre in front of the flange
    turning = float(np.linalg.norm(twist[3:]))
    speed = float(np.linalg.norm(twist[:3])) + turning * float(np.linalg.norm(place.pose.position))
    how = place.differs(now.pose, speed, turning)
    return f"frame {place.frame} of the wrench has moved on the tool by {how}: was the TCP changed?" if how else ""


def believed(place: Place) -> Place:
    """RobotError for one that is in doubt."""
    if place.doubt:
        raise RobotError(place.doubt)
    return place


def must_stand(inputs: Inputs) -> None:
    """RobotError while the arm moves: transforms and joint states of different moments do not fit."""
    fastest = float(np.abs(inputs.qd).max())
    if fastest > AT_REST:
        raise RobotError(f"the arm moves ({fastest:.3f} rad/s): the frame of the wrench is looked up at standstill.")


class SensorWatch:
    """node: its parameters say where the sensor is, its `search` knows the frames. All in one thread."""

    def __init__(self, node: Any) -> None:
        self._node, self._places = node, SensorPlace(node, node.search)
        self._place: Place | None = None
        self._placed: dict[str, Any] = {}  # what a frame says about sensor.rotation and sensor.position
        self._given: dict[str, Any] = {}  # what the user, or a calibration, says about them

    def configure(self, inputs: Inputs, model: RobotModel) -> None:
        """Wait for the frame in which the wrenches come. RobotError: it stays unknown, or in doubt. sensor.rotation, as
        in a calibration, and sensor.position have the last word, each where it is given."""
        p, log = self._node.parameters, self._node.get_logger()
        given = {"sensor.rotation": p.sensor.rotation, "sensor.position": p.sensor.position}
        self._given = {name: value for name, value in given.items() if any(value) and value != self._placed.get(name)}
        self._place = None
        if at_probe(p):
            log.info(f"the wrench of {inputs.wrench_source()} is compensated, and about the TCP")
        elif len(self._given) == 2:
            log.info("sensor.rotation and sensor.position say where the sensor is, not its frame")
        else:
            self._use(self._wait_for_place(inputs, model))
        inputs.keep_frame()

    def _wait_for_place(self, inputs: Inputs, model: RobotModel) -> Place:
        found: list[Place] = []
        self._places.forget_driver()

        def missing() -> str:
            inputs.poll()
            place = self._find(inputs, model)
            if place is None:
                return self._places.unknown(self._node.parameters, inputs)
            found.append(place)
            return ""

        self._node.search.wait_until(missing)
        if found[-1].moving:
            must_stand(inputs)
        return believed(found[-1])

    def activate(self, inputs: Inputs, model: RobotModel, controller: AdmittanceController) -> None:
        """RobotError: the frame is gone or in doubt, or the weight of the tool would be removed twice."""
        if self._place is not None:
            self._places.forget_driver()
            now = self._find(inputs, model)
            if now is None:
                raise RobotError(self._places.unknown(self._node.parameters, inputs).removeprefix("waiting for "))
            if now.moving:
                must_stand(inputs)
                self._must_stay(now, inputs, model)
            believed(now)
            if now.frame != self._place.frame or self._place.differs(now.pose):
                self._use(now)
        inputs.keep_frame()
        refuse_double_weight(controller)

    def problem(self, inputs: Inputs, model: RobotModel) -> str:
        """What is no longer true, as a sentence; empty: nothing."""
        place = self._place
        if place is None:
            return inputs.other_frame()
        frame = self._places.frame_of(self._node.parameters, inputs)
        if frame != place.frame:  # the driver was found on the network later than its wrench
            return f"the wrench is that of frame {frame}, and was taken for that of {place.frame}; activate again"
        if other := inputs.other_frame():
            return other
        how = ""
        for look in range(LOOKS if place.moving and inputs.joint_age() <= OLD_S else 0):
            time.sleep(AGAIN_S if look else 0.0)
            how = moved(place, self._find(inputs, model), inputs, model)
            if not how:
                break
        return how

    def _must_stay(self, place: Place, inputs: Inputs, model: RobotModel) -> None:
        for _ in range(LOOKS - 1):
            time.sleep(AGAIN_S)
            again = self._find(inputs, model)
            how = "is no longer there" if again is None else place.differs(again.pose)
            if how:
                raise RobotError(f"frame {place.frame} of the wrench moves on a standing arm ({how}); activate again.")

    def _find(self, inputs: Inputs, model: RobotModel) -> Place | None:
        return self._places.find(self._node.parameters, inputs, model)

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
