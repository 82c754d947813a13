"""The control program that ur_rtde uploads, imitated: command handshake in registers, motion threads.

It is recognised by its text. Once per control cycle it looks at the command number in input integer register 0:
    real-time commands   executed again in every cycle while the number stays; output integer register 0 := 1 (ready)
    0                    output := 1 (ready for the next command)
    255                  the program ends
    any other            executed once, to its end; output := 2 (done), until the client writes 0
Registers may be shifted by 24 (the range for external clients).
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ur_admittance_lab.emulator.emulated_arm import Hold, Motion
from ur_admittance_lab.emulator.motion_limits import ProgramError
from ur_admittance_lab.emulator.motions import Stop
from ur_admittance_lab.emulator.running_program import Program

READY, DONE = 1, 2  # output integer register 0
NO_COMMAND, STOP_SCRIPT = 0, 255
STREAMED = (9, 11)  # speedJ, servoJ
OFFSET = re.compile(r"=\s*(\d+)\s*# int register offset|# int register offset\s*\n?\s*(\d+)")


def is_rtde_control(text: str) -> bool:
    return "rtde_cmd()" in text and "signal_ready" in text


class Commands(NamedTuple):
    """By their numbers (command_names.py). A blocking one that takes time gives its steps, one per cycle."""

    real_time: Mapping[int, Callable[["RtdeControl"], None]]
    blocking: Mapping[int, Callable[["RtdeControl"], Iterator[None] | None]]
    unknown: Callable[["RtdeControl"], None]  # any other number


class RtdeControl:
    name = "rtde_control"

    def __init__(self, program: Program, text: str, commands: Commands) -> None:
        self.program, self._commands = program, commands
        self.arm, self.safety, self.inputs, self.outputs = program.arm, program.safety, program.inputs, program.outputs
        self.period, self.log = program.period, program.log
        offset = OFFSET.search(text)
        self.offset = 24 if offset and "24" in (offset.group(1), offset.group(2)) else 0
        self.command_register = f"input_int_register_{self.offset}"
        self.job: Iterator[None] | None = None
        self.background: Iterator[None] | None = None
        self.thread = ""  # "speed", "servo", "move": who moves the arm
        self.linear_stop = False
        self.executing = False
        self._async_writes = self._async_operation = 0

    # life

    def begin(self) -> None:
        self.progress(None)
        self.inputs.values[self.command_register] = 0
        self.write_integer(0, READY)

    def pause(self) -> None:
        self.thread, self.job, self.background = "", None, None

    def close(self) -> None:
        """Nothing is left to do."""

    @property
    def streams(self) -> bool:
        return self.thread in ("speed", "servo")

    def streamed(self, values: dict[str, Any]) -> bool:
        return values.get(self.command_register) in STREAMED

    def cycle(self) -> bool:
        """One cycle; False when the program is over."""
        if self.background is not None and not _advance(self.background):
            self.background = None
        if self.job is not None:
            if not _advance(self.job):
                self.job = None
                self.write_integer(0, DONE)
            return True
        number = self.integer(0)
        if number in self._commands.real_time:
            self._commands.real_time[number](self)
            self.write_integer(0, READY)
        elif number == NO_COMMAND:
            self.executing = False
            self.write_integer(0, READY)
        elif number == STOP_SCRIPT:
            return False
        elif not self.executing:
            self.executing = True
            self.job = self._commands.blocking.get(number, self._commands.unknown)(self)
            if self.job is None:
                self.write_integer(0, DONE)
        return True

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

    def watch(self, frequency: float) -> None:
        """The program ends when no data package with a command comes for 1/frequency [s]."""
        self.program.watch(self.command_register, frequency, "stop")

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
        self._async_writes = (self._async_writes + 1) % 128
        if value == 0:
            self._async_operation = (self._async_operation + 1) % 128
        word = self._async_writes << 16 | self._async_operation << 24
        self.write_integer(2, word if value is None else word | 1 << 15 | min(value, 0x7FFF))


def _advance(job: Iterator[None]) -> bool:
    """One cycle of a job; False when it is over."""
    try:
        next(job)
    except StopIteration:
        return False
    return True
