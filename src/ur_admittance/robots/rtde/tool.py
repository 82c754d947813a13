"""TCP, payload and wrench of a real robot: apply what was asked for, say what looks wrong, convert what it reports.

e-Series controllers report actual_TCP_force in UR base axes with its moment about the flange, CB3 about the TCP; the
weight of the configured payload is removed in both. Source: maintainers of Universal_Robots_ROS2_Driver, pull requests
1287 and 1615.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ur_admittance.core.chain import forward
from ur_admittance.core.spatial import cross, rotate_back
from ur_admittance.errors import RobotError
from ur_admittance.model import RobotModel
from ur_admittance.params import Parameters
from ur_admittance.robots.rtde.arm_geometry import vectors_to_ur
from ur_admittance.robots.rtde.link import Link
from ur_admittance.robots.rtde.settings import RtdeSettings

Array = NDArray[np.float64]

GRAVITY = 9.81  # [m/s2]
DOUBTFUL_FORCE = 4.0  # [N] at rest; the accuracy of the built-in sensor is some newtons
DOUBTFUL_MASS = 0.05  # [kg] below it the payload is not what is wrong
STAYS = "It stays so when this program has ended."


def apply(link: Link, settings: RtdeSettings) -> list[str]:
    """Set TCP and payload; returns what a user must know about them."""
    s = settings
    sentences = _set(link, s)
    if s.own == "raw":
        return [*sentences, "The raw wrench holds the tool's weight: calibrate tool.mass and tool.center_of_mass."]
    if s.own == "external":
        return [*sentences, "The wrench comes from an external sensor: calibrate tool.mass and tool.center_of_mass."]
    payload = link.payload() if s.payload_kg is None else (s.payload_kg, list(s.payload_cog))
    if payload is None:
        note = "This software does not report its payload: check it on the pendant, a wrong one acts like a push."
    elif payload[0] == 0.0:
        note = "The payload is 0 kg: the weight of any tool will act like a push; set the payload of the tool."
    else:
        note = f"The robot removes the weight of its payload ({payload[0]:.3g} kg) from the wrench."
    return [*sentences, note]


def _set(link: Link, s: RtdeSettings) -> list[str]:
    """What the robot is given stays there after this program, so say what it had before."""
    sentences = []
    if s.tcp is not None:
        before = link.tcp_offset()
        if not link.set_tcp(s.tcp):
            raise RobotError("the robot did not accept the TCP offset.")
        if before is None or not np.allclose(before, s.tcp, atol=1e-6):
            sentences.append(f"TCP of the robot set to {_pose(s.tcp)}; before: {_pose(before)}. {STAYS}")
    if s.payload_kg is not None:
        had, wanted = link.payload(), (s.payload_kg, s.payload_cog)
        if not link.set_payload(*wanted):
            raise RobotError(f"the robot did not accept the payload of {s.payload_kg} kg.")
        if had is None or not np.allclose([had[0], *had[1]], [wanted[0], *wanted[1]], atol=1e-6):
            sentences.append(f"Payload of the robot set to {_load(wanted)}; before: {_load(had)}. {STAYS}")
    return sentences


def _pose(tcp: Sequence[float] | None) -> str:
    if tcp is None:
        return "unknown"
    x, y, z, *turn = tcp
    return f"{1e3 * x:.4g} {1e3 * y:.4g} {1e3 * z:.4g} mm, rotation vector {' '.join(f'{r:.4g}' for r in turn)} rad"


def _load(payload: tuple[float, Sequence[float]] | None) -> str:
    if payload is None:
        return "unknown"
    return f"{payload[0]:.4g} kg at {' '.join(f'{1e3 * c:.4g}' for c in payload[1])} mm"


class BuiltinWrench:
    """actual_TCP_force -> a wrench in the axes of the flange about its origin, which is what ``sample.wrench`` holds.

    tcp: offset of the TCP in the flange frame (6,) when the moment is about the TCP (CB3), else None.
    """

    def __init__(self, model: RobotModel, tcp: ArrayLike | None = None) -> None:
        chain = np.array(model.chain_rotation), np.array(model.chain_position)
        self._q, self._wrench, self._in_base, R = np.zeros(6), np.zeros(6), np.zeros(6), np.empty((3, 3))
        self._forward = forward.on(*chain, self._q, R, np.empty(3), np.empty((6, 6)))
        self._rotate_force = rotate_back.on(R, self._in_base[:3], self._wrench[:3])
        self._rotate_moment = rotate_back.on(R, self._in_base[3:], self._wrench[3:])
        self._moment = np.zeros(3)  # t_flange = t_tcp + p_flange_tcp x f
        lever = None if tcp is None else np.array(tcp, dtype=float)[:3].copy()
        self._shift = None if lever is None else cross.on(lever, self._wrench[:3], self._moment)

    def to_flange(self, q: Array, tcp_force: Array, wrench: Array) -> None:
        """wrench := tcp_force in flange axes about the flange. q: measured angles (6,) [rad]."""
        self._q[:], self._in_base[:] = q, vectors_to_ur(tcp_force)
        self._forward()
        self._rotate_force()
        self._rotate_moment()
        if self._shift is not None:
            self._shift()
        wrench[:] = self._wrench
        wrench[3:] += self._moment


def builtin_wrench(link: Link, model: RobotModel, settings: RtdeSettings, cb3: bool) -> BuiltinWrench | None:
    """The conversion of actual_TCP_force, when that is the source."""
    if settings.own != "builtin":
        return None
    if not cb3:
        return BuiltinWrench(model)
    tcp = settings.tcp or link.tcp_offset()
    if tcp is None:
        raise RobotError("the robot does not report its TCP, about which a CB3 gives its wrench.")
    return BuiltinWrench(model, tcp)


def doubts(force: np.ndarray) -> list[str]:
    """At rest and untouched, a compensated wrench is zero; what is left along gravity looks like a wrong payload.

    force: mean of actual_TCP_force (3,) [N]; z of the UR base points up as that of base_link does."""
    size, upwards = float(np.linalg.norm(force)), float(force[2])
    if size < DOUBTFUL_FORCE:
        return []
    error, direction = abs(upwards) / GRAVITY, "heavy" if upwards > 0.0 else "light"
    payload = f"the payload is about {error:.2g} kg too {direction}, or " if error > DOUBTFUL_MASS else ""
    return [f"The sensor reads {size:.1f} N at rest: {payload}the tool touches something, or the sensor needs zeroing."]


def check_parameters(parameters: Parameters, source: str, second: str = "") -> None:
    """A calibration holds for its own source. Without one, the built-in wrench is compensated and given about the
    flange: neither may be done twice. second: source of the second sensor, empty: none."""
    calibrated = parameters.sensor.source
    if parameters.second.source != second:
        raise RobotError(
            f"second.source = {parameters.second.source or '(empty)'}: but the arm was connected with "
            f"{second or 'no second sensor'}; run with --second, or change the parameter."
        )
    if calibrated and calibrated != source:
        raise RobotError(
            f"sensor.source = {calibrated}: tool and bias were calibrated with it, so the wrench of {source} would be "
            f"wrong; run with --sensor {calibrated}, or calibrate again."
        )
    if source == "builtin" and parameters.sensor.sign != 1.0:
        raise RobotError(
            f"sensor.sign = {parameters.sensor.sign:g}: must be 1 with the robot's own sensor, or the arm goes against "
            "the hand."
        )
    if source != "builtin" or calibrated:
        return
    if parameters.tool.mass > 0.0:
        raise RobotError(
            f"tool.mass = {parameters.tool.mass:g} kg: must be 0 with the robot's compensated wrench, which has the "
            "payload's weight removed already; or run with --sensor raw."
        )
    if any(parameters.sensor.rotation) or any(parameters.sensor.position):
        raise RobotError(
            "sensor.rotation and sensor.position: must be 0 with the robot's own sensor, which is the flange."
        )
