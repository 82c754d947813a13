"""Which robot: its chain, limits and masses.

robot.py   RobotModel: the chain that the core computes with
table.py   the table of UR types
dh.py      the geometry of one arm, as its controller states it
urdf/      URDF text in and out
frames.py  rotations and poses
look.py    what an arm looks like, as cylinders
"""

from ur_admittance.model.arm_model import JOINT_NAMES, Link, RobotModel
from ur_admittance.model.arm_table import MODEL_NAMES, robot_model

__all__ = ["JOINT_NAMES", "MODEL_NAMES", "Link", "RobotModel", "robot_model"]
