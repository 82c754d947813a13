"""The oracle of these tests: Pinocchio, reading the same URDF text with its own parser."""

from collections.abc import Sequence

import numpy as np
import pinocchio
import pytest
from numpy.typing import NDArray


class PinocchioArm:
    """Kinematics and dynamics between two links, joints in a given order."""

    def __init__(self, text: str, joint_names: Sequence[str], base: str = "base_link", tip: str = "tool0") -> None:
        self.model = pinocchio.buildModelFromXML(text)
        self.data = self.model.createData()
        self.joints = [self.model.joints[self.model.getJointId(name)] for name in joint_names]
        self.base, self.tip = self.model.getFrameId(base), self.model.getFrameId(tip)

    def _q(self, angles: NDArray[np.float64]) -> NDArray[np.float64]:
        q = pinocchio.neutral(self.model)
        for joint, angle in zip(self.joints, angles, strict=True):
            # Pinocchio keeps an unlimited joint as (cos, sin).
            q[joint.idx_q : joint.idx_q + joint.nq] = angle if joint.nq == 1 else (np.cos(angle), np.sin(angle))
        return q

    def forward(self, angles):
        pinocchio.framesForwardKinematics(self.model, self.data, self._q(angles))
        pose = self.data.oMf[self.base].actInv(self.data.oMf[self.tip])
        return pose.rotation, pose.translation

    def jacobian(self, angles):
        axes = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED
        J = pinocchio.computeFrameJacobian(self.model, self.data, self._q(angles), self.tip, axes)
        pinocchio.updateFramePlacements(self.model, self.data)
        R_base_world = self.data.oMf[self.base].rotation.T
        J = J[:, [joint.idx_v for joint in self.joints]]
        return np.vstack([R_base_world @ J[:3], R_base_world @ J[3:]])

    def mass_matrix(self, angles):
        M = np.array(pinocchio.crba(self.model, self.data, self._q(angles)))
        M = np.triu(M) + np.triu(M, 1).T
        at = [joint.idx_v for joint in self.joints]
        return M[np.ix_(at, at)]


@pytest.fixture(scope="session")
def pinocchio_arm():
    return PinocchioArm


@pytest.fixture
def rng():
    return np.random.default_rng(20240607)
