"""The life of a program on the controller: uploaded, started, paused, ended; its watchdogs.

What kinds of program there are says ``program_kinds.py``. A secondary one (``sec``) runs beside the program, within one
control cycle.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterator
from typing import Any, NamedTuple, Protocol

from ur_admittance_lab.emulator.emulated_arm import Arm, Hold
from ur_admittance_lab.emulator.motion_limits import ProgramError
from ur_admittance_lab.emulator.motions import Stop
from ur_admittance_lab.emulator.safety import PROGRAM_STOP_DECELERATION, Safety, StopKind
from ur_admittance_lab.emulator.variables import Inputs, Outputs

STOPPED, PLAYING, PAUSED = 1, 2, 4  # runtime_state
START_CYCLES = 10  # between the upload of a program and its first cycle
UPLOADS = 100  # of one client that may wait for their turn
WORDS_PER_S = 50_000  # of a program that are compiled, some 5 us for each: a quarter of the time


class Watchdog:
    """Expires when no command has come for ``limit`` [s]; half a period is granted for rounding."""

    def __init__(self, period: float, limit: float) -> None:
        self.period, self.limit = period, limit
        self.silence = 0.0  # [s] since the last command

    def kick(self) -> None:
        """A command has come."""
        self.silence = 0.0

    def tick(self) -> bool:
        """A period has passed; True when the limit is exceeded."""
        self.silence += self.period
        return self.expired

    @property
    def expired(self) -> bool:
        return self.silence >= self.limit + 0.5 * self.period


class Body(Protocol):
    """What runs: one of the two kinds of program."""

    name: str

    def begin(self) -> None: ...
    def cycle(self) -> bool: ...
    def pause(self) -> None: ...
    def close(self) -> None: ...
    def streamed(self, values: dict[str, Any]) -> bool: ...
    @property
    def streams(self) -> bool: ...


class InputsOutputs(Protocol):
    """Digital ones: one bit per wire, 8 standard, 8 configurable, 2 of the tool."""

    digital_inputs: int
    digital_outputs: int
    tool_voltage: int  # [V] of the tool's supply


class Upload(NamedTuple):
    text: str
    sender: str | None  # IP address; None: from the disk

    @property
    def secondary(self) -> bool:
        return self.text.split(maxsplit=1)[:1] == ["sec"]


# Makes of an upload what runs, or raises ProgramError; yields how many words it has read, now and then.
Compile = Callable[["Program", Upload], Generator[int, None, Body]]


class Program:
    def __init__(
        self,
        arm: Arm,
        safety: Safety,
        inputs: Inputs,
        outputs: Outputs,
        io: InputsOutputs,
        period: float,
        compiled: Compile,
    ) -> None:
        self.arm, self.safety, self.io = arm, safety, io
        self.inputs, self.outputs = inputs, outputs
        self.period, self._compiled = period, compiled
        self.runtime_state = STOPPED
        self.body: Body | None = None
        self.watchdogs: dict[str, tuple[Watchdog, str]] = {}  # by input variable; what to do when it expires
        self.keeps_first_watchdog = False  # the first rate that a program sets for a variable holds until it ends
        self.log: Callable[[str, str], None] = lambda kind, text: None
        # started, stopped, paused, compile error, runtime error, textmsg, popup; text, line, column
        self.on_event: Callable[[str, str, int, int], None] = lambda event, text, line, column: None
        self._starting = 0
        self._waiting: dict[object, deque[Upload]] = {}  # by client; the first one is next
        self._loading: Iterator[int] | None = None  # the one that is compiled now
        self.cut = False  # the network is dead

    @property
    def streams(self) -> bool:
        """A client has to send a command for every cycle."""
        return self.runtime_state == PLAYING and self.body is not None and self.body.streams

    @property
    def starting(self) -> bool:
        """Uploaded, but not yet in its first cycle."""
        return bool(self._starting or self._waiting)

    def tell(self, event: str, text: str, line: int = 0, column: int = 0) -> None:
        """To the log and to who listens to events."""
        place = f" (line {line})" if line else ""
        self.log(event, text + place)
        self.on_event(event, text, line, column)

    # life

    def upload(self, text: str, client: object = None, sender: str | None = None) -> None:
        """A complete program arrived: it starts in one of the next cycles. Clients take turns: one that sends many
        delays its own."""
        upload = Upload(text, sender)
        if not self.safety.remote_control:
            self.log("script", "program refused: the robot is in local control")
        elif not upload.secondary and not self.safety.can_move:
            self.log("script", "program refused: the arm is stopped or without power")
        elif len(waiting := self._waiting.setdefault(client, deque())) >= UPLOADS:
            self.log("script", f"program refused: {UPLOADS} programs of this client wait already")
        else:
            waiting.append(upload)

    def _next(self) -> Upload:
        client = next(iter(self._waiting))
        waiting = self._waiting.pop(client)
        upload = waiting.popleft()
        if waiting:
            self._waiting[client] = waiting  # behind the others
        return upload

    def _load(self, upload: Upload) -> Iterator[int]:
        """The program replaces the one that runs, unless it does not compile. A secondary one runs at once."""
        try:
            body = yield from self._compiled(self, upload)
        except ProgramError as error:
            self.tell("compile error", str(error), error.line, error.column)
            return
        if upload.secondary:
            self._run_secondary(body)
            return
        self._stop("replaced by an upload", quiet=True)
        self.body, self._starting = body, START_CYCLES
        self.log("script", f"program {body.name}, {len(upload.text)} bytes")

    def _run_secondary(self, run: Body) -> None:
        try:
            run.cycle()
        except ProgramError as error:
            self.tell("runtime error", f"{run.name}: {error}", error.line, error.column)

    def end(self, reason: str, quiet: bool = False) -> None:
        """The program stops and the arm brakes; what waits is forgotten."""
        self._waiting.clear()
        self._loading = None
        self._stop(reason, quiet)

    def _stop(self, reason: str, quiet: bool = False) -> None:
        was_running, body = self.runtime_state != STOPPED, self.body
        self.runtime_state, self._starting, self.body = STOPPED, 0, None
        self.watchdogs.clear()
        if body is not None:
            body.close()
        if was_running and body is not None:
            if not self.arm.standing:
                self.safety.begin_incident(reason)
            if not isinstance(self.arm.motion, Stop | Hold):
                self.arm.start(Stop(PROGRAM_STOP_DECELERATION))
            if not quiet:
                self.log("program", f"stopped: {reason}")
            self.on_event("stopped", body.name, 0, 0)

    def play(self) -> bool:
        if self.runtime_state == PAUSED and self.safety.can_move:
            self.runtime_state = PLAYING
            for watchdog, _ in self.watchdogs.values():
                watchdog.kick()
            return True
        return False

    def pause(self) -> None:
        if self.runtime_state == PLAYING and self.body is not None:
            self.runtime_state = PAUSED
            self.body.pause()
            if self.safety.can_move:
                self.arm.start(Stop(PROGRAM_STOP_DECELERATION))
            self.on_event("paused", self.body.name, 0, 0)

    def on_safety_stop(self, kind: StopKind) -> None:
        """A protective or safeguard stop pauses the program, an emergency stop ends it."""
        if kind is StopKind.EMERGENCY:
            self.end("emergency stop", quiet=True)
        else:
            self.pause()

    # watchdogs

    def watch(self, variable: str, frequency: float, action: str) -> None:
        """Ignore, pause or stop when no data package with this variable comes for 1/frequency [s]."""
        if self.keeps_first_watchdog and variable in self.watchdogs:
            self.log("program", f"the watchdog of {variable} stays as it is ({frequency:g} Hz asked for)")
            return
        self.watchdogs[variable] = (Watchdog(self.period, 1.0 / frequency), action)

    @property
    def watchdog_hz(self) -> float:
        """The strictest; 0: none."""
        return max((1.0 / watchdog.limit for watchdog, _ in self.watchdogs.values()), default=0.0)

    def received(self, values: dict[str, Any]) -> bool:
        """A data package; True when it carries a command that is due in every cycle."""
        for variable, (watchdog, _) in self.watchdogs.items():
            if variable in values:
                watchdog.kick()
        return self.body is not None and self.body.streamed(values)

    def _watch(self) -> None:
        for variable, (watchdog, action) in list(self.watchdogs.items()):
            if not watchdog.tick() or action == "ignore":
                continue
            reason = f"watchdog: no {variable} for {1e3 * watchdog.silence:.0f} ms"
            if action == "stop":
                self._stop(reason)
            else:
                self.log("program", f"paused: {reason}")
                self.pause()
            return

    # one cycle

    def cycle(self) -> None:
        if self._starting:
            self._starting -= 1
            if self._starting == 0:
                self._begin()
            return
        if self.runtime_state == PLAYING:
            self._watch()
        if self.runtime_state == PLAYING and self.body is not None:
            self._advance(self.body)
        self._compile()

    def _compile(self) -> None:
        """Some words of the program that comes next."""
        if self._loading is None and self._waiting:
            self._loading = self._load(self._next())
        words = 0
        for work in self._loading or ():
            words += work
            if words >= WORDS_PER_S * self.period:
                return
        self._loading = None

    def _begin(self) -> None:
        if self.body is None or not self.safety.can_move:
            self.body = None
            self.log("script", "program not started: the arm is stopped or without power")
            return
        self.runtime_state = PLAYING
        self.body.begin()
        self.on_event("started", self.body.name, 0, 0)

    def _advance(self, body: Body) -> None:
        try:
            if not body.cycle() and self.body is body:
                self._stop("end of the program", quiet=True)
        except ProgramError as error:
            place = f" (line {error.line})" if error.line else ""
            self.on_event("runtime error", str(error), error.line, error.column)
            self._stop(f"runtime error: {error}{place}")
