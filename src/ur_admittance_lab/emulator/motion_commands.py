"""The motion commands of the control program. A blocking one that takes time is a generator: one step per cycle."""

from collections.abc import Iterator

import numpy as np

from ur_admittance_lab.emulator.emulated_arm import Motion
from ur_admittance_lab.emulator.motions import ServoJ, SpeedJ, SpeedL, joints_for, planned
from ur_admittance_lab.emulator.rtde_control import RtdeControl

# -- streamed -------------------------------------------------------------------------------------------------------


def speed_j(p: RtdeControl) -> None:
    p.linear_stop = False
    qd, acceleration = p.vector(0), p.double(6)
    if isinstance(p.arm.motion, SpeedJ) and p.thread == "speed":
        p.arm.motion.qd, p.arm.motion.acceleration = qd, acceleration
    else:
        p.drive("speed", SpeedJ(qd, acceleration))


def speed_l(p: RtdeControl) -> None:
    p.linear_stop = True
    twist, acceleration = p.vector(0), p.double(6)
    if isinstance(p.arm.motion, SpeedL) and p.thread == "speed":
        p.arm.motion.twist, p.arm.motion.acceleration = twist, acceleration
    else:
        p.drive("speed", SpeedL(twist, acceleration))


def servo_j(p: RtdeControl) -> None:
    _servo(p, p.vector(0))


def servo_l(p: RtdeControl) -> None:
    _servo(p, joints_for(p.arm, p.vector(0), p.arm.q_set))


def _servo(p: RtdeControl, q: np.ndarray) -> None:
    lookahead = p.double(9)
    if isinstance(p.arm.motion, ServoJ) and p.thread == "servo":
        p.arm.motion.q, p.arm.motion.lookahead = q, lookahead
    else:
        p.drive("servo", ServoJ(q, lookahead))


# -- to an end ------------------------------------------------------------------------------------------------------


def move(p: RtdeControl) -> Iterator[None] | None:
    """moveJ, moveJ_IK, moveL, moveL_FK."""
    number, target, speed, acceleration = p.integer(0), p.vector(0), p.double(6), p.double(7)
    if number == 2:
        target = joints_for(p.arm, target, p.arm.q_set)
    elif number == 4:
        target = p.arm.commanded.tcp_pose_at(target)
    job = _to_its_end(p, planned(p.arm, "j" if number in (1, 2) else "l", target, speed, acceleration))
    if p.thread:
        p.drive("move", p.arm.motion)  # raises: two threads
    if not p.integer(1):
        return job
    p.background = job
    return None


def _to_its_end(p: RtdeControl, motion: Motion) -> Iterator[None]:
    p.progress(0)
    p.arm.start(motion)
    yield from p.until_standing()
    p.progress(None)


def speed_stop(p: RtdeControl) -> Iterator[None]:
    p.halt(p.double(0))
    return p.until_standing()


def stop_move(p: RtdeControl) -> Iterator[None] | None:
    p.halt(p.double(0))
    p.progress(None)
    return None if p.integer(1) else p.until_standing()
