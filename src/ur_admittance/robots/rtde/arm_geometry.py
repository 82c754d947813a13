"""Is the arm the one that the model describes? Its own geometry, and its tool pose as the judge of ours.

Every UR is measured in the factory; its controller computes with that geometry, which moves the tool by some mm
against the data sheet. The primary port offers it as Denavit-Hartenberg parameters (nominal values and corrections
together) in a robot state message after connecting.
Source: Universal Robots client interface; Universal_Robots_Client_Library, primary/robot_state/kinematics_info.
"""

import contextlib
import struct
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ur_admittance.core.chain import forward
from ur_admittance.core.records import AT_REST
from ur_admittance.errors import ModelError, RobotError
from ur_admittance.model import RobotModel
from ur_admittance.model.arm_table import CALIBRATION, DenavitHartenberg, flange_distance, nearest_model, with_geometry
from ur_admittance.model.frames import rotation_from_vector, rotation_vector
from ur_admittance.robots.rtde.listen import Listener
from ur_admittance.robots.rtde.primary_port import KINEMATICS, Primary
from ur_admittance.robots.rtde.primary_port import PORT as PRIMARY_PORT
from ur_admittance.robots.rtde.wire import WireError

Array = NDArray[np.float64]

# The UR base is base_link turned by pi about z: x and y change their sign, z stays. Converted here and nowhere else.
R_base_urbase: Array = np.diag([-1.0, -1.0, 1.0])  # its own inverse
SIGNS: Array = np.tile(np.diag(R_base_urbase), 2)  # of twists and wrenches

PARAMETERS = struct.Struct(">6I24d")  # checksums; theta, a, d, alpha
PATIENCE = 1.0  # [s] for the geometry; states come ten times a second

ALLOWED = 0.002, np.radians(0.5)  # [m], [rad] between our tool pose and the robot's
GROSS = 0.02, np.radians(3.0)  # [m], [rad] no calibration is that large: another type of arm
EVERY = 5.0  # [s] between two comparisons of a standing arm


def pose_from_ur(pose: ArrayLike) -> tuple[Array, Array]:
    """Position [m] and rotation vector [rad] of the UR side -> rotation (3, 3) and position (3,) in base_link."""
    numbers = np.asarray(pose, dtype=float)
    return R_base_urbase @ rotation_from_vector(numbers[3:]), R_base_urbase @ numbers[:3]


def vectors_to_ur(six: Array) -> Array:
    """A twist or wrench from base_link axes to UR base axes, or back: the turn is its own inverse."""
    return six * SIGNS


@dataclass(frozen=True)
class Difference:
    position: float  # [m]
    angle: float  # [rad]

    def exceeds(self, limits: tuple[float, float]) -> bool:
        return self.position > limits[0] or self.angle > limits[1]

    def __str__(self) -> str:
        return f"{1e3 * self.position:.2f} mm and {np.degrees(self.angle):.2f} degrees"


@dataclass(frozen=True, eq=False)
class Posture:
    """What the robot says of one moment."""

    q: Array  # (6,) [rad]
    tcp_pose: Array  # (6,) [m, rad] UR base
    tcp_offset: Array  # (6,) [m], rotation vector [rad], flange frame


@dataclass(frozen=True, eq=False)
class Geometry:
    """The model of this very arm, and what the comparison with the robot's tool pose gave."""

    model: RobotModel
    calibrated: bool  # the robot has told its own geometry
    posture: Posture | None  # None: this software does not tell its TCP
    before: Difference | None  # with the model as given
    left: Difference | None  # with `model`
    sentence: str

    @property
    def doubt(self) -> str:
        """The sentence, if our tool pose is not the robot's; empty: it is, or could not be compared."""
        return self.sentence if self.left is not None and self.left.exceeds(ALLOWED) else ""


def geometry(host: str, model: RobotModel, timeout: float = 3.0) -> Geometry:
    """Read the arm's own geometry and compare. RobotError: it is another type of arm."""
    dh = read_dh(host, timeout)
    arm = model if dh is None else _of_its_type(model, dh)
    posture = read_posture(host, timeout)
    if posture is None:
        return Geometry(arm, dh is not None, None, None, None, _told(dh is not None, None, None))
    before, left = difference(model, posture), difference(arm, posture)
    if left.exceeds(GROSS):
        raise RobotError(
            f"the robot's tool pose is {left} from that of a {model.name}: it is another type of arm; choose the right "
            "model."
        )
    return Geometry(arm, dh is not None, posture, before, left, _told(dh is not None, before, left))


def _told(calibrated: bool, before: Difference | None, left: Difference | None) -> str:
    if before is None or left is None:
        source = "The arm's own calibration is used" if calibrated else "The arm does not tell its calibration"
        return f"{source}; this software does not report its TCP, so the tool pose could not be compared."
    if left.exceeds(ALLOWED):
        return doubt(left, "" if calibrated else _UNREAD)
    if not calibrated:
        return f"Our tool pose is {left} from the robot's, without its calibration: {_UNREAD}."
    return f"The arm's own calibration is used: it moves the tool by {before} here; {left} are left."


