"""What the emulated robot refuses: impossible wishes of a program, and set-points at which its safety system stops it.

Universal Robots publishes neither the thresholds of its path check nor those of its settings: what is assumed says so.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ur_admittance.errors import SimulationError
from ur_admittance.model import RobotModel

Array = NDArray[np.float64]

TCP_SPEED = 1.5  # [m/s] of the safety settings that a UR is delivered with
ACCELERATION = 40.0  # [rad/s2] of a joint's set-point; assumed: the largest that clients ask speedj for
ROUNDING = 1.01  # of both, and of the joints' speed limits
LONGEST_TOOL = 2.0  # [m] from the flange to a TCP or to a centre of mass; assumed
RATED_PAYLOAD = 5.0  # [kg] of an arm whose description does not say


# codes of UR's list of errors, for the reasons of a protective stop
JOINT_LIMIT, DEVIATION, SINGULARITY, COLLISION, LIMIT_VIOLATION, PATH_CHECK, TRIGGERED = (
    150,
    153,
    154,
    157,
    191,
    204,
    209,
)


class Cause(NamedTuple):
    """Why the arm stops: a sentence, and what a robot sends, such as C153A2: code 153, argument 2 (often the joint)."""

    text: str
    code: int
    argument: int = 0


class ProgramError(SimulationError):
    """The program cannot go on: the box ends it and brakes the arm, as for a URScript runtime error.

    ``line`` and ``column`` of its text, from 1; 0 when unknown."""

    def __init__(self, text: str, line: int = 0, column: int = 0) -> None:
        super().__init__(text)
        self.line, self.column = line, column


def check_payload(model: RobotModel, mass: float, cog: Array) -> None:
    largest = RATED_PAYLOAD if model.payload_kg is None else model.payload_kg
    if not 0.0 <= mass <= largest:
        raise ProgramError(f"set_payload: mass {mass:g} kg: must be 0 to {largest:g} kg")
    if np.linalg.norm(cog) > LONGEST_TOOL:
        raise ProgramError(
            f"set_payload: centre of mass {np.linalg.norm(cog):g} m from the flange: must be at most {LONGEST_TOOL:g} m"
        )


def check_tcp(offset: Array) -> None:
    if np.linalg.norm(offset[:3]) > LONGEST_TOOL:
        raise ProgramError(
            f"set_tcp: {np.linalg.norm(offset[:3]):g} m from the flange: must be at most {LONGEST_TOOL:g} m"
        )


def check_joints(model: RobotModel, q: Array) -> None:
    """RuntimeError of the program for a target that the joints cannot turn to."""
    outside = (q < model.lower) | (q > model.upper)
    if outside.any():
        i = int(np.argmax(outside))
        raise ProgramError(
            f"target out of joint limits: joint {i} at {q[i]:.3f} rad, must be {model.lower[i]:.3f} to "
            f"{model.upper[i]:.3f} rad"
        )


def unsound(model: RobotModel, qd: Array, qdd: Array, tcp_speed: Array) -> Cause | None:
    """Why a robot does not follow such a set-point; None: it does. Joint speeds [rad/s], accelerations [rad/s2] and
    the TCP's velocity [m/s]."""
    speed = float(np.sqrt(tcp_speed[:3] @ tcp_speed[:3]))
    if speed > ROUNDING * TCP_SPEED:
        return Cause(f"TCP speed {speed:.2f} m/s above {TCP_SPEED:g} m/s", LIMIT_VIOLATION, 3)
    if (np.abs(qd) > ROUNDING * model.velocity).any():
        i = int(np.argmax(np.abs(qd) / model.velocity))
        text = f"speed of joint {i} {abs(qd[i]):.2f} rad/s above {model.velocity[i]:.2f} rad/s"
        return Cause(text, LIMIT_VIOLATION, 32 + i)
    if np.abs(qdd).max() > ROUNDING * ACCELERATION:
        i = int(np.argmax(np.abs(qdd)))
        text = f"sudden change in target speed: joint {i} {abs(qdd[i]):.0f} rad/s2, at most {ACCELERATION:g} rad/s2"
        return Cause(text, PATH_CHECK, 5)
    return None
