"""One cycle of the control box, and what it reports: the values of its outputs, messages on the primary port."""

from collections.abc import Callable
from typing import Any

from ur_admittance_lab.emulator import primary
from ur_admittance_lab.emulator.control_box import ControlBox
from ur_admittance_lab.emulator.output_values import OutputValues
from ur_admittance_lab.emulator.safety import StopKind


class Controller(ControlBox):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        """As a ControlBox."""
        super().__init__(*arguments, **options)
        self.values = OutputValues(self)
        self.readers: list[Callable[[bytes], None]] = []  # of the messages on the primary port
        self._reported = StopKind.NONE
        self.program.on_event = self._report_program

    def report(self, message: bytes) -> None:
        """A message of ``primary`` to all who read the primary port."""
        for reader in self.readers:
            reader(message)

    def cycle(self) -> None:
        """One control cycle."""
        self._arrived = 0
        self.tick += 1
        self.safety.update(self.time, self.period)
        if self._unlock_wanted:
            self.safety.unlock_protective_stop()
            self._unlock_wanted = self.safety.stop is StopKind.PROTECTIVE
        self._let_go_in_time()
        self.program.cycle()
        self.arm.step(self.safety.fraction)
        self.safety.watch()
        self._report_stop()

    def _report_stop(self) -> None:
        stop = self.safety.stop
        if stop is not self._reported:
            self._reported = stop
            self.report(primary.state(self, self.values, first=False))  # at once, as the message that follows
            self.report(primary.safety_mode(self))
            if stop is StopKind.PROTECTIVE:  # a robot has no code for a button that is pressed
                code, argument, reason = self.safety.code, self.safety.argument, self.safety.reason
                self.report(primary.error(self, code, primary.WARNING, reason, argument))

    def _report_program(self, event: str, text: str, line: int, column: int) -> None:
        if event in ("started", "stopped"):
            self.report(primary.key(self, f"PROGRAM_XXX_{event.upper()}", text))
        elif event in ("compile error", "runtime error"):
            self.report(primary.runtime_exception(self, line, column, text))
        elif event in ("textmsg", "popup"):
            self.report(primary.text(self, text))
