"""Denavit-Hartenberg parameters -> the chain of a model: how a UR controller states the geometry of its own arm.

T_base_flange(q) = A_0(q0) ... A_5(q5),  A_i(q) = Rz(theta_i + q) Tz(d_i) Tx(a_i) Rx(alpha_i)    (standard, distal)

Calibration makes parallel axes of the arm almost parallel. Their common normal may then be metres away: d_1 and d_2 of
a real arm can be -12 m and +12 m. So frames are not taken from the parameters, only the axes of the joints. A link
frame may slide along its axis and turn about it without changing the arm,

    X_i Rz(q) X_{i+1} = (X_i G) Rz(q) (G^-1 X_{i+1}),   G = Rz(phi) Tz(s)

and is put where it is nearest to that of the model, so that masses and housings stay in their place.
"""

from dataclasses import dataclass, replace

import numpy as np

from ur_admittance.model.arm_model import RobotModel
from ur_admittance.model.arm_table import T_BASE_LINK_UR_BASE
from ur_admittance.model.frames import Array, Pose, rotation_x, rotation_z


@dataclass(frozen=True, eq=False)
class DenavitHartenberg:
    theta: Array  # (6,) [rad]
    a: Array  # (6,) [m]
    d: Array  # (6,) [m]
    alpha: Array  # (6,) [rad]

    @property
    def columns(self) -> tuple[list[float], list[float], list[float], list[float]]:
        """theta, a, d, alpha."""
        return self.theta.tolist(), self.a.tolist(), self.d.tolist(), self.alpha.tolist()

    def link(self, i: int, q: float = 0.0) -> Pose:
        """A_i(q)."""
        turn = rotation_z(self.theta[i] + q)
        return Pose(turn @ rotation_x(self.alpha[i]), turn @ np.array([self.a[i], 0.0, self.d[i]]))


def with_geometry(model: RobotModel, dh: DenavitHartenberg) -> RobotModel:
    """The model with the geometry of one arm of its type; limits, masses and housings remain."""
    R_model, p_model = model.frames(np.zeros(6))
    chain: list[Pose] = []
    T_base_link = Pose()  # at q = 0, of the link before
    T_base_joint = T_BASE_LINK_UR_BASE  # the frame of the parameters whose z is the axis of joint i
    for i in range(6):
        x = T_base_joint.rotation.T @ R_model[i][:, 0]
        slide = T_base_joint.rotation[:, 2] @ (p_model[i] - T_base_joint.position)
        G = Pose(rotation_z(float(np.arctan2(x[1], x[0]))), np.array([0.0, 0.0, slide]))
        chain.append(T_base_link.inverse() @ T_base_joint @ G)
        T_base_link = T_base_joint @ G
        T_base_joint = T_base_joint @ dh.link(i)
    chain.append(T_base_link.inverse() @ T_base_joint)
    return replace(
        model,
        chain_rotation=np.stack([pose.rotation for pose in chain]),
        chain_position=np.stack([pose.position for pose in chain]),
    )
