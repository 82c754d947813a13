"""The control program that ur_rtde uploads: command handshake in registers, motion threads, watchdog.

Once per control cycle the program looks at the command number in input integer register 0:
    real-time commands   executed again in every cycle while the number stays; output integer register 0 := 1 (ready)
    0                    output := 1 (ready for the next command)
    255                  the program ends
    any other            executed once, to its end; output := 2 (done), until the client writes 0
Registers may be shifted by 24 (the range for external clients).
"""

import math
import re
from collections.abc import Callable, Iterator

import numpy as np

from ur_admittance.emulator import commands
from ur_admittance.emulator.arm import Arm
from ur_admittance.emulator.limits import ProgramError
from ur_admittance.emulator.motions import Hold, Motion, Stop
from ur_admittance.emulator.safety import PROGRAM_STOP_DECELERATION, Safety, StopKind
from ur_admittance.emulator.variables import Inputs, Outputs
from ur_admittance.runtime.braking import Watchdog

STOPPED, PLAYING, PAUSED = 1, 2, 4  # runtime_state
READY, DONE = 1, 2  # output integer register 0
NO_COMMAND, STOP_SCRIPT = 0, 255
START_CYCLES = 10  # between the upload of a program and its first cycle


class Program:
    def __init__(self, arm: Arm, safety: Safety, inputs: Inputs, outputs: Outputs, period: float) -> None:
        self.arm, self.safety, self.inputs, self.outputs, self.period = arm, safety, inputs, outputs, period
        self.runtime_state = STOPPED
        self.offset = 0
        self.log: Callable[[str, str], None] = lambda kind, text: None
        self._starting = 0
        self._foreign = False
        self._reset()

    def _reset(self) -> None:
        self.job: Iterator[None] | None = None
        self.background: Iterator[None] | None = None
        self.thread = ""  # "speed", "servo", "jog": who moves the arm
        self.linear_stop = False
        self.executing = False
        self.watchdog = Watchdog(self.period, math.inf)  # off until the client sets it
        self._async_writes = self._async_operation = 0

    # life

    def upload(self, text: str) -> None:
        """A complete ``def ... end`` text arrived on the script port."""
        if not self.safety.can_move:
            self.log("script", "upload ignored: the arm is stopped or without power")
            return
        self.end("replaced by an upload", quiet=True)
        self._foreign = not ("rtde_cmd()" in text and "signal_ready" in text)
        offset = re.search(r"=\s*(\d+)\s*# int register offset|# int register offset\s*\n?\s*(\d+)", text)
        self.offset = 24 if offset and "24" in (offset.group(1), offset.group(2)) else 0
        self._starting = START_CYCLES
        self.log("script", f"program of {len(text)} bytes, register offset {self.offset}")
        if self._foreign:
            self.log("script", "not a control program: accepted, its statements are not executed")

    def end(self, reason: str, quiet: bool = False) -> None:
        """The program stops and the arm brakes."""
        was_running = self.runtime_state != STOPPED
        self.runtime_state, self._starting = STOPPED, 0
        self._reset()
        if was_running:
            if not self.arm.standing:
                self.safety.begin_incident(reason)
            if not isinstance(self.arm.motion, Stop | Hold):
                self.arm.start(Stop(PROGRAM_STOP_DECELERATION))
            if not quiet:
                self.log("program", f"stopped: {reason}")

    def play(self) -> bool:
        if self.runtime_state == PAUSED and self.safety.can_move:
            self.runtime_state = PLAYING
            self.watchdog.kick()
            return True
        return False

    def pause(self) -> None:
        if self.runtime_state == PLAYING:
            self.runtime_state = PAUSED
            self.thread, self.job, self.background = "", None, None
            if self.safety.can_move:
                self.arm.start(Stop(PROGRAM_STOP_DECELERATION))

    def on_safety_stop(self, kind: StopKind) -> None:
        """A protective or safeguard stop pauses the program, an emergency stop ends it."""
        if kind is StopKind.EMERGENCY:
            self.end("emergency stop", quiet=True)
        else:
            self.pause()

    def kick(self) -> None:
        """A data package with the command register has arrived."""
        self.watchdog.kick()

    # one cycle

    def cycle(self) -> None:
        if self._starting:
            self._starting -= 1
            if self._starting == 0:
                self._begin()
            return
        if self.runtime_state != PLAYING:
            return
        if self.watchdog.tick():
            self.end(f"watchdog: no input for {1e3 * self.watchdog.silence:.0f} ms")
            return
        try:
            self._execute()
        except ProgramError as error:
            self.end(f"runtime error: {error}")

    def _begin(self) -> None:
        self.runtime_state = PLAYING
        self.write_integer(2, self._async_word(None))
        if self._foreign:
            self.write_integer(0, DONE)
            self.end("end of the uploaded program", quiet=True)
            return
        self.inputs.values[f"input_int_register_{self.offset}"] = 0
        self.write_integer(0, READY)

    def _execute(self) -> None:
        if self.background is not None and not _advance(self.background):
            self.background = None
        if self.job is not None:
            if not _advance(self.job):
                self.job = None
                self.write_integer(0, DONE)
            return
        number = self.integer(0)
        if number in commands.REAL_TIME:
            commands.REAL_TIME[number](self)
            self.write_integer(0, READY)
        elif number == NO_COMMAND:
            self.executing = False
            self.write_integer(0, READY)
        elif number == STOP_SCRIPT:
            self.end("asked to stop", quiet=True)
        elif not self.executing:
            self.executing = True
            self.job = commands.BLOCKING.get(number, commands.refused)(self)
            if self.job is None:
                self.write_integer(0, DONE)

    # what commands use

    def integer(self, i: int) -> int:
        return self.inputs.integer(i + self.offset)

    def doubles(self, first: int, count: int) -> list[float]:
        """Arguments of a command; numbers that are not finite end the program."""
        values = self.inputs.doubles(first + self.offset, count)
        if not all(math.isfinite(x) for x in values):
            raise ProgramError(f"arguments {values} are not finite")
        return values

    def vector(self, first: int) -> np.ndarray:
        return np.array(self.doubles(first, 6))

    def double(self, i: int) -> float:
        return self.doubles(i, 1)[0]

    def write_integer(self, i: int, value: int) -> None:
        self.outputs.integers[i + self.offset] = value

    def write_doubles(self, values: np.ndarray) -> None:
        self.outputs.doubles[self.offset : self.offset + len(values)] = values.tolist()

    def drive(self, thread: str, motion: Motion) -> None:
        """Hand the arm to a motion thread; a second one is a runtime error."""
        if self.thread not in ("", thread):
            raise ProgramError(f"another thread ({self.thread}) is already controlling the robot")
        self.thread = thread
        self.arm.start(motion)

    def halt(self, deceleration: float) -> None:
        if not 0.0 < deceleration <= 1e3:
            raise ProgramError(f"deceleration {deceleration}: must be > 0")
        self.thread, self.background = "", None
        self.arm.start(Stop(deceleration))

    def until_standing(self) -> Iterator[None]:
        while not isinstance(self.arm.motion, Hold):
            yield

    def progress(self, value: int | None) -> None:
        """The status word of asynchronous motions; None: finished."""
        self.write_integer(2, self._async_word(value))

    def _async_word(self, value: int | None) -> int:
        self._async_writes = (self._async_writes + 1) % 128
        if value == 0:
            self._async_operation = (self._async_operation + 1) % 128
        word = self._async_writes << 16 | self._async_operation << 24
        return word if value is None else word | 1 << 15 | min(value, 0x7FFF)


def _advance(job: Iterator[None]) -> bool:
    """One cycle of a job; False when it is over."""
    try:
        next(job)
    except StopIteration:
        return False
    return True
