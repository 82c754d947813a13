"""Messages prepared once, whose numbers are patched in every cycle."""

from collections.abc import Sequence

import numpy as np
from geometry_msgs.msg import Vector3, Wrench, WrenchStamped
from numpy.typing import NDArray
from sensor_msgs.msg import JointState
from std_msgs.msg import Header

from ur_admittance.robots.ros.cdr import Prepared
from ur_admittance.robots.ros.command_outputs import MARKS

Array = NDArray[np.float64]


def joint_state(names: Sequence[str]) -> tuple[Prepared, Array, Array]:
    """A joint state whose positions and speeds are views."""
    effort = [0.0] * 6
    message = Prepared(JointState(name=list(names), position=list(MARKS[:6]), velocity=list(MARKS[6:]), effort=effort))
    return message, message.doubles(MARKS[:6]), message.doubles(MARKS[6:])


def wrench(frame: str) -> tuple[Prepared, Array]:
    """A stamped wrench whose six numbers are a view."""
    force, torque = Vector3(x=MARKS[0], y=MARKS[1], z=MARKS[2]), Vector3(x=MARKS[3], y=MARKS[4], z=MARKS[5])
    message = Prepared(WrenchStamped(header=Header(frame_id=frame), wrench=Wrench(force=force, torque=torque)))
    return message, message.doubles(MARKS[:6])
