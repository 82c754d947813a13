"""The conversation with the person at the arm: each step explained, asked for, shown, confirmed, and written down.

explain -> go on?  -> work -> show -> confirmed?  -> the next step
           skip why?                  repeat, skip why?
"""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ur_admittance.calibration.calm_arm import CalmArm
from ur_admittance.errors import UrAdmittanceError
from ur_admittance.model import RobotModel, robot_model
from ur_admittance.params import Parameters
from ur_admittance.robots.connect import CALM_WATCHDOG_HZ, connected_arm, open_rtde
from ur_admittance.robots.rtde.bringup.bringup_report import DONE, MEASURED, SKIPPED, Report
from ur_admittance.runtime.interfaces import Robot

YES, REPEAT, SKIP, QUIT = "yrsq"


@dataclass(frozen=True)
class Bench:
    """The arm at hand, the person in front of it, and what is known so far."""

    report: Report
    say: Callable[[str], None]
    ask: Callable[[str], str]
    steps: "Sequence[Step]"
    poses: int = 12  # of the calibration
    seconds: float = 20.0  # of the first motion

    @property
    def host(self) -> str:
        return self.report.about["robot"]

    @property
    def model(self) -> RobotModel:
        return robot_model(self.report.about["model"])

    @property
    def sensor(self) -> str:
        return self.report.about["sensor"]

    @property
    def client(self) -> str:
        return self.report.about["client"]

    @property
    def parameters(self) -> Parameters:
        return self.report.parameters

    @contextmanager
    def arm(self, commanding: bool = True) -> Iterator[tuple[CalmArm, Robot]]:
        """Connected for one step only: nobody holds an arm while a person reads."""
        device = open_rtde(self.host, self.model, self.sensor, watchdog_hz=CALM_WATCHDOG_HZ, client=self.client)
        with connected_arm(device, commanding) as (arm, _):
            yield arm, device


@dataclass(frozen=True)
class Found:
    """What a step has found."""

    good: bool
    lines: tuple[str, ...]
    changes: Mapping[str, Any] = field(default_factory=dict)  # of parameters
    cause: str = ""  # the earlier step to do again, where that is known


@dataclass(frozen=True)
class Step:
    name: str
    title: str
    words: str  # what it does, and why
    work: Callable[[Bench], Found]
    question: str  # that a person answers with yes when the step is done
    moves: str = ""  # what the arm will do; empty: nothing moves


class Quit(Exception):
    """The person wants to go on another time."""


def talk(bench: Bench) -> bool:
    """Go through the steps that are neither done nor skipped. True: none is left; False: the person wants to go on
    another time."""
    steps = bench.steps
    try:
        for number, step in enumerate(steps, start=1):
            entry = bench.report.entries.get(step.name)
            if entry is not None and entry.state in (DONE, SKIPPED):
                bench.say(f"{number} of {len(steps)}  {step.title}: {entry.state}, {entry.when}")
                continue
            bench.say(f"\n{number} of {len(steps)}  {step.title}\n\n{step.words}")
            if entry is None:
                _do(bench, step)
            else:  # measured, but the program ended before it was confirmed
                _confirm(bench, step, Found(True, entry.lines, entry.changes))
    except Quit:
        return False
    return True


def _do(bench: Bench, step: Step) -> None:
    """Until it is done or skipped."""
    if step.moves:
        bench.say(step.moves)
        question = "Is the space clear, and your hand on the emergency stop? (y: yes, s: skip, q: quit)"
    else:
        question = "Enter: go on, s: skip, q: quit"
    if _choice(bench, question, YES + SKIP + QUIT, empty=not step.moves) == SKIP:
        _skip(bench, step, ())
        return
    bench.say("")
    try:
        found = step.work(bench)
    except UrAdmittanceError as error:
        found = Found(False, (str(error),))
    _confirm(bench, step, found)


def _confirm(bench: Bench, step: Step, found: Found) -> None:
    for line in found.lines:
        bench.say(f"  {line}")
    if found.cause:
        again = shlex.join(["--robot", bench.host, "--out", str(bench.report.path), "--from", found.cause])
        title = next(earlier.title for earlier in bench.steps if earlier.name == found.cause)
        bench.say(f"  That belongs to an earlier step ({title}): q, then\n    ur-admittance bringup {again}")
    if found.good:
        bench.report.note(step.name, MEASURED, found.lines, found.changes)
        question, choices = f"{step.question} (y: yes, r: repeat, s: skip, q: quit)", YES + REPEAT + SKIP + QUIT
    else:
        question, choices = "That is not good yet. (r: repeat, s: skip, q: quit)", REPEAT + SKIP + QUIT
    choice = _choice(bench, question, choices)
    if choice == YES:
        bench.report.confirm(step.name, bench.report.about["by"])
    elif choice == SKIP:
        _skip(bench, step, found.lines)
    else:
        bench.report.forget([step.name])
        _do(bench, step)


def _skip(bench: Bench, step: Step, lines: tuple[str, ...]) -> None:
    reason = ""
    while not reason:
        reason = bench.ask("Why is it skipped? (goes into the report)").strip()
    bench.report.note(step.name, SKIPPED, (f"reason: {reason}", *lines), {}, bench.report.about["by"])


def _choice(bench: Bench, question: str, choices: str, empty: bool = False) -> str:
    """One of the letters; the empty answer only where it is harmless."""
    while True:
        answer = bench.ask(question).strip().lower()[:1]
        if answer == QUIT:
            raise Quit
        if (answer and answer in choices) or (empty and not answer):
            return answer
