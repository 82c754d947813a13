"""The motion commands of the control program. A blocking one that takes time is a generator: one step per cycle."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ur_admittance.emulator.motions import MoveJ, MoveL, ServoJ, SpeedJ, SpeedL

if TYPE_CHECKING:
    from ur_admittance.emulator.program import Program

CONTACT_FORCE = 10.0  # [N] at which moveUntilContact ends
PATH_LINE = re.compile(r"move([jl])\(p?\[([^\]]+)\],\s*a=([-\d.eE+]+),\s*v=([-\d.eE+]+)")


# -- streamed -------------------------------------------------------------------------------------------------------


def speed_j(p: "Program") -> None:
    p.linear_stop = False
    qd, acceleration = p.vector(0), p.double(6)
    if isinstance(p.arm.motion, SpeedJ) and p.thread == "speed":
        p.arm.motion.qd, p.arm.motion.acceleration = qd, acceleration
    else:
        p.drive("speed", SpeedJ(qd, acceleration))


def speed_l(p: "Program") -> None:
    p.linear_stop = True
    twist, acceleration = p.vector(0), p.double(6)
    if isinstance(p.arm.motion, SpeedL) and p.thread == "speed":
        p.arm.motion.twist, p.arm.motion.acceleration = twist, acceleration
    else:
        p.drive("speed", SpeedL(twist, acceleration))


def servo_j(p: "Program") -> None:
    _servo(p, p.vector(0))


def servo_l(p: "Program") -> None:
    q = p.arm.commanded.inverse(p.vector(0), p.arm.q_set)
    if q is None:
        p.log("command", "servoL: the pose is out of reach, ignored")
    else:
        _servo(p, q)


def _servo(p: "Program", q: np.ndarray) -> None:
    lookahead = p.double(9)
    if isinstance(p.arm.motion, ServoJ) and p.thread == "servo":
        p.arm.motion.q, p.arm.motion.lookahead = q, lookahead
    else:
        p.drive("servo", ServoJ(q, lookahead))


# -- to an end ------------------------------------------------------------------------------------------------------


def move(p: "Program") -> Iterator[None] | None:
    number, numbers, speed, acceleration = p.integer(0), p.vector(0), p.double(6), p.double(7)
    return _begin_moves(p, [(_kind(p, number, numbers), speed, acceleration)], bool(p.integer(1)))


def _kind(p: "Program", number: int, numbers: np.ndarray) -> tuple[str, np.ndarray]:
    """moveJ, moveJ_IK, moveL, moveL_FK -> what to do with which target."""
    if number in (1, 3):
        return ("j" if number == 1 else "l"), numbers
    if number == 2:
        q = p.arm.commanded.inverse(numbers, p.arm.q_set)
        return "j", p.arm.q_set.copy() if q is None else q
    p.arm.commanded.update(numbers)
    return "l", p.arm.commanded.tcp_pose()


def move_path(p: "Program") -> Iterator[None] | None:
    moves = [((kind, np.array(target)), speed, a) for kind, target, a, speed in p.path]
    return _begin_moves(p, moves, bool(p.integer(1)))


def _begin_moves(p: "Program", moves: list, in_background: bool) -> Iterator[None] | None:  # type: ignore[type-arg]
    if p.thread:
        p.drive("move", p.arm.motion)  # raises: two threads
    job = _moves(p, moves)
    if not in_background:
        return job
    p.background = job
    return None


def _moves(p: "Program", moves: list) -> Iterator[None]:  # type: ignore[type-arg]
    p.progress(0)
    for i, ((kind, target), speed, acceleration) in enumerate(moves):
        if not (speed > 0.0 and acceleration > 0.0):
            p.log("command", f"move with speed {speed} and acceleration {acceleration}: ignored")
            continue
        p.progress(i)
        p.arm.start(MoveJ(target, speed, acceleration) if kind == "j" else MoveL(target, speed, acceleration))
        yield from p.until_standing()
    p.progress(None)


def injected_path(text: str) -> list[tuple[str, list[float], float, float]]:
    """The moves of a path that is uploaded with the program: kind, target, acceleration, speed."""
    moves = []
    for kind, target, acceleration, speed in PATH_LINE.findall(text):
        try:
            numbers = [float(x) for x in target.split(",")]
            if len(numbers) == 6:
                moves.append((kind, numbers, float(acceleration), float(speed)))
        except ValueError:  # a line with variables in it: part of the program itself
            continue
    return moves


def speed_stop(p: "Program") -> Iterator[None]:
    p.halt(p.double(0))
    return p.until_standing()


def stop_move(p: "Program") -> Iterator[None] | None:
    p.halt(p.double(0))
    p.progress(None)
    return None if p.integer(1) else p.until_standing()


def move_until_contact(p: "Program") -> Iterator[None]:
    twist, acceleration = p.vector(0), p.double(12)
    p.drive("speed", SpeedL(twist, acceleration))
    return _until_force(p, acceleration)


def _until_force(p: "Program", deceleration: float) -> Iterator[None]:
    while float(np.linalg.norm(p.arm.tcp_force[:3])) < CONTACT_FORCE:
        yield
    p.halt(max(deceleration, 1.0))
    yield from p.until_standing()


def jog_start(p: "Program") -> None:
    p.drive("jog", SpeedL(p.vector(0), p.double(7) or 0.5))


def jog_stop(p: "Program") -> Iterator[None]:
    p.halt(5.0)
    return p.until_standing()
