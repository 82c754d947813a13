"""Which robot: the table of UR types, URDF in and out, and the chain that the core computes with."""

from ur_admittance.model.robot import JOINT_NAMES, Link, RobotModel
from ur_admittance.model.table import MODEL_NAMES, robot_model

__all__ = ["JOINT_NAMES", "MODEL_NAMES", "Link", "RobotModel", "robot_model"]