_UNREAD = (
    f"open port {PRIMARY_PORT} (Settings > Security > Services: primary client interface), where the robot tells its "
    "calibration"
)


def doubt(left: Difference, remedy: str = "") -> str:
    """Our tool pose and the robot's do not agree: the sentence."""
    allowed = Difference(*ALLOWED)
    return (
        f"Our tool pose is {left} from the robot's (allowed {allowed}): "
        f"{remedy or 'check the type of the arm and whether its TCP was changed, then connect again'}."
    )


def _of_its_type(model: RobotModel, dh: DenavitHartenberg) -> RobotModel:
    try:
        arm = with_geometry(model, dh)
    except ModelError as error:
        raise RobotError(f"the robot tells a geometry that cannot be used: {error}") from None
    if flange_distance(model, arm) <= CALIBRATION:
        return arm
    is_a = nearest_model(arm)
    known = f"that of a {is_a}" if is_a != model.name else "that of no UR type"
    raise RobotError(f"the robot's geometry is {known}, but the model is {model.name}: choose the right model.")


def difference(model: RobotModel, posture: Posture) -> Difference:
    """Between our tool pose at its joint angles and the one it reports."""
    R_base_flange, p_base_flange = model.forward(posture.q)
    return _between(R_base_flange, p_base_flange, posture.tcp_offset, posture.tcp_pose)


def apart(one: RobotModel, other: RobotModel) -> Difference:
    """Between the flanges of two models, at the home of the first."""
    (R, p), (R_other, p_other) = one.forward(one.home), other.forward(one.home)
    return Difference(float(np.linalg.norm(p - p_other)), float(np.linalg.norm(rotation_vector(R.T @ R_other))))


def _between(R: Array, p: Array, tcp_offset: Array, tcp_pose: ArrayLike) -> Difference:
    """R, p: of the flange in base_link."""
    R_robot, p_robot = pose_from_ur(tcp_pose)
    R_base_tcp = R @ rotation_from_vector(tcp_offset[3:])
    p_base_tcp = p + R @ tcp_offset[:3]
    angle = float(np.linalg.norm(rotation_vector(R_base_tcp.T @ R_robot)))
    return Difference(float(np.linalg.norm(p_base_tcp - p_robot)), angle)


class StandingCheck:
    """The same comparison now and then in a run, while the arm stands; some 20 us."""

    def __init__(self, arm: Geometry, tcp_offset: ArrayLike | None = None) -> None:
        """tcp_offset: None, as the robot had it then."""
        if tcp_offset is None and arm.posture is not None:
            tcp_offset = arm.posture.tcp_offset
        model = arm.model
        self._rotation, self._position = np.array(model.chain_rotation), np.array(model.chain_position)
        self._R, self._p, self._J = np.empty((3, 3)), np.empty(3), np.empty((6, 6))
        self._known = tcp_offset is not None
        self._tcp_offset = np.array(tcp_offset if self._known else np.zeros(6), dtype=float)
        self.doubt(np.array(model.home), np.zeros(6))  # compiled before the loop
        self._next = 0.0

    def due(self, qd: Array) -> bool:
        """Does it stand, and is it time?"""
        return self._known and time.monotonic() > self._next and float(np.abs(qd).max()) < AT_REST

    def doubt(self, q: Array, tcp_pose: ArrayLike) -> str:
        """The sentence; empty: they agree."""
        self._next = time.monotonic() + EVERY
        forward(self._rotation, self._position, q, self._R, self._p, self._J)
        left = _between(self._R, self._p, self._tcp_offset, tcp_pose)
        return doubt(left) if left.exceeds(ALLOWED) else ""


def read_posture(host: str, timeout: float) -> Posture | None:
    """None: software before 5.11 does not report its TCP."""
    names = ("actual_q", "actual_TCP_pose", "tcp_offset")
    try:
        with Listener(host, timeout) as robot:
            if robot.choose(names):
                return None
            for _, state in robot.states(timeout):
                return Posture(*(np.array(state[name]) for name in names))
    except (OSError, WireError) as error:
        raise RobotError(f"{host} does not send its tool pose ({error}).") from None
    raise RobotError(f"{host} does not send its tool pose within {timeout:g} s.")


def read_dh(host: str, timeout: float) -> DenavitHartenberg | None:
    """The arm's own geometry; None: it is not offered there."""
    with contextlib.suppress(RobotError), Primary(host, timeout) as port:
        for part in port.parts(PATIENCE):
            if len(part) >= 5 + PARAMETERS.size and part[4] == KINEMATICS:
                numbers = np.array(PARAMETERS.unpack_from(part, 5)[6:]).reshape(4, 6)
                return DenavitHartenberg(*numbers)
    return None
