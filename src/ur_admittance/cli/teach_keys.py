"""Keys in the terminal while an arm is guided. A process of its own, which sees the arm through the telemetry: so any
controller can be taught by, in every form.

    python -m ur_admittance.cli.teach_keys NAME FILE TOLERANCE_MM TOLERANCE_DEG BUTTON [PROCESS]

PROCESS: of the controller, if q is to end it.
"""

import math
import os
import select
import signal
import sys
import termios
import time
import tty
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from ur_admittance.errors import UrAdmittanceError
from ur_admittance.runtime.telemetry import TelemetryReader
from ur_admittance.teaching.taught import Taught
from ur_admittance.teaching.teacher import Teacher

POLL_S = 0.02  # between two looks at keys and telemetry, which holds 4 s
KEYS = "p: mark a pose   space: begin or end a path   u: undo   o, c: gripper opens, closes   w: wait 1 s   q: done"


class Keys:
    """One key after the other from the terminal, or from a pipe."""

    def __enter__(self) -> "Keys":
        self._before: Any = None
        self._ended = False  # a pipe
        if sys.stdin.isatty():
            self._before = termios.tcgetattr(sys.stdin)
            tty.setcbreak(sys.stdin)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._before)

    def next(self, seconds: float) -> str:
        """Empty: none came in that time [s]."""
        if self._ended:
            time.sleep(seconds)
        elif select.select([sys.stdin], [], [], seconds)[0]:
            key = os.read(sys.stdin.fileno(), 1)
            self._ended = not key
            return key.decode(errors="replace")
        return ""


def watch(name: str, file: Path, distance: float, angle: float, button: str, starter: int) -> None:
    """Until the controller ends, SIGTERM or q comes."""
    stop: list[int] = []
    for number in (signal.SIGTERM, *(() if starter else (signal.SIGINT,))):
        signal.signal(number, lambda number, frame: stop.append(number))
    if starter:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the controller's business
    with TelemetryReader(name) as reader, Keys() as keys:
        about = reader.about()
        tcp = tuple(about["parameters"]["tool"]["tcp"])
        teacher = Teacher(Taught(about["model"], tcp, (0.0,) * 6), distance, angle, button)
        does: dict[str, Callable[[], str]] = {
            "p": teacher.mark,
            " ": lambda: teacher.end_path() if teacher.recording else teacher.begin_path(),
            "u": teacher.undo,
            "o": lambda: teacher.gripper("open"),
            "c": lambda: teacher.gripper("close"),
            "w": lambda: teacher.wait(1.0),
        }
        typer.echo(f"\n{KEYS}")
        known, key = teacher.taught, ""
        while not stop and not reader.ended:
            key = keys.next(POLL_S)
            for record in reader.drain():
                teacher.see(record["sample"], record["command"])
            if key == "q":
                break
            words = _said(does[key]) if key in does else ""
            if teacher.taught is not known:
                known = teacher.taught
                known.save(file)
                words = words or f"by the button: {known.steps[-1].kind} {len(known.steps)}"
            if words:
                typer.echo(words)
        if teacher.recording:
            typer.echo(_said(teacher.end_path))
            teacher.taught.save(file)
        typer.echo(f"{file}: {len(teacher.taught.steps)} steps, {teacher.taught.points} points")
    if starter and key == "q":
        os.kill(starter, signal.SIGINT)


def _said(action: Callable[[], str]) -> str:
    try:
        return action()
    except UrAdmittanceError as error:
        return str(error)


if __name__ == "__main__":
    try:
        watch(
            sys.argv[1],
            Path(sys.argv[2]),
            1e-3 * float(sys.argv[3]),
            math.radians(float(sys.argv[4])),
            sys.argv[5],
            int(sys.argv[6]) if len(sys.argv) > 6 else 0,
        )
    except UrAdmittanceError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
