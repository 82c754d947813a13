"""Which robot: its chain, limits and masses.

arm_model.py  RobotModel: the chain that the core computes with
arm_table.py  the table of UR types; the geometry of one arm, as its controller states it
urdf/         a model from URDF
frames.py     rotations and poses
look.py       what an arm looks like, as cylinders
"""

from ur_admittance.model.arm_model import JOINT_NAMES, Link, RobotModel
from ur_admittance.model.arm_table import MODEL_NAMES, robot_model

__all__ = ["JOINT_NAMES", "MODEL_NAMES", "Link", "RobotModel", "robot_model"]
