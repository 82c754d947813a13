"""The built-in functions of URScript that move the arm or take time: generators, a yield per control cycle.

Defaults and ranges are those of the URScript manual. A blend radius is ignored: every move ends at rest.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ur_admittance_lab.emulator.emulated_arm import Hold
from ur_admittance_lab.emulator.motion_limits import ProgramError
from ur_admittance_lab.emulator.motions import ServoJ, SpeedJ, SpeedL, Stop, joints_for, planned
from ur_admittance_lab.emulator.running_program import Program
from ur_admittance_lab.emulator.safety import PROGRAM_STOP_DECELERATION, StopKind
from ur_admittance_lab.emulator.urscript.interpreter import ScriptRun
from ur_admittance_lab.emulator.urscript.script_values import Array, Pose, number, positive, vector


class MotionFunctions:
    """Every public method is a function of the language, with the names of its parameters."""

    def __init__(self, program: Program, run: ScriptRun) -> None:
        self._program, self._run, self._arm = program, run, program.arm
        self._ahead = 0.0  # [s] by which the last speedj ended late: a cycle has one motion

    # time

    def _wait(self, seconds: float, at_least: int = 0) -> Iterator[None]:
        cycles = max(at_least, math.ceil(seconds / self._program.period - 1e-6))
        if cycles and self._run.secondary:
            raise ProgramError("runtime is too much behind: a secondary program cannot take time")
        for _ in range(cycles):
            yield

    def sync(self) -> Iterator[None]:
        yield from self._wait(0.0, at_least=1)

    def sleep(self, t: Any) -> Iterator[None]:
        yield from self._wait(number(t, "t"))

    def get_steptime(self) -> float:
        return self._program.period

    # motion

    def _moving(self, steps: Iterator[None]) -> Iterator[None]:
        """This thread has the arm until the motion is over."""
        run = self._run
        if run.secondary:
            raise ProgramError("runtime is too much behind: a secondary program cannot move the arm")
        if run.mover is not None:
            raise ProgramError("another thread is already controlling the robot")
        run.mover = run.current
        try:
            yield from steps
        finally:
            run.mover = None

    def _move(self, kind: str, target: Array, a: float, v: float, t: float) -> Iterator[None]:
        """To its end; after a pause again, from where the arm stands."""
        arm = self._arm
        while True:
            if not isinstance(arm.motion, Stop | Hold):  # a move begins at rest
                arm.start(Stop(PROGRAM_STOP_DECELERATION))
            yield from self._until_at_rest()
            motion = planned(arm, kind, target, v, a)
            if t > 0.0:  # a third of the time each for speeding up, travelling and slowing down
                distance = motion.begin(arm)
                motion.speed, motion.acceleration = 1.5 * distance / t, 4.5 * distance / t**2
            arm.start(motion)
            try:
                while arm.motion is motion:
                    yield
            finally:
                if arm.motion is motion:  # killed on the way
                    arm.start(Stop(PROGRAM_STOP_DECELERATION))
            if motion.done:
                return

    def movej(self, q: Any, a: Any = 1.4, v: Any = 1.05, t: Any = 0.0, r: Any = 0.0) -> Iterator[None]:
        target = vector(q, "q")
        if isinstance(q, Pose):
            target = joints_for(self._arm, target, self._arm.q_set)
        yield from self._moving(self._move("j", target, positive(a, "a"), positive(v, "v"), number(t, "t")))

    def movel(self, pose: Any, a: Any = 1.2, v: Any = 0.25, t: Any = 0.0, r: Any = 0.0) -> Iterator[None]:
        target = vector(pose, "pose")
        if not isinstance(pose, Pose):
            target = self._arm.commanded.tcp_pose_at(target)
        yield from self._moving(self._move("l", target, positive(a, "a"), positive(v, "v"), number(t, "t")))

    def speedj(self, qd: Any, a: Any, t: Any = 0.0) -> Iterator[None]:
        if number(a, "a") != 0.0 or number(t, "t") <= 0.0:
            positive(a, "a")  # 0 keeps the speed, for a time
        yield from self._moving(self._speed(SpeedJ(vector(qd, "qd"), float(a)), number(t, "t")))

    def speedl(self, xd: Any, a: Any, t: Any = 0.0, aRot: Any = "a") -> Iterator[None]:
        now = self._arm.motion.now if isinstance(self._arm.motion, SpeedL) else None
        motion = SpeedL(vector(xd, "xd"), positive(a, "a"), now)
        yield from self._moving(self._speed(motion, number(t, "t")))

    def _speed(self, motion: SpeedJ | SpeedL, t: float) -> Iterator[None]:
        """For t seconds of the arm's time, which the speed slider stretches; without t until the speed is reached."""
        arm, period = self._arm, self._program.period
        passed = self._ahead if isinstance(arm.motion, SpeedJ | SpeedL) else 0.0
        arm.start(motion)
        while True:
            yield
            passed += arm.scaling * period
            if passed >= t - 1e-9 if t > 0.0 else arm.motion is not motion or self._reached(motion):
                break
        self._ahead = min(passed - t, period) if t > 0.0 else 0.0

    def _reached(self, motion: SpeedJ | SpeedL) -> bool:
        if isinstance(motion, SpeedJ):
            return bool(np.array_equal(self._arm.qd_set, motion.qd))
        return motion.now is not None and bool(np.array_equal(motion.now, motion.twist))

    def servoj(
        self, q: Any, a: Any = 0.0, v: Any = 0.0, t: Any = 0.002, lookahead_time: Any = 0.1, gain: Any = 300
    ) -> Iterator[None]:
        if not 0.03 <= number(lookahead_time, "lookahead_time") <= 0.2:
            raise ProgramError(f"lookahead_time = {lookahead_time} s: must be 0.03 to 0.2 s")
        if not 100 <= number(gain, "gain") <= 2000:
            raise ProgramError(f"gain = {gain}: must be 100 to 2000")
        yield from self._moving(self._servo(ServoJ(vector(q, "q"), lookahead_time), number(t, "t")))

    def _servo(self, motion: ServoJ, t: float) -> Iterator[None]:
        self._arm.start(motion)
        yield from self._wait(t, at_least=1)

    def stopj(self, a: Any = 2.0) -> Iterator[None]:
        yield from self._moving(self._stop(positive(a, "a")))

    def stopl(self, a: Any, aRot: Any = "a") -> Iterator[None]:
        yield from self._moving(self._stop(positive(a, "a")))

    def _stop(self, deceleration: float) -> Iterator[None]:
        self._arm.start(Stop(deceleration))
        yield from self._until_at_rest()

    def _until_at_rest(self) -> Iterator[None]:
        while not isinstance(self._arm.motion, Hold):
            yield

    def protective_stop(self) -> None:
        """Takes no time: a program whose last statement it is has ended, not paused, as UR's own tests expect."""
        self._program.safety.trip(StopKind.PROTECTIVE, "asked for by the program")
