"""A URScript program that runs: its threads, the time they may use, one control cycle of them."""

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from traceback import walk_tb
from typing import Any, TypeGuard

from ur_admittance_lab.emulator.motion_limits import ProgramError
from ur_admittance_lab.emulator.motions import ServoJ, SpeedJ, SpeedL
from ur_admittance_lab.emulator.running_program import Program
from ur_admittance_lab.emulator.urscript.expressions import function_name
from ur_admittance_lab.emulator.urscript.script_values import OPERATORS, shown
from ur_admittance_lab.emulator.urscript.statements import SOURCE, Work, compile_script

TURNS = 2000  # of loops and calls of functions that a thread may make in one cycle
THREADS = 50


class Halted(Exception):
    """The statement ``halt``."""


@dataclass(eq=False)
class Thread:
    steps: Generator[None, None, Any]
    over: bool = False


class ScriptRun:
    """One program or, as ``secondary``, one that runs beside it within a single cycle."""

    def __init__(self, program: Program, secondary: bool = False, sender: str | None = None) -> None:
        self.program, self.secondary = program, secondary
        self.sender = sender  # IP address of the client that sent the program; None: from the disk
        self.at_end: Callable[[], None] = lambda: None
        self.name = ""
        self.mover: Thread | None = None  # who controls the arm
        self.turns = 0

    def load(self, text: str, functions: Mapping[str, Callable[..., Any]]) -> Work[None]:
        """functions: of the language, by name."""
        script = yield from compile_script(text, functions)
        self.name = script.name
        namespace: dict[str, Any] = {"__builtins__": {}, **OPERATORS}
        namespace |= {
            ".spend": self._spend,
            ".run": self._run,
            ".join": self._join,
            ".kill": self._kill,
            ".halt": _halt,
        }
        namespace |= {function_name(name): function for name, function in functions.items()}
        try:
            for code in script.codes:
                exec(code, namespace)
        except ArithmeticError as error:
            raise ProgramError(f"a default value: {error}") from None
        self.current = Thread(namespace[script.entry]())
        self._threads = [self.current]

    def begin(self) -> None:
        """Nothing to prepare."""

    def cycle(self) -> bool:
        """Every thread until it uses time; False when the program is over."""
        main = self._threads[0]
        for thread in self._threads:  # grows by those that are started meanwhile
            self.current, self.turns = thread, 0
            if not thread.over:
                self._advance(thread)
            if main.over:
                return False
        self._threads = [thread for thread in self._threads if not thread.over]
        return True

    def _advance(self, thread: Thread) -> None:
        try:
            next(thread.steps)
        except StopIteration:
            thread.over = True
        except Halted:
            self._threads[0].over = True
        except (ProgramError, ArithmeticError, LookupError, NameError, TypeError, ValueError, RecursionError) as error:
            raise ProgramError(_sentence(error), _line(error)) from None

    def pause(self) -> None:
        """What waits for the arm goes on when the program is resumed."""

    def close(self) -> None:
        for thread in self._threads:
            thread.steps.close()
        self.at_end()

    def streamed(self, values: dict[str, Any]) -> bool:
        """Does this data package carry a command that is due in every cycle?"""
        return self.streams and any(name in values for name in self.program.watchdogs)

    @property
    def streams(self) -> bool:
        return bool(self.program.watchdogs) and isinstance(self.program.arm.motion, SpeedJ | SpeedL | ServoJ)

    # what the compiled text calls

    def busy(self, turns: int) -> bool:
        """Spend the time of these turns; is half of what a cycle has gone?"""
        self.turns += turns
        return 2 * self.turns > TURNS

    def _spend(self, turns: int) -> None:
        self.turns += turns
        if self.turns > TURNS:
            raise ProgramError(f"infinite loop: {TURNS} turns without sync() or anything else that takes time")

    def _run(self, steps: Generator[None, None, Any]) -> Thread:
        if self.secondary:
            raise ProgramError("a secondary program cannot have threads")
        if len(self._threads) >= THREADS:
            raise ProgramError(f"more than {THREADS} threads")
        self._threads.append(Thread(steps))
        return self._threads[-1]

    def _join(self, thread: Any) -> Iterator[None]:
        while _is_thread(thread) and not thread.over:
            yield

    def _kill(self, thread: Any) -> None:
        if not _is_thread(thread):
            return
        if thread is self.current:
            raise ProgramError("a thread cannot kill itself")
        thread.steps.close()
        thread.over = True


def _is_thread(value: Any) -> TypeGuard[Thread]:
    """False: 0, which stands for a thread that was never started."""
    if isinstance(value, Thread):
        return True
    if type(value) is not int or value != 0:
        raise ProgramError(f"type error: {shown(value)} is not a thread")
    return False


def _halt() -> None:
    raise Halted


def _line(error: BaseException) -> int:
    """The innermost line of the script that led to the error."""
    if isinstance(error, ProgramError) and error.line:
        return error.line
    lines = [line for frame, line in walk_tb(error.__traceback__) if frame.f_code.co_filename == SOURCE]
    return lines[-1] if lines else 0


def _sentence(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return "functions call each other too deeply"
    return str(error)
