"""The pendant's TCP: where it is, and the wrench about it, without ROS.

Wrench: hardware_interface.cpp, transformForceTorque(). R, p: of T_flange_tcp; f, t: about the flange, its axes.

    right      R^T f, R^T (t - p x f)      about the TCP, in its axes
    inverted   R f, R t + p x R f          T_flange_tcp in place of its inverse
    turned     R^T f, R^T t                in the axes of the TCP, moments still about the flange

Pose: actual_TCP_pose, from `base`, which is base_link turned by half a turn about z; tcp_pose_broadcaster publishes it
on /tf as tool0_controller (ur_controllers.yaml of the same versions).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ur_admittance.errors import ParameterError
from ur_admittance.model.frames import rotation_from_vector
from ur_admittance.recording.messages import quaternion
from ur_admittance_lab.driver.generations import Wrench

Array = NDArray[np.float64]

R_BASE_LINK = np.diag([-1.0, -1.0, 1.0])  # R_base_baselink


class PendantTcp:
    """T_flange_tcp as set on the pendant, and the payload whose weight the robot takes off its readings."""

    def __init__(self, offset: ArrayLike, mass: float, center: ArrayLike) -> None:
        """offset: x y z [m] and rotation vector [rad]; mass [kg]; center: of gravity, flange frame [m]."""
        numbers = np.array(offset, dtype=float)
        if numbers.shape != (6,) or not np.isfinite(numbers).all():
            raise ParameterError(
                f"pendant.tcp = {numbers.tolist()}: must be six finite numbers [m, rad].", "pendant.tcp"
            )
        if not mass >= 0.0:
            raise ParameterError(f"pendant.payload = {mass} kg: must be >= 0.", "pendant.payload")
        self.p, self.R = numbers[:3], rotation_from_vector(numbers[3:])
        self.mass = mass
        self._at_center, self._at_tcp = _cross(np.array(center, dtype=float)), _cross(self.p)

    def wrench(self, raw: Array, R_base_flange: Array, gravity: Array, way: Wrench = "right") -> Array:
        """As the driver publishes it, without the payload's weight. raw: about the flange, its axes, with the tool's;
        way: see above."""
        weight = self.mass * (R_base_flange.T @ gravity)
        force = raw[:3] - weight
        torque = raw[3:] - self._at_center @ weight
        if way == "inverted":
            return np.concatenate([self.R @ force, self.R @ torque + self._at_tcp @ self.R @ force])
        about = torque if way == "turned" else torque - self._at_tcp @ force
        return np.concatenate([self.R.T @ force, self.R.T @ about])

    def pose(self, R_base_flange: Array, p_base_flange: Array) -> tuple[Array, tuple[float, float, float, float]]:
        """(position, quaternion x y z w) of the TCP in `base`; both arguments in base_link."""
        R = R_BASE_LINK @ R_base_flange @ self.R
        return R_BASE_LINK @ (p_base_flange + R_base_flange @ self.p), quaternion(R)


def _cross(a: Array) -> Array:
    """Matrix of a x b."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])
